package io.penstock.csi;

import java.nio.file.InvalidPathException;
import java.nio.file.Path;

/** Paths that kubelet names. */
final class Targets {
    /** Of the kernel: PATH_MAX. */
    private static final int LONGEST = 4095;

    private Targets() {}

    /** @param field its name, for messages */
    static Path path(String text, String field) throws CallRefusal {
        if (text.isEmpty()) {
            throw CallRefusal.invalid(field + " is missing");
        }
        try {
            Path path = Path.of(text);
            if (path.isAbsolute()
                    && path.equals(path.normalize())
                    && path.getNameCount() > 1
                    && text.length() <= LONGEST) {
                return path;
            }
        } catch (InvalidPathException e) {
            throw CallRefusal.invalid(field + " is no path: " + e.getReason());
        }
        throw CallRefusal.invalid(field + " is '" + text + "', but must be an absolute path without . and ..");
    }
}

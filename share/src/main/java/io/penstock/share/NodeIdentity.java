package io.penstock.share;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.UUID;
import java.util.regex.Pattern;

/** The identifier of this node, stored in a file: after a restart the node owns what it owned before. */
final class NodeIdentity {
    private static final Pattern ID = Pattern.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}");

    private NodeIdentity() {}

    /** The file's identifier, or a new one if the file has none. */
    static String of(Path file) throws ShareException {
        try {
            String kept = read(file);
            if (ID.matcher(kept).matches()) {
                return kept;
            }
            String made = UUID.randomUUID().toString();
            Path written = file.resolveSibling(file.getFileName() + ".new");
            Files.writeString(written, made + "\n");
            Files.move(written, file, StandardCopyOption.ATOMIC_MOVE);
            return made;
        } catch (IOException e) {
            throw new ShareException("cannot store this node's identifier in " + file + ": " + e, e);
        }
    }

    private static String read(Path file) throws IOException {
        try {
            return Files.readString(file).strip();
        } catch (NoSuchFileException e) {
            return "";
        }
    }
}

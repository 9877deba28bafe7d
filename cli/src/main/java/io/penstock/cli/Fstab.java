package io.penstock.cli;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import io.penstock.fuse.MountTable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** Finds the line of /etc/fstab with a wrong option, for messages: fstab(5). */
final class Fstab {
    private static final Path FILE = Path.of("/etc/fstab");

    private Fstab() {}

    /** The line that mounts this source there, as {@code /etc/fstab:12}, if there is one. */
    static Optional<String> find(String source, Path mountPoint) {
        try {
            return lineOf(source, mountPoint, Files.readAllLines(FILE, ISO_8859_1))
                    .map(line -> FILE + ":" + line);
        } catch (IOException | NumberFormatException e) {
            return Optional.empty(); // mount(8) was called with -o and without fstab, or fstab is malformed.
        }
    }

    /**
     * Lines count from 1.
     *
     * @param lines their bytes, each as a character (ISO 8859-1)
     */
    static Optional<Integer> lineOf(String source, Path mountPoint, List<String> lines) {
        for (int i = 0; i < lines.size(); i++) {
            String[] fields = lines.get(i).strip().split("\\s+", -1);
            boolean ours = fields.length > 2 && !fields[0].startsWith("#") && fields[2].contains("penstock");
            if (ours
                    && MountTable.unescape(fields[0]).equals(source)
                    && Path.of(MountTable.unescape(fields[1])).normalize().equals(mountPoint)) {
                return Optional.of(i + 1);
            }
        }
        return Optional.empty();
    }
}

package io.penstock.cli;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import io.penstock.fuse.MountTable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** /etc/fstab, to name the line in which a wrong option stands: fstab(5). */
final class Fstab {
    private static final Path FILE = Path.of("/etc/fstab");

    private Fstab() {}

    /** The place of the line that mounts this there, {@code /etc/fstab:12}, if there is one. */
    static Optional<String> find(String source, Path mountPoint) {
        try {
            return lineOf(source, mountPoint, Files.readAllLines(FILE, ISO_8859_1))
                    .map(line -> FILE + ":" + line);
        } catch (IOException | NumberFormatException e) {
            return Optional.empty(); // Then mount(8) was called with -o and without it, or the file is not well formed.
        }
    }

    /**
     * Counted from 1.
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

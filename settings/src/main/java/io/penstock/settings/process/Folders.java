package io.penstock.settings.process;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Stream;

/** File operations that the JDK lacks. */
public final class Folders {
    private static final Set<String> NETWORK =
            Set.of("nfs", "nfs4", "cifs", "smb3", "9p", "ceph", "lustre", "beegfs", "gpfs", "glusterfs", "afs");

    private Folders() {}

    /** The folder for temporary files: $TMPDIR, else /tmp. */
    public static Path temporary() {
        return Path.of(System.getProperty("java.io.tmpdir", "/tmp"));
    }

    /** Deletes the folder with all its contents. */
    public static void delete(Path folder) throws IOException {
        try (Stream<Path> below = Files.walk(folder)) {
            for (Path path : below.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(path);
            }
        }
    }

    /**
     * The folder itself, or its nearest existing ancestor.
     *
     * @throws IOException if that is not a folder
     */
    public static Path existing(Path folder) throws IOException {
        for (Path path = folder; path != null; path = path.getParent()) {
            if (Files.isDirectory(path)) {
                return path;
            } else if (Files.exists(path)) {
                throw new IOException(path + " is not a folder");
            }
        }
        throw new NoSuchFileException(folder.toString());
    }

    /** The device number of the file system that contains the folder, or will once it exists. */
    public static long device(Path folder) throws IOException {
        return (long) Files.getAttribute(existing(folder), "unix:dev");
    }

    /**
     * Whether a file system of this type is on other machines.
     *
     * @param type such as {@code nfs4}
     */
    public static boolean isOfNetwork(String type) {
        return NETWORK.contains(type.toLowerCase(Locale.ROOT));
    }
}

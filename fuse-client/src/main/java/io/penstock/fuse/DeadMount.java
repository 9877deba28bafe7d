package io.penstock.fuse;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/** The mount of a killed process: it fails every call with "Transport endpoint is not connected". */
public final class DeadMount {
    private DeadMount() {}

    /**
     * Removes the dead mount at this point if there is one and it is Penstock's.
     *
     * @return a line for the user about the mount that was removed
     */
    public static Optional<String> remove(Path given) throws MountException {
        Path mountPoint = resolve(given.toAbsolutePath().normalize());
        Optional<MountTable.Entry> found;
        try {
            found = MountTable.read().at(mountPoint);
        } catch (IOException e) {
            return Optional.empty(); // Preflight reports it.
        }
        if (found.isEmpty() || !found.get().isPenstock() || !Preflight.isDead(mountPoint)) {
            return Optional.empty();
        }
        Unmount.detach(mountPoint);
        return Optional.of(mountPoint + " had the dead mount of an ended Penstock process ("
                + found.get().source() + "); it was removed.");
    }

    /** Without symbolic links, as in the mount table. The mount point itself may fail every call. */
    private static Path resolve(Path path) {
        Path parent = path.getParent();
        Path name = path.getFileName();
        if (parent == null || name == null) {
            return path;
        }
        try {
            return Files.isSymbolicLink(path)
                    ? path.toRealPath()
                    : parent.toRealPath().resolve(name);
        } catch (IOException e) {
            return path; // Preflight reports it.
        }
    }
}

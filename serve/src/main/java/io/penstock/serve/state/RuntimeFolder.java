package io.penstock.serve.state;

import io.penstock.settings.Host;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Collections;
import java.util.Set;

/**
 * The folder of the states of a user's running mounts. Another user may create a folder with this name first, with
 * links or false files in it. So a folder that others could have filled is neither read nor written.
 */
final class RuntimeFolder {
    /** Root's folder, in which every user finds root's mounts. */
    static final Path OF_ROOT = Path.of("/run/penstock");

    private static final Set<PosixFilePermission> WRITABLE_BY_OTHERS =
            Set.of(PosixFilePermission.GROUP_WRITE, PosixFilePermission.OTHERS_WRITE);

    private RuntimeFolder() {}

    /**
     * This user's folder, created if it is missing: 0700, or 0755 for root, whose mounts all users may see.
     *
     * @throws IOException if it cannot be created, belongs to another user, or is writable by others
     */
    static Path open(Host host) throws IOException {
        Path folder = host.runtimeFolder();
        Set<PosixFilePermission> mode = PosixFilePermissions.fromString(host.isRoot() ? "rwxr-xr-x" : "rwx------");
        if (folder.getParent() != null) {
            Files.createDirectories(folder.getParent());
        }
        try {
            Files.createDirectory(folder, PosixFilePermissions.asFileAttribute(mode));
            Files.setPosixFilePermissions(folder, mode); // regardless of the umask
        } catch (FileAlreadyExistsException e) {
            if (!isTrusted(folder, host)) {
                throw new IOException(
                        folder + " must be a folder owned by user " + host.uid() + " and writable only by that user;"
                                + " remove it, or set XDG_RUNTIME_DIR to another folder",
                        e);
            }
        }
        return folder;
    }

    /**
     * Whether it is a folder, not a link, that belongs to this user, to root, or to the one who serves root's mounts, and
     * that nobody else may write to.
     */
    static boolean isTrusted(Path folder, Host host) {
        try {
            int owner = (int) Files.getAttribute(folder, "unix:uid", LinkOption.NOFOLLOW_LINKS);
            PosixFileAttributes found =
                    Files.readAttributes(folder, PosixFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
            return found.isDirectory()
                    && (owner == host.uid() || owner == 0 || (host.isRoot() && owner == host.server()))
                    && Collections.disjoint(found.permissions(), WRITABLE_BY_OTHERS);
        } catch (IOException e) {
            return false;
        }
    }
}

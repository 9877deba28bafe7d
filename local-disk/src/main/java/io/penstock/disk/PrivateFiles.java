package io.penstock.disk;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Files and folders that only their owner can read: they contain what the owner's credentials can access. */
public final class PrivateFiles {
    /** The mode of a new file. */
    public static final FileAttribute<Set<PosixFilePermission>> FILE =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));

    private static final FileAttribute<Set<PosixFilePermission>> FOLDER =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));

    private static final Set<PosixFilePermission> WRITABLE_BY_OTHERS =
            Set.of(PosixFilePermission.GROUP_WRITE, PosixFilePermission.OTHERS_WRITE);

    private static final int STICKY = 01000;
    private static final int ROOT = 0;

    private PrivateFiles() {}

    /**
     * How other users could replace this process's files in the folder, for example by links to any file, and the
     * remedy; null if they cannot. The text follows the folder's name: "chmod go-w /x".
     */
    public static @Nullable String exposure(Path folder) throws IOException {
        int owner = userOf(folder);
        if (user() == ROOT && owner != ROOT) {
            return "belongs to user " + owner + ", who could replace files that root uses there: chown it to root";
        } else if (!Collections.disjoint(Files.getPosixFilePermissions(folder), WRITABLE_BY_OTHERS)) {
            return "can be written to by other users, who could replace Penstock's files there: "
                    + (isClosable(folder) ? "chmod go-w " + folder : "choose a folder in it");
        }
        return null;
    }

    /** Whether the folder belongs to this user and has no sticky bit: a folder with one is shared on purpose. */
    private static boolean isClosable(Path folder) throws IOException {
        return userOf(folder) == user() && ((int) Files.getAttribute(folder, "unix:mode") & STICKY) == 0;
    }

    /**
     * Removes other users' write permission, unless the folder is shared on purpose: container volumes come with it.
     *
     * @return how other users could still mislead this process there, or could have earlier: see {@link #exposure}
     */
    static @Nullable String close(Path folder) throws IOException {
        if (isClosable(folder)) {
            Set<PosixFilePermission> permissions = Files.getPosixFilePermissions(folder);
            if (permissions.removeAll(WRITABLE_BY_OTHERS)) {
                Files.setPosixFilePermissions(folder, permissions);
            }
        }
        String exposure = exposure(folder);
        return exposure == null ? planted(folder) : exposure;
    }

    /**
     * What another user has put there. Null if everything belongs to this user, the folder's owner or root, such as
     * lost+found. One level is enough, because Penstock's own subfolders are private from the start.
     */
    private static @Nullable String planted(Path folder) throws IOException {
        List<Integer> trusted = List.of(ROOT, userOf(folder), user());
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(folder)) {
            for (Path entry : entries) {
                if (!isOf(trusted, entry)) {
                    return "holds '" + entry.getFileName()
                            + "' of another user, who could replace Penstock's files there: remove other users' files";
                }
            }
            return null;
        } catch (DirectoryIteratorException e) {
            throw e.getCause();
        }
    }

    private static boolean isOf(List<Integer> users, Path entry) throws IOException {
        try {
            return users.contains(userOf(entry, LinkOption.NOFOLLOW_LINKS));
        } catch (NoSuchFileException e) { // another process that uses the folder has removed it
            return true;
        }
    }

    private static int userOf(Path path, LinkOption... options) throws IOException {
        return (int) Files.getAttribute(path, "unix:uid", options);
    }

    /** The user of this process. */
    private static int user() throws IOException {
        return userOf(Path.of("/proc/self"));
    }

    /** @throws java.nio.file.FileAlreadyExistsException if there is a file of this name */
    public static void create(Path file) throws IOException {
        Files.createFile(file, FILE);
    }

    /** Creates the folder and its missing parents. */
    public static void createFolders(Path folder) throws IOException {
        Files.createDirectories(folder, FOLDER);
    }
}

package io.penstock.disk;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Collections;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Files and folders that only their owner can read: they hold what the owner's credentials may read. */
public final class PrivateFiles {
    /** For a new file. */
    public static final FileAttribute<Set<PosixFilePermission>> FILE =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));

    private static final FileAttribute<Set<PosixFilePermission>> FOLDER =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));

    private static final Set<PosixFilePermission> WRITABLE_BY_OTHERS =
            Set.of(PosixFilePermission.GROUP_WRITE, PosixFilePermission.OTHERS_WRITE);

    private static final int STICKY = 01000;

    private PrivateFiles() {}

    /**
     * How other users could replace files of this process in the folder, such as by links to any file, and what to do; null
     * if they could not. It follows the folder's name: "chmod go-w /x".
     */
    public static @Nullable String exposure(Path folder) throws IOException {
        int owner = userOf(folder);
        if (userOf(Path.of("/proc/self")) == 0 && owner != 0) {
            return "belongs to user " + owner + ", who could mislead root there: chown it to root";
        } else if (!Collections.disjoint(Files.getPosixFilePermissions(folder), WRITABLE_BY_OTHERS)) {
            return "can be written to by other users, who could mislead Penstock there: chmod go-w " + folder;
        }
        return null;
    }

    /**
     * Takes the right to write to the folder from other users: volumes of containers come with it. One with the sticky bit is
     * shared on purpose, and stays.
     *
     * @return how other users could still replace files in it: see {@link #exposure}
     */
    static @Nullable String close(Path folder) throws IOException {
        boolean isOwn = userOf(folder) == userOf(Path.of("/proc/self"));
        boolean isShared = ((int) Files.getAttribute(folder, "unix:mode") & STICKY) != 0;
        if (isOwn && !isShared) {
            Set<PosixFilePermission> permissions = Files.getPosixFilePermissions(folder);
            if (permissions.removeAll(WRITABLE_BY_OTHERS)) {
                Files.setPosixFilePermissions(folder, permissions);
            }
        }
        return exposure(folder);
    }

    private static int userOf(Path path) throws IOException {
        return (int) Files.getAttribute(path, "unix:uid");
    }

    /** @throws java.nio.file.FileAlreadyExistsException if there is a file of this name */
    public static void create(Path file) throws IOException {
        Files.createFile(file, FILE);
    }

    /** Makes the folder and those above it, as far as they do not exist. */
    public static void createFolders(Path folder) throws IOException {
        Files.createDirectories(folder, FOLDER);
    }
}

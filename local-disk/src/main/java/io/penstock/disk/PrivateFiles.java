package io.penstock.disk;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;

/** Files and folders that only their owner can read: they hold what the owner's credentials may read. */
public final class PrivateFiles {
    /** For a new file. */
    public static final FileAttribute<Set<PosixFilePermission>> FILE =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));

    private static final FileAttribute<Set<PosixFilePermission>> FOLDER =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));

    private PrivateFiles() {}

    /** @throws java.nio.file.FileAlreadyExistsException if there is a file of this name */
    public static void create(Path file) throws IOException {
        Files.createFile(file, FILE);
    }

    /** Makes the folder and those above it, as far as they do not exist. */
    public static void createFolders(Path folder) throws IOException {
        Files.createDirectories(folder, FOLDER);
    }
}

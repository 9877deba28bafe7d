package io.penstock.cache;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;

/** A folder of the cache, held by this process alone from {@link #open} to {@link #close}. */
public final class CacheFolder implements AutoCloseable {
    /** What is cached is what the user's credentials may read: nobody else's business. */
    public static final Set<PosixFilePermission> PRIVATE_FOLDER = PosixFilePermissions.fromString("rwx------");

    public static final Set<PosixFilePermission> PRIVATE_FILE = PosixFilePermissions.fromString("rw-------");

    private static final String ADVICE = "; choose another cache folder (setting cache.dir, option --cache)";

    private final Path path;
    private final FolderLock lock;

    private CacheFolder(Path path, FolderLock lock) {
        this.path = path;
        this.lock = lock;
    }

    /** @throws IOException with a message fit for the user if it cannot be used, or another process uses it */
    public static CacheFolder open(Path path) throws IOException {
        try {
            Files.createDirectories(path, PosixFilePermissions.asFileAttribute(PRIVATE_FOLDER));
            Files.setPosixFilePermissions(path, PRIVATE_FOLDER);
            return new CacheFolder(path, FolderLock.take(path, "cache folder", ADVICE));
        } catch (AccessDeniedException e) {
            throw new IOException("no permission to write in the cache folder " + path + ADVICE, e);
        } catch (FileSystemException e) {
            throw new IOException("cannot use the cache folder " + path + ": " + reason(e) + ADVICE, e);
        }
    }

    private static String reason(FileSystemException e) {
        return switch (e) {
            case NoSuchFileException missing -> missing.getFile() + " cannot be made";
            case FileAlreadyExistsException other -> other.getFile() + " is not a folder";
            default -> e.getReason() == null ? String.valueOf(e.getMessage()) : e.getReason();
        };
    }

    public Path path() {
        return path;
    }

    Path index() {
        return path.resolve("index.log");
    }

    @Override
    public void close() throws IOException {
        lock.close();
    }
}

package io.penstock.cache;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
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
    private final FileChannel lockFile;

    private CacheFolder(Path path, FileChannel lockFile) {
        this.path = path;
        this.lockFile = lockFile;
    }

    /** @throws IOException with a message fit for the user if it cannot be used, or another process uses it */
    public static CacheFolder open(Path path) throws IOException {
        try {
            Files.createDirectories(path, PosixFilePermissions.asFileAttribute(PRIVATE_FOLDER));
            Files.setPosixFilePermissions(path, PRIVATE_FOLDER);
            FileChannel lockFile = FileChannel.open(
                    path.resolve("lock"),
                    Set.of(StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE),
                    PosixFilePermissions.asFileAttribute(PRIVATE_FILE));
            try {
                lock(path, lockFile);
                return new CacheFolder(path, lockFile);
            } catch (IOException | RuntimeException e) {
                lockFile.close();
                throw e;
            }
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

    private static void lock(Path path, FileChannel lockFile) throws IOException {
        FileLock lock;
        try {
            lock = lockFile.tryLock();
        } catch (OverlappingFileLockException e) {
            lock = null; // another cache of this very process
        }
        if (lock == null) {
            throw new IOException("the cache folder " + path + " is in use by process " + holder(lockFile) + ADVICE);
        }
        lockFile.truncate(0);
        lockFile.write(StandardCharsets.US_ASCII.encode(ProcessHandle.current().pid() + "\n"), 0);
    }

    private static String holder(FileChannel lockFile) throws IOException {
        ByteBuffer content = ByteBuffer.allocate(32);
        lockFile.read(content, 0);
        return StandardCharsets.US_ASCII.decode(content.flip()).toString().strip();
    }

    public Path path() {
        return path;
    }

    Path index() {
        return path.resolve("index.log");
    }

    /** The file stays: removing it would let two processes lock two files of one name. */
    @Override
    public void close() throws IOException {
        lockFile.close();
    }
}

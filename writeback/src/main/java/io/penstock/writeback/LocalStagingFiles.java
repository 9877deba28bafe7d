package io.penstock.writeback;

import io.penstock.cache.CacheFolder;
import io.penstock.cache.DataFile;
import io.penstock.cache.DirectIo;
import io.penstock.cache.FolderLock;
import io.penstock.cache.LocalFile;
import java.io.IOException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileChannel;
import java.nio.file.FileStore;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Files in a folder of a local file system, which no other process uses until they are closed. */
final class LocalStagingFiles implements StagingFiles {
    private static final String ADVICE =
            "; choose another staging folder (setting write.staging, option --write-staging)";

    private final Path folder;
    private final FileStore fileStore;

    /** Whether aligned transfers go past the kernel's page cache. */
    private final boolean direct;

    /** Null where nobody can write: what is there can be read by any number. */
    private final @Nullable FolderLock lock;

    /** @throws FolderLock.TakenException if another process uses it */
    LocalStagingFiles(Path folder) throws IOException {
        Files.createDirectories(folder, PosixFilePermissions.asFileAttribute(CacheFolder.PRIVATE_FOLDER));
        this.folder = folder;
        this.lock = lock(folder);
        this.fileStore = Files.getFileStore(folder);
        this.direct = Files.isWritable(folder) && DirectIo.isSupported(folder);
    }

    private static @Nullable FolderLock lock(Path folder) throws IOException {
        try {
            return FolderLock.take(folder, "staging folder", ADVICE);
        } catch (FileSystemException e) {
            return null;
        }
    }

    @Override
    public void close() throws IOException {
        if (lock != null) {
            lock.close();
        }
    }

    @Override
    public DataFile create(String name) throws IOException {
        Files.createFile(path(name), PosixFilePermissions.asFileAttribute(CacheFolder.PRIVATE_FILE));
        return open(name);
    }

    @Override
    public DataFile open(String name) throws IOException {
        return new LocalFile(path(name), direct && name.endsWith(StagedFile.DATA));
    }

    @Override
    public List<String> names() throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.map(file -> file.getFileName().toString())
                    .filter(name -> !name.equals(FolderLock.NAME))
                    .sorted()
                    .toList();
        }
    }

    @Override
    public void remove(String name) throws IOException {
        Files.deleteIfExists(path(name));
    }

    @Override
    public void rename(String name, String to) throws IOException {
        Files.move(path(name), path(to), StandardCopyOption.ATOMIC_MOVE);
    }

    @Override
    public void force() throws IOException {
        boolean interrupted = Thread.interrupted(); // which would close the channel, and look like a broken disk
        try {
            while (!forced()) {
                interrupted |= Thread.interrupted();
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private boolean forced() throws IOException {
        try (FileChannel channel = FileChannel.open(folder, StandardOpenOption.READ)) {
            channel.force(true);
            return true;
        } catch (ClosedByInterruptException e) {
            return false;
        }
    }

    @Override
    public long usableBytes() throws IOException {
        return fileStore.getUsableSpace();
    }

    @Override
    public Path path(String name) {
        return folder.resolve(name);
    }
}

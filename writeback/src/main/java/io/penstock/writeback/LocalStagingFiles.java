package io.penstock.writeback;

import io.penstock.cache.CacheFolder;
import io.penstock.cache.DataFile;
import io.penstock.cache.DirectIo;
import io.penstock.cache.FolderLock;
import io.penstock.cache.LocalFile;
import io.penstock.cache.WorkingFolder;
import java.io.IOException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileChannel;
import java.nio.file.FileStore;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Files in a folder of a local file system, which no other process uses until they are closed. */
final class LocalStagingFiles implements StagingFiles {
    private static final WorkingFolder.Kind KIND = new WorkingFolder.Kind(
            "staging folder", "write.staging", "--write-staging", """
                Here lies what programs have written to a bucket, until it is uploaded. It is no cache:
                what is removed here is lost. The next mount of the bucket goes on with the uploads;
                "penstock recover BUCKET" shows what cannot go on by itself, and settles it.

                The files *.unreadable are not used. Remove them once you have taken from them what you need.\
                """, LocalStagingFiles::isOfEarlierVersion);

    private final Path folder;
    private final FileStore fileStore;

    /** Whether aligned transfers go past the kernel's page cache. */
    private final boolean direct;

    /** Null where nobody can write: what is there can be read by any number. */
    private final @Nullable WorkingFolder held;

    /**
     * @throws WorkingFolder.ForeignException if it is not Penstock's, and does not become so
     * @throws FolderLock.TakenException if another process uses it
     */
    LocalStagingFiles(Path folder) throws IOException {
        this.folder = folder;
        this.held = hold(folder);
        this.fileStore = Files.getFileStore(folder);
        this.direct = Files.isWritable(folder) && DirectIo.isSupported(folder);
    }

    private static @Nullable WorkingFolder hold(Path folder) throws IOException {
        try {
            return WorkingFolder.open(folder, KIND);
        } catch (FileSystemException e) {
            if (!Files.isDirectory(folder)) {
                throw e;
            }
            return null;
        }
    }

    private static boolean isOfEarlierVersion(Path file) {
        String name = file.getFileName().toString();
        return isPlain(file) && (StagedFile.isName(name) || name.equals(DirectIo.PROBE));
    }

    private static boolean isPlain(Path file) {
        return Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS);
    }

    @Override
    public void close() throws IOException {
        if (held != null) {
            held.close();
        }
    }

    @Override
    public DataFile create(String name) throws IOException {
        Files.createFile(path(name), PosixFilePermissions.asFileAttribute(CacheFolder.PRIVATE_FILE));
        try {
            return open(name);
        } catch (IOException e) { // too many open files, for one: it can be made again later
            remove(name);
            throw e;
        }
    }

    @Override
    public DataFile open(String name) throws IOException {
        return new LocalFile(path(name), direct && name.endsWith(StagedFile.DATA));
    }

    @Override
    public List<String> names() throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.filter(LocalStagingFiles::isPlain)
                    .map(file -> file.getFileName().toString())
                    .filter(StagedFile::isName)
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

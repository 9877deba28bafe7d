package io.penstock.disk;

import java.io.IOException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Objects;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A folder of a local file system. */
public final class LocalFolder implements DataFolder {
    private static final Logger log = LoggerFactory.getLogger(LocalFolder.class);

    private final Path root;
    private final Predicate<String> isName;
    private final boolean direct;
    private final @Nullable WorkingFolder held;
    private final FileStore fileStore;

    /**
     * @param isName whether this is the name of a data file or, if it ends with a slash, of a folder of data files;
     *     others are not listed
     * @param direct whether aligned transfers bypass the kernel's page cache: see {@link DirectIo#isSupported}
     * @param held closed with this
     */
    public LocalFolder(Path root, Predicate<String> isName, boolean direct, @Nullable WorkingFolder held)
            throws IOException {
        this.root = root;
        this.isName = isName;
        this.direct = direct;
        this.held = held;
        this.fileStore = Files.getFileStore(root);
    }

    @Override
    public DataFile create(String name) throws IOException {
        Path path = path(name);
        try {
            PrivateFiles.create(path);
        } catch (NoSuchFileException e) {
            if (!name.contains("/")) {
                throw e;
            }
            createFolderOf(path); // this is its first file
            PrivateFiles.create(path);
        }
        try {
            return open(name);
        } catch (IOException e) { // for example too many open files: it can be created again later
            remove(name);
            throw e;
        }
    }

    @Override
    public DataFile open(String name) throws IOException {
        return new LocalFile(path(name), direct);
    }

    @Override
    public void adopt(String name, Path source) throws IOException {
        Path path = path(name);
        createFolderOf(path);
        Files.createLink(path, source); // unlike a rename, never replaces a file
        try {
            Files.delete(source);
        } catch (IOException e) {
            Files.delete(path); // the caller keeps using the source
            throw e;
        }
    }

    private void createFolderOf(Path path) throws IOException {
        PrivateFiles.createFolders(Objects.requireNonNullElse(path.getParent(), root));
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
        boolean interrupted = Thread.interrupted(); // an interrupt would close the channel and look like a disk failure
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
        try (FileChannel channel = FileChannel.open(root, StandardOpenOption.READ)) {
            channel.force(true);
            return true;
        } catch (ClosedByInterruptException e) {
            return false;
        }
    }

    @Override
    public void forEach(Visitor names) throws IOException {
        forEach(root, "", names);
    }

    private void forEach(Path folder, String prefix, Visitor names) throws IOException {
        try (DirectoryStream<Path> files = Files.newDirectoryStream(folder)) {
            for (Path file : files) {
                String name = prefix + file.getFileName();
                if (isName.test(name)) {
                    if (Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
                        names.visit(name);
                    }
                } else if (isName.test(name + "/") && Files.isDirectory(file, LinkOption.NOFOLLOW_LINKS)) {
                    forEach(file, name + "/", names);
                }
            }
        } catch (NoSuchFileException e) {
            if (prefix.isEmpty()) {
                throw e;
            }
            log.debug("The folder was removed at the same time: {}", e.getMessage());
        } catch (DirectoryIteratorException e) {
            throw e.getCause();
        }
    }

    @Override
    public boolean isDirect() {
        return direct;
    }

    @Override
    public long usableBytes() throws IOException {
        return fileStore.getUsableSpace();
    }

    @Override
    public Path path(String name) {
        return root.resolve(name);
    }

    @Override
    public void close() throws IOException {
        if (held != null) {
            held.close();
        }
    }
}

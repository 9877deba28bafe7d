package io.penstock.cache;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.DirectoryStream;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HexFormat;
import java.util.function.LongPredicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Data files in the folder {@code objects}, spread over 256 folders by their first two digits. */
final class LocalFiles implements StoreFiles {
    private static final Logger log = LoggerFactory.getLogger(LocalFiles.class);

    private final Path root;
    private final FileStore fileStore;

    /** Whether full pages go past the kernel's page cache. */
    private final boolean direct;

    LocalFiles(Path directory) throws IOException {
        this(directory, DirectIo.isSupported(directory));
    }

    LocalFiles(Path directory, boolean direct) throws IOException {
        this.root = directory.resolve("objects");
        this.direct = direct;
        Files.createDirectories(root, PosixFilePermissions.asFileAttribute(CacheFolder.PRIVATE_FOLDER));
        this.fileStore = Files.getFileStore(root);
    }

    @Override
    public DataFile open(long name) throws IOException {
        return new LocalFile(path(name), direct);
    }

    @Override
    public DataFile create(long name, long length) throws IOException {
        Path path = path(name);
        try {
            createEmpty(path);
        } catch (NoSuchFileException e) { // the first file in its folder
            Files.createDirectories(path.getParent(), PosixFilePermissions.asFileAttribute(CacheFolder.PRIVATE_FOLDER));
            createEmpty(path);
        }
        try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "rw")) {
            file.setLength(length); // so that it is as long as the object once all of its pages are there
        }
        return new LocalFile(path, direct);
    }

    @Override
    public void adopt(long name, Path source) throws IOException {
        Path path = path(name);
        Files.createDirectories(path.getParent(), PosixFilePermissions.asFileAttribute(CacheFolder.PRIVATE_FOLDER));
        Files.createLink(path, source); // which, unlike a rename, replaces nothing
        Files.delete(source);
    }

    private static void createEmpty(Path path) throws IOException {
        Files.createFile(path, PosixFilePermissions.asFileAttribute(CacheFolder.PRIVATE_FILE));
    }

    @Override
    public void remove(long name) throws IOException {
        Files.deleteIfExists(path(name));
    }

    @Override
    public void removeUnknown(LongPredicate known) throws IOException {
        try (DirectoryStream<Path> folders = Files.newDirectoryStream(root)) {
            for (Path folder : folders) {
                removeUnknown(folder, known);
            }
        }
    }

    private static void removeUnknown(Path folder, LongPredicate known) throws IOException {
        try (DirectoryStream<Path> files = Files.newDirectoryStream(folder)) {
            for (Path file : files) {
                String name = file.getFileName().toString();
                if (!name.matches("[0-9a-f]{16}") || !known.test(HexFormat.fromHexDigitsToLong(name))) {
                    Files.deleteIfExists(file);
                }
            }
        } catch (NoSuchFileException e) {
            log.debug("Removed meanwhile: {}", e.getMessage());
        }
    }

    @Override
    public long usableBytes() throws IOException {
        return fileStore.getUsableSpace();
    }

    @Override
    public Path path(long name) {
        String digits = HexFormat.of().toHexDigits(name);
        return root.resolve(digits.substring(0, 2)).resolve(digits);
    }
}

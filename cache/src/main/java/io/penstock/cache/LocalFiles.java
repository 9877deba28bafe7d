package io.penstock.cache;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HexFormat;
import java.util.function.LongPredicate;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Data files in the folder {@code objects}, spread over 256 folders by their first two digits. */
final class LocalFiles implements StoreFiles {
    private static final Logger log = LoggerFactory.getLogger(LocalFiles.class);

    /** The name of the folder. */
    static final String ROOT = "objects";

    private static final Pattern FOLDER = Pattern.compile("[0-9a-f]{2}");
    private static final Pattern FILE = Pattern.compile("[0-9a-f]{16}");

    private final Path root;
    private final FileStore fileStore;

    /** Whether full pages go past the kernel's page cache. */
    private final boolean direct;

    LocalFiles(Path directory) throws IOException {
        this(directory, DirectIo.isSupported(directory));
    }

    LocalFiles(Path directory, boolean direct) throws IOException {
        this.root = directory.resolve(ROOT);
        this.direct = direct;
        if (Files.isSymbolicLink(root)) {
            throw new NotDirectoryException(root + " (a symbolic link)");
        }
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
        try {
            Files.delete(source);
        } catch (IOException e) {
            Files.delete(path); // the source's owner goes on with it
            throw e;
        }
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
        try (DirectoryStream<Path> folders = Files.newDirectoryStream(root, LocalFiles::isFolder)) {
            for (Path folder : folders) {
                removeUnknown(folder, known);
            }
        }
    }

    private static void removeUnknown(Path folder, LongPredicate known) throws IOException {
        try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, LocalFiles::isFile)) {
            for (Path file : files) {
                if (!known.test(HexFormat.fromHexDigitsToLong(file.getFileName().toString()))) {
                    Files.deleteIfExists(file);
                }
            }
        } catch (NoSuchFileException e) {
            log.debug("Removed meanwhile: {}", e.getMessage());
        }
    }

    /** Whether this is such a folder, with nothing in it that is not ours. Follows no symbolic link. */
    static boolean isRoot(Path path) {
        return Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS)
                && hasOnly(path, folder -> isFolder(folder) && hasOnly(folder, LocalFiles::isFile));
    }

    private static boolean hasOnly(Path folder, DirectoryStream.Filter<Path> ours) {
        try (DirectoryStream<Path> others = Files.newDirectoryStream(folder, path -> !ours.accept(path))) {
            return !others.iterator().hasNext();
        } catch (IOException | DirectoryIteratorException e) {
            return false;
        }
    }

    private static boolean isFolder(Path path) {
        return FOLDER.matcher(path.getFileName().toString()).matches()
                && Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS);
    }

    private static boolean isFile(Path path) {
        return FILE.matcher(path.getFileName().toString()).matches()
                && Files.isRegularFile(path, LinkOption.NOFOLLOW_LINKS);
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

package io.penstock.cache.disk;

import io.penstock.core.Digests;
import io.penstock.disk.LocalFolder;
import io.penstock.disk.PrivateFiles;
import io.penstock.disk.RecordLog;
import io.penstock.disk.WorkingFolder;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The folder of a cache, which only this process uses from {@link #open} to {@link #close}. */
public final class CacheFolder implements AutoCloseable {
    /** The users whose cached pages a mount may read. */
    public sealed interface Audience {
        /** All users of the folder can read the pages that any of them has cached. */
        record Anyone() implements Audience {}

        /** Nobody reads pages, and none are cached. Cached pages stay readable for those who could read them before. */
        record Nobody() implements Audience {}

        /**
         * Pages cached under another identity, or for anyone, are removed when the cache is opened.
         *
         * @param identity the user's name in the store; only a hash of it is kept
         */
        record Only(String identity) implements Audience {
            @Override
            public String toString() {
                return "Only[...]";
            }
        }
    }

    private static final String ADVICE = "; choose another cache folder (setting cache.dir, option --cache)";

    private static final String INDEX = "index.log";
    private static final String PINS = "pins.log";

    /**
     * The file with a hash of the only identity that has read the cached objects; absent if several may have read them.
     */
    private static final String IDENTITY = "identity";

    private static final WorkingFolder.Kind KIND = new WorkingFolder.Kind(
            "cache folder",
            "cache.dir",
            "--cache",
            "This folder caches data read from a bucket. While nothing is mounted, the folder may be removed,"
                    + " except for a folder 'staging' in it: that holds written data that is not uploaded yet.");

    private final LocalFolder folder;

    private CacheFolder(Path path, WorkingFolder held) throws IOException {
        this.folder = new LocalFolder(path, INDEX::equals, false, held);
    }

    /**
     * Opens the folder, and creates it if it does not exist.
     *
     * @throws IOException with a message for the user if it is unusable, not Penstock's, or in use by another process
     */
    public static CacheFolder open(Path path) throws IOException {
        try {
            return new CacheFolder(path, WorkingFolder.open(path, KIND));
        } catch (AccessDeniedException e) {
            throw new IOException("no permission to write in the cache folder " + path + ADVICE, e);
        } catch (FileSystemException e) {
            throw new IOException("cannot use the cache folder " + path + ": " + reason(e) + ADVICE, e);
        }
    }

    private static String reason(FileSystemException e) {
        return switch (e) {
            case NoSuchFileException missing -> missing.getFile() + " cannot be created";
            case FileAlreadyExistsException other -> other.getFile() + " is not a folder";
            default -> e.getReason() == null ? String.valueOf(e.getMessage()) : e.getReason();
        };
    }

    /** Removes an index that this audience may not read, which removes the pages listed in it, and the kept names. */
    public void admit(Audience audience) throws IOException {
        Path identity = path().resolve(IDENTITY);
        switch (audience) {
            case Audience.Nobody() -> {}
            case Audience.Anyone() -> {
                if (Files.deleteIfExists(identity)) {
                    folder.force(); // a power cut must not restore it next to pages that others have cached
                }
            }
            case Audience.Only(String name) -> {
                byte[] hash = hash(name);
                if (!isPlain(identity) || !Arrays.equals(Files.readAllBytes(identity), hash)) {
                    folder.remove(INDEX);
                    folder.remove(PINS);
                    for (Path kept : List.of(names(path()), attributes(path()))) {
                        Files.deleteIfExists(kept);
                        Files.deleteIfExists(kept.resolveSibling(kept.getFileName() + ".tmp")); // a mount was killed
                    }
                    Files.deleteIfExists(identity);
                    folder.force(); // a power cut must not restore the index next to the new identity
                    PrivateFiles.create(identity);
                    Files.write(identity, hash);
                }
            }
        }
    }

    private static byte[] hash(String identity) {
        return HexFormat.of()
                .formatHex(Digests.sha256().digest(identity.getBytes(StandardCharsets.UTF_8)))
                .getBytes(StandardCharsets.US_ASCII);
    }

    private static boolean isPlain(Path file) {
        return Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS);
    }

    public Path path() {
        return folder.path("");
    }

    /** The file in this folder where the bucket's names are kept from mount to mount. */
    public static Path names(Path folder) {
        return folder.resolve("names");
    }

    /** The file where the attributes of the bucket's files are kept in the same way. */
    public static Path attributes(Path folder) {
        return folder.resolve("attributes");
    }

    /** Opens the index, or creates one. It must be replayed before anything is appended. */
    public RecordLog<IndexRecord> openIndex() throws IOException {
        folder.remove(INDEX + RecordLog.DRAFT);
        return Files.exists(path().resolve(INDEX))
                ? RecordLog.open(folder, INDEX, IndexRecord.FORMAT)
                : RecordLog.create(folder, INDEX, IndexRecord.FORMAT);
    }

    /** Opens the log of pins, which must be replayed before anything is appended; null if there is none. */
    @Nullable
    RecordLog<PinRecord> openPins() throws IOException {
        folder.remove(PINS + RecordLog.DRAFT);
        return Files.exists(path().resolve(PINS)) ? RecordLog.open(folder, PINS, PinRecord.FORMAT) : null;
    }

    RecordLog<PinRecord> createPins() throws IOException {
        return RecordLog.create(folder, PINS, PinRecord.FORMAT);
    }

    @Override
    public void close() throws IOException {
        folder.close();
    }
}

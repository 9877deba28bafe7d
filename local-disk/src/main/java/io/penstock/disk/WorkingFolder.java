package io.penstock.disk;

import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A folder that belongs to Penstock, used by this process alone from {@link #open} to {@link #close}. It contains a
 * marker, the file {@value #MARKER}, which also tells people the folder's purpose. A folder that is missing or empty
 * becomes one. Any other folder is refused, and nothing in it is touched.
 */
public final class WorkingFolder implements AutoCloseable {
    /** The file that identifies a folder as Penstock's. */
    public static final String MARKER = "PENSTOCK.txt";

    private static final Logger log = LoggerFactory.getLogger(WorkingFolder.class);

    /** The marker until it is complete. */
    private static final String MARKER_DRAFT = MARKER + ".new";

    /** Maximum bytes in a lock: the id of the process that has locked the folder. */
    private static final int LONGEST_LOCK = 32;

    private static final int LONGEST_FIRST_LINE = 80;

    private final FolderLock lock;

    private WorkingFolder(FolderLock lock) {
        this.lock = lock;
    }

    /**
     * The purpose of a folder.
     *
     * @param name in messages: {@code "staging folder"}
     * @param setting that configures it: {@code "write.staging"}
     * @param option for the same on the command line: {@code "--write-staging"}
     * @param explanation for people who find the folder; it becomes part of the marker
     */
    public record Kind(String name, String setting, String option, String explanation) {
        private String firstLine() {
            return "Penstock " + name + ", format 1";
        }

        private String advice() {
            return "; choose another " + name + " (setting " + setting + ", option " + option + ")";
        }
    }

    /** The folder is not Penstock's, or not safe. Nothing in it was touched. The message is for the user. */
    public static final class ForeignException extends IOException {
        private static final long serialVersionUID = 1L;

        ForeignException(String message) {
            super(message);
        }
    }

    /**
     * Creates the folder if it does not exist, and locks it.
     *
     * @throws ForeignException if it contains something that is not Penstock's, is a Penstock folder of another kind,
     *     or other users may write to it or own something in it
     * @throws FolderLock.TakenException if another process, or another part of this one, holds it
     * @throws IOException if it cannot be created, read or written
     */
    public static WorkingFolder open(Path path, Kind kind) throws IOException {
        PrivateFiles.createFolders(path);
        check(path, kind, WorkingFolder::isLock);
        String exposure = PrivateFiles.close(path);
        if (exposure != null) {
            throw new ForeignException("the " + kind.name() + " " + path + " " + exposure + ", or"
                    + kind.advice().substring(1));
        }
        FolderLock lock = FolderLock.take(path, kind.name(), kind.advice());
        try {
            // Another process may have marked it by now. The lock is not opened again: closing it would give it up.
            if (!check(path, kind, _ -> true)) {
                mark(path, kind);
            }
            return new WorkingFolder(lock);
        } catch (IOException | RuntimeException e) {
            lock.close();
            throw e;
        }
    }

    /** The folder stays Penstock's. */
    @Override
    public void close() throws IOException {
        lock.close();
    }

    /**
     * @param isLock whether a file with a lock's name is a lock
     * @return whether it has the marker already
     */
    private static boolean check(Path path, Kind kind, Predicate<Path> isLock) throws IOException {
        String first = firstLine(path.resolve(MARKER));
        if (kind.firstLine().equals(first)) {
            return true;
        }
        if (first != null && first.startsWith("Penstock ")) {
            throw new ForeignException("the folder " + path + " is used by Penstock for something else (its"
                    + " " + MARKER + " says: "
                    + first + ")" + kind.advice());
        }
        try (Stream<Path> files = Files.list(path)) {
            List<Path> foreign =
                    files.filter(file -> !isOurs(file, isLock)).sorted().toList();
            if (!foreign.isEmpty()) {
                throw new ForeignException("the folder " + path + " contains files that are not Penstock's, such as '"
                        + foreign.getFirst().getFileName() + "': nothing in it was changed; choose a "
                        + kind.name() + " that is empty or does not exist (setting " + kind.setting() + ", option "
                        + kind.option() + ")");
            }
        }
        return false;
    }

    private static boolean isOurs(Path file, Predicate<Path> isLock) {
        return switch (file.getFileName().toString()) {
            case FolderLock.NAME -> isLock.test(file);
            case MARKER_DRAFT -> isPlain(file); // left by a crash
            case "lost+found" -> Files.isDirectory(file, LinkOption.NOFOLLOW_LINKS); // created by the file system
            default -> false;
        };
    }

    private static boolean isLock(Path file) {
        String content = start(file, LONGEST_LOCK + 1);
        return content != null && content.matches("[0-9]{0," + LONGEST_LOCK + "}\\n?");
    }

    private static boolean isPlain(Path file) {
        return Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS);
    }

    private static @Nullable String firstLine(Path marker) {
        String start = start(marker, LONGEST_FIRST_LINE);
        return start == null ? null : start.lines().findFirst().orElse("");
    }

    /** The first bytes of a regular file, one per character; null if it is missing or unreadable. */
    private static @Nullable String start(Path file, int bytes) {
        if (!isPlain(file)) {
            return null;
        }
        try (InputStream from = Files.newInputStream(file, LinkOption.NOFOLLOW_LINKS)) {
            return new String(from.readNBytes(bytes), StandardCharsets.ISO_8859_1);
        } catch (IOException e) {
            log.trace("Not read: {}", file, e);
            return null;
        }
    }

    /** A crash leaves the marker, or a folder that can still become Penstock's. */
    private static void mark(Path path, Kind kind) throws IOException {
        Path draft = path.resolve(MARKER_DRAFT);
        Files.deleteIfExists(draft);
        Files.writeString(draft, kind.firstLine() + "\n\n" + kind.explanation() + "\n", StandardOpenOption.CREATE_NEW);
        try (FileChannel written = FileChannel.open(draft, Set.of(StandardOpenOption.WRITE))) {
            written.force(true);
        }
        Files.move(draft, path.resolve(MARKER), StandardCopyOption.ATOMIC_MOVE);
    }
}

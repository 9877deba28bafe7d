package io.penstock.listing;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;

/**
 * Replaces a file as a whole: a reader, or a mount after a crash, finds the former file or the new one. Only the
 * current user may read it. For one thread at a time.
 */
public final class FileReplacement {
    /** The suffix of the unfinished file's name; a crash may leave such a file. */
    private static final String DRAFT = ".tmp";

    private static final Set<PosixFilePermission> PRIVATE = PosixFilePermissions.fromString("rw-------");

    private FileReplacement() {}

    /** Writes the new file. */
    @FunctionalInterface
    public interface Content {
        void to(FileChannel channel) throws IOException;
    }

    /** Moves the written file to the place of the former one, or decides not to. */
    @FunctionalInterface
    public interface Decision {
        void take(Put put) throws IOException;
    }

    @FunctionalInterface
    public interface Put {
        void run() throws IOException;
    }

    /**
     * Replaces the file, and returns when the disk has stored the new one. If this throws, the former file is
     * unchanged, unless only the sync of the folder failed.
     */
    public static void write(Path file, Content content) throws IOException {
        write(file, content, Put::run);
    }

    /** Like the other {@code write}, but replaces the former file only if the decision says so. */
    static void write(Path file, Content content, Decision decision) throws IOException {
        Path draft = draft(file);
        Files.deleteIfExists(draft); // left by a crash
        try {
            try (FileChannel channel = FileChannel.open(
                    draft,
                    Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE),
                    PosixFilePermissions.asFileAttribute(PRIVATE))) {
                content.to(channel);
                channel.force(true); // otherwise a power cut could leave the name with an empty file
            }
            decision.take(() -> put(draft, file));
        } finally {
            Files.deleteIfExists(draft);
        }
    }

    /** The unfinished file. */
    public static Path draft(Path file) {
        return file.resolveSibling(file.getFileName() + DRAFT);
    }

    private static void put(Path draft, Path file) throws IOException {
        Files.move(draft, file, StandardCopyOption.ATOMIC_MOVE);
        try (FileChannel folder = FileChannel.open(file.resolveSibling("."), StandardOpenOption.READ)) {
            folder.force(true);
        }
    }
}

package io.penstock.inventory;

import static java.nio.file.StandardCopyOption.ATOMIC_MOVE;
import static java.nio.file.StandardCopyOption.REPLACE_EXISTING;
import static java.nio.file.StandardOpenOption.CREATE_NEW;
import static java.nio.file.StandardOpenOption.WRITE;

import java.io.BufferedOutputStream;
import java.io.Closeable;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.ThreadLocalRandom;

/**
 * A hidden file next to another one. If {@linkplain #keep kept}, it replaces the other when closed. Otherwise it is
 * removed, even if a signal that the JVM handles ends the process. Used by one thread at a time.
 */
final class ReplacingFile implements Closeable {
    private final Path file;
    private final Path unfinished;
    private final FileChannel channel;
    private boolean kept;

    ReplacingFile(Path file) throws IOException {
        if (Files.isDirectory(file)) {
            throw new FileSystemException(file.toString(), null, "it is a folder");
        }
        this.file = file;
        this.unfinished = file.resolveSibling("." + file.getFileName() + "."
                + Long.toHexString(ThreadLocalRandom.current().nextLong()));
        this.channel = FileChannel.open(unfinished, CREATE_NEW, WRITE);
        unfinished.toFile().deleteOnExit();
    }

    /** The stream to write to; closing the stream does not close the file. */
    OutputStream bytes() {
        return new BufferedOutputStream(Channels.newOutputStream(channel)) {
            @Override
            public void close() throws IOException {
                flush();
            }
        };
    }

    /** The file is complete: {@link #close} moves it to its place. */
    void keep() {
        kept = true;
    }

    @Override
    public void close() throws IOException {
        if (!channel.isOpen()) {
            return;
        }
        try {
            try (channel) {
                if (kept) {
                    channel.force(true);
                }
            }
            if (kept) {
                Files.move(unfinished, file, ATOMIC_MOVE, REPLACE_EXISTING);
            }
        } finally {
            Files.deleteIfExists(unfinished);
        }
    }
}

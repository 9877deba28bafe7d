package io.penstock.disk;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * An open file that is used through mapped memory. Interrupts neither end a call nor close the file, unlike a channel.
 * Safe for use by any number of threads.
 */
public final class MappedFile implements AutoCloseable {
    private static final ByteBuffer ZEROS = ByteBuffer.allocate(64 << 10);

    private final int descriptor;

    /** The file even if it is renamed or removed. */
    private final Path path;

    private MappedFile(int descriptor) {
        this.descriptor = descriptor;
        this.path = Path.of("/proc/self/fd", Integer.toString(descriptor));
    }

    /** Opens an existing file. */
    public static MappedFile open(Path file) throws IOException {
        return new MappedFile(SystemCalls.openToWrite(file));
    }

    /**
     * Creates a file in memory that exists for as long as any process has it open: memfd_create(2).
     *
     * @param name for people who look at the process's open files
     */
    public static MappedFile inMemory(String name) throws IOException {
        return new MappedFile(SystemCalls.createMemory(name));
    }

    /** One that another process has passed on; closed with this. */
    public static MappedFile of(int descriptor) {
        return new MappedFile(descriptor);
    }

    /** To be passed on to another process. */
    public int descriptor() {
        return descriptor;
    }

    /** Under this name it can be opened in this process. */
    public Path path() {
        return path;
    }

    /** Maps a part for reading and writing, and makes the file as long. The mapping lasts as long as the buffer. */
    public ByteBuffer map(long offset, int length) throws IOException {
        return uninterrupted(channel -> channel.map(MapMode.READ_WRITE, offset, length));
    }

    /** Writes zeros, so that the space is there: storing into mapped memory that cannot be had is fatal. */
    public void clear(long offset, int length) throws IOException {
        uninterrupted(channel -> {
            for (long at = offset; at < offset + length; ) {
                ByteBuffer some = ZEROS.duplicate();
                some.limit((int) Math.min(some.capacity(), offset + length - at));
                at += channel.write(some, at);
            }
            return true;
        });
    }

    /** Frees the space of a part, which reads as zeros afterwards. */
    public void punch(long offset, long length) throws IOException {
        SystemCalls.punch(path, offset, length);
    }

    private interface Work<T> {
        T with(FileChannel channel) throws IOException;
    }

    private <T> T uninterrupted(Work<T> work) throws IOException {
        boolean interrupted = false;
        try {
            while (true) {
                interrupted |= Thread.interrupted();
                try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
                    return work.with(channel);
                } catch (ClosedByInterruptException _) {
                    // again, with another channel
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Mappings stay valid. */
    @Override
    public void close() {
        SystemCalls.close(descriptor);
    }
}

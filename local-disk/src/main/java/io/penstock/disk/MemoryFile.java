package io.penstock.disk;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * A file in memory that exists for as long as any process has it open: memfd_create(2). Safe for use by any number of
 * threads.
 */
public final class MemoryFile implements AutoCloseable {
    private final int descriptor;
    private final Path path;
    private final FileChannel channel;

    private MemoryFile(int descriptor) throws IOException {
        this.descriptor = descriptor;
        this.path = Path.of("/proc/self/fd", Integer.toString(descriptor));
        this.channel = FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE);
    }

    /** @param name for people who look at the process's open files */
    public static MemoryFile create(String name) throws IOException {
        return of(SystemCalls.createMemory(name));
    }

    /** One that another process has passed on; closed with this. */
    public static MemoryFile of(int descriptor) throws IOException {
        try {
            return new MemoryFile(descriptor);
        } catch (IOException e) {
            SystemCalls.close(descriptor);
            throw e;
        }
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
        return channel.map(MapMode.READ_WRITE, offset, length);
    }

    /** Frees the memory of a part, which reads as zeros afterwards. */
    public void punch(long offset, long length) throws IOException {
        SystemCalls.punch(path, offset, length);
    }

    /** Mappings stay valid. */
    @Override
    public void close() {
        try {
            channel.close();
        } catch (IOException _) {
            // nothing is lost by it
        }
        SystemCalls.close(descriptor);
    }
}

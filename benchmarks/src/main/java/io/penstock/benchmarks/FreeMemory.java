package io.penstock.benchmarks;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The unused memory of the machine. A machine in use has almost none, because the page cache takes it. A virtual
 * machine returns unused memory to its host, and the next program that touches it waits until the host finds some. That
 * takes seconds per GiB, and would slow the first reads of a benchmark but not its ceilings. One thread.
 */
final class FreeMemory implements AutoCloseable {
    /** The kernel frees memory when less than this is left. */
    private static final long LEFT = 256L << 20;

    private static final int CALL = 1 << 20;

    /** Larger than any memory. Takes no space: nothing is ever written to it. */
    private static final long EMPTY_FILE = 1L << 43;

    private final FileChannel file;
    private final ByteBuffer buffer = ByteBuffer.allocateDirect(CALL);
    private long position;

    /** @param folder a folder for an empty file, which is removed with the folder */
    FreeMemory(Path folder) throws IOException {
        Path empty = folder.resolve("empty");
        try (RandomAccessFile made = new RandomAccessFile(empty.toFile(), "rw")) {
            made.setLength(EMPTY_FILE);
        }
        file = FileChannel.open(empty);
    }

    /** Fills it with cached pages of an empty file, which the kernel evicts as soon as a program needs memory. */
    void fill() throws IOException {
        long free = bytes();
        while (free > LEFT) {
            for (long end = position + (free - LEFT); position < end; position += CALL) {
                file.read(buffer.clear(), position % EMPTY_FILE);
            }
            long now = bytes();
            if (now >= free - (free - LEFT) / 2) {
                return; // something evicts these pages as fast as they come, such as the limit of a cgroup
            }
            free = now;
        }
    }

    private static long bytes() throws IOException {
        return Conditions.bytes(Files.readString(Path.of("/proc/meminfo")), "MemFree");
    }

    @Override
    public void close() throws IOException {
        file.close();
    }
}

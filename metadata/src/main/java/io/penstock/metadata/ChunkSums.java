package io.penstock.metadata;

import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.zip.CRC32C;

/**
 * The checksums of the chunks of a {@link KeyTable} that is mapped from a file. Each chunk is read as a whole and checked
 * when it is first touched, so that opening does not take longer the larger the table is. Safe for use by any number of
 * threads.
 */
final class ChunkSums {
    private final Path file;
    private final int[] expected;

    /** Racy on purpose: a chunk may be checked by several threads, but is read by none before it was checked. */
    private final boolean[] checked;

    /** @param expected the CRC32C of each chunk */
    ChunkSums(Path file, int[] expected) {
        this.file = file;
        this.expected = expected;
        this.checked = new boolean[expected.length];
    }

    /**
     * Checks a chunk, unless it has been found whole before.
     *
     * @throws UncheckedIOException if it is not whole, each time; its cause is a {@link DamagedSnapshotException}
     * @throws IllegalStateException if the memory was freed
     */
    void check(int index, MemorySegment chunk) {
        if (!checked[index]) {
            checkNow(index, chunk);
            checked[index] = true;
        }
    }

    private void checkNow(int index, MemorySegment chunk) {
        byte[] bytes;
        try {
            bytes = chunk.toArray(ValueLayout.JAVA_BYTE);
        } catch (
                InternalError e) { // what the JVM makes of SIGBUS: a bad sector, or the file has been cut off meanwhile
            throw new UncheckedIOException(new DamagedSnapshotException(file, "cannot be read: " + e.getMessage()));
        }
        if (of(bytes) != expected[index]) {
            throw new UncheckedIOException(
                    new DamagedSnapshotException(file, "is damaged: a checksum of its entries does not hold"));
        }
    }

    static int of(byte[] bytes) {
        CRC32C sum = new CRC32C();
        sum.update(bytes);
        return (int) sum.getValue();
    }
}

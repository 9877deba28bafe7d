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
    /** What is summed at once: bytes. */
    private static final int PIECE = 16 << 10;

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
        int sum;
        try {
            sum = sum(chunk);
        } catch (InternalError e) { // SIGBUS: a bad sector, or the file has been cut off meanwhile
            throw new UncheckedIOException(new DamagedSnapshotException(file, "cannot be read: " + e.getMessage()));
        }
        if (sum != expected[index]) {
            throw new UncheckedIOException(
                    new DamagedSnapshotException(file, "is damaged: a checksum of its entries does not hold"));
        }
    }

    /** Through a copy in heap: while the checksum's own code had the memory, the table could not be closed. */
    private static int sum(MemorySegment chunk) {
        CRC32C sum = new CRC32C();
        byte[] piece = new byte[PIECE];
        for (long at = 0; at < chunk.byteSize(); at += PIECE) {
            int length = (int) Math.min(PIECE, chunk.byteSize() - at);
            MemorySegment.copy(chunk, ValueLayout.JAVA_BYTE, at, piece, 0, length);
            sum.update(piece, 0, length);
        }
        return (int) sum.getValue();
    }
}

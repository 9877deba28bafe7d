package io.penstock.listing;

import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.zip.CRC32C;

/**
 * The checksums of the chunks of a {@link KeyTable} that is mapped from a file. Each chunk is read and checked as a
 * whole when it is first used, so opening a larger table takes no longer. Safe for use by any number of threads.
 */
final class ChunkChecksums {
    /** Bytes that are summed in one step. */
    private static final int PIECE = 16 << 10;

    private final Path file;
    private final int[] expected;

    /** Racy on purpose: several threads may check a chunk, but none reads it before it has been checked. */
    private final boolean[] checked;

    /** @param expected the CRC32C of each chunk */
    ChunkChecksums(Path file, int[] expected) {
        this.file = file;
        this.expected = expected;
        this.checked = new boolean[expected.length];
    }

    /**
     * Checks a chunk, unless it has passed the check before.
     *
     * @throws UncheckedIOException each time, if the chunk is damaged; its cause is a {@link DamagedSnapshotException}
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
        } catch (InternalError e) { // SIGBUS: a bad sector, or the file has been truncated
            throw new UncheckedIOException(new DamagedSnapshotException(file, "cannot be read: " + e.getMessage()));
        }
        if (sum != expected[index]) {
            throw new UncheckedIOException(
                    new DamagedSnapshotException(file, "is damaged: a checksum of its entries does not match"));
        }
    }

    /** Copies through the heap: the table could not be closed while native checksum code reads its memory. */
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

package io.penstock.tools.bench;

import io.penstock.core.NativeMemory;
import io.penstock.objectstore.UploadBody;
import io.penstock.settings.process.RefusedException;
import java.nio.ByteBuffer;
import java.util.OptionalInt;
import java.util.SplittableRandom;
import java.util.zip.CRC32C;

/**
 * The content of a run's files, which must be read back unchanged. It is random, so nothing can compress it, and
 * differs between runs, files and chunks, so stale or misplaced bytes are detected. Immutable.
 */
final class BenchData {
    /** The number of bytes written or read in one call. */
    static final int CHUNK = 1 << 20;

    /** The large file's number; small files are numbered from 0. */
    static final int LARGE = -1;

    /** Log2 of the number of positions where a chunk may begin. */
    private static final int PLACES_BITS = 17;

    private static final int PLACE = CHUNK >> PLACES_BITS;

    /** Each chunk is a window of this buffer. */
    private final ByteBuffer random = NativeMemory.allocate(NativeMemory.Share.PAGES, 2 * CHUNK, Long.BYTES);

    BenchData(long seed) {
        SplittableRandom source = new SplittableRandom(seed);
        while (random.hasRemaining()) {
            random.putLong(source.nextLong());
        }
    }

    /**
     * The bytes of a file's chunk.
     *
     * @param length at most {@link #CHUNK}
     */
    ByteBuffer chunk(int file, long chunk, int length) {
        long mixed = (file * 31L + chunk) * 0x9E3779B97F4A7C15L; // Fibonacci hashing: the high bits are well spread
        return random.slice((int) (mixed >>> (Long.SIZE - PLACES_BITS)) * PLACE, length);
    }

    /**
     * Compares the bytes read with those written.
     *
     * @param what the name of the file read, for the message
     * @param chunk the chunk of the file where {@code read} begins
     * @param read the bytes from its position to its limit; not changed
     * @throws RefusedException if a byte differs
     */
    void check(Object what, int file, long chunk, ByteBuffer read) throws RefusedException {
        for (int at = 0; at < read.remaining(); at += CHUNK) {
            int length = Math.min(CHUNK, read.remaining() - at);
            long number = chunk + at / CHUNK;
            int differs = chunk(file, number, length).mismatch(read.slice(read.position() + at, length));
            if (differs >= 0) {
                throw new RefusedException(what + ": the bytes read differ from those written, starting at byte "
                        + (number * CHUNK + differs));
            }
        }
    }

    /** The first {@code length} bytes of a file, to upload. Thread-safe. */
    UploadBody body(int file, long length) {
        CRC32C crc = new CRC32C();
        for (long at = 0; at < length; at += CHUNK) {
            crc.update(chunk(file, at / CHUNK, (int) Math.min(CHUNK, length - at)));
        }
        return new Body(file, length, (int) crc.getValue());
    }

    private final class Body implements UploadBody {
        private final int file;
        private final long length;
        private final int crc32c;

        Body(int file, long length, int crc32c) {
            this.file = file;
            this.length = length;
            this.crc32c = crc32c;
        }

        @Override
        public long length() {
            return length;
        }

        @Override
        public OptionalInt crc32c() {
            return OptionalInt.of(crc32c);
        }

        @Override
        public void read(long offset, ByteBuffer target) {
            for (long at = offset; target.hasRemaining(); ) {
                int within = (int) (at % CHUNK);
                int count = Math.min(CHUNK - within, target.remaining());
                target.put(chunk(file, at / CHUNK, CHUNK).slice(within, count));
                at += count;
            }
        }
    }
}

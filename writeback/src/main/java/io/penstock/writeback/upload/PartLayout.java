package io.penstock.writeback.upload;

import static io.penstock.objectstore.UploadedPart.MAX_NUMBER;
import static io.penstock.objectstore.UploadedPart.MAX_SIZE;
import static io.penstock.objectstore.UploadedPart.MIN_SIZE;
import static io.penstock.writeback.content.Block.BLOCK_SIZE;

import io.penstock.core.ByteRange;

/**
 * Assigns the bytes of a file to parts. Either all parts but the last have one size ({@link #equal}), or they grow: the
 * bytes of an older version come first, in up to {@code baseParts} parts that only the commit creates
 * ({@link CommitPlan}). The bytes after it, the tail, are sent while they are written, in parts whose size follows from
 * the offset alone: {@code doubleEvery} of {@code partBytes}, as many of twice that, and so on up to the largest part
 * that S3 takes.
 *
 * <p>{@code doubleEvery} is as large as possible for the largest object to fit: a new file that begins with parts of
 * 8 MiB and may grow to 5 TiB has 1,089 of them, and parts of 64 MiB at 100 GiB.
 *
 * @param baseEnd bytes; where the tail begins: a multiple of the block size; 0 for a new file
 * @param baseParts part numbers kept for the bytes before {@code baseEnd}; 0 to 10,000
 * @param partBytes of the tail's first parts: a multiple of the block size, from 8 MiB to 5 GiB
 * @param doubleEvery number of parts of one size before the next size; 1 or more
 */
public record PartLayout(long baseEnd, int baseParts, long partBytes, int doubleEvery) {
    /** The layout of a file changed from a version of this size, or of a new file for 0. */
    public static PartLayout of(long baseSize, long partBytes, long largestObjectBytes) {
        // The block in which the old version ends belongs to the tail: an append changes it, and parts consist of whole
        // blocks.
        long blocks = baseSize / BLOCK_SIZE;
        long baseEnd = blocks < 2 ? 0 : blocks * BLOCK_SIZE; // less could not be copied: MIN_SIZE
        long rest = Math.max(0, largestObjectBytes - baseEnd);
        int baseParts = baseParts(baseEnd, rest);
        return new PartLayout(baseEnd, baseParts, partBytes, doubleEvery(MAX_NUMBER - baseParts, partBytes, rest));
    }

    /** The layout of content of this size without uploaded parts: the commit plans all of it. */
    public static PartLayout planned(long size, long partBytes) {
        return new PartLayout(Math.ceilDiv(size, BLOCK_SIZE) * BLOCK_SIZE, MAX_NUMBER, partBytes, 1);
    }

    /**
     * Parts of one size, as some stores require. They fit content of any size up to this one, and more if parts of
     * {@code partBytes} reach further.
     */
    public static PartLayout equal(long size, long partBytes) {
        long least = Math.ceilDiv(Math.ceilDiv(size, MAX_NUMBER), BLOCK_SIZE) * BLOCK_SIZE;
        return new PartLayout(0, 0, Math.clamp(least, partBytes, MAX_SIZE), MAX_NUMBER);
    }

    /**
     * At least the numbers that the base needs, and half of those that the tail can spare: more numbers allow smaller
     * changes.
     */
    private static int baseParts(long baseEnd, long rest) {
        long least = Math.ceilDiv(baseEnd, MAX_SIZE);
        long spare = Math.max(0, MAX_NUMBER - least - Math.ceilDiv(rest, MAX_SIZE));
        return (int) Math.min(MAX_NUMBER, Math.min(Math.ceilDiv(baseEnd, MIN_SIZE), least + spare / 2));
    }

    /** The largest value with which this many parts still cover the length. A larger value covers less. */
    private static int doubleEvery(int parts, long partBytes, long length) {
        int reaches = 1;
        int fails = parts + 1;
        while (reaches + 1 < fails) {
            int middle = (reaches + fails) >>> 1;
            if (new PartLayout(0, 0, partBytes, middle).offset(parts) >= length) {
                reaches = middle;
            } else {
                fails = middle;
            }
        }
        return reaches;
    }

    /** Where the tail ends with all its parts. Larger content does not fit. */
    public long reach() {
        return baseEnd + offset(MAX_NUMBER - baseParts);
    }

    /**
     * The number of the tail's part with this byte, which must be at or after {@code baseEnd}; above 10,000 if there is
     * none.
     */
    public int number(long position) {
        long left = position - baseEnd;
        long size = partBytes;
        long index = 0;
        while (size < MAX_SIZE && left >= doubleEvery * size) {
            left -= doubleEvery * size;
            index += doubleEvery;
            size = Math.min(2 * size, MAX_SIZE);
        }
        return (int) Math.min(baseParts + 1 + index + left / size, MAX_NUMBER + 1);
    }

    /** The bytes of a part of the tail. */
    public ByteRange range(int number) {
        long first = offset(number - 1 - baseParts);
        return new ByteRange(baseEnd + first, offset(number - baseParts) - first);
    }

    /** The total length of the tail's first parts. */
    private long offset(int parts) {
        long offset = 0;
        long size = partBytes;
        int left = parts;
        while (size < MAX_SIZE && left > doubleEvery) {
            offset += doubleEvery * size;
            left -= doubleEvery;
            size = Math.min(2 * size, MAX_SIZE);
        }
        return offset + left * size;
    }
}

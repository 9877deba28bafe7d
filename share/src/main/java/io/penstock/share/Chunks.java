package io.penstock.share;

/**
 * The body of a response: chunks that end at multiples of 64 KiB from the start of the object, or where the range ends,
 * each followed by its CRC32C in 4 bytes, the highest first.
 */
final class Chunks {
    /** Bytes. A page and a sector are whole multiples, so that no chunk is in two of them. */
    static final int SIZE = 64 << 10;

    /** Bytes. */
    static final int CHECKSUM = 4;

    private Chunks() {}

    /** Bytes of the chunk that begins there. */
    static int length(long position, long end) {
        return (int) (Math.min((position / SIZE + 1) * SIZE, end) - position);
    }

    /** Bytes of the whole body for a range of an object. */
    static long bodyLength(long from, long end) {
        long chunks = (end + SIZE - 1) / SIZE - from / SIZE;
        return end - from + chunks * CHECKSUM;
    }
}

package io.penstock.writeback.content;

/**
 * The CRC32C of two adjacent runs of bytes, from the CRC32C of each: a part's, from those of its pages.
 *
 * <p>A CRC is the remainder of a division by a polynomial over GF(2). Appending n bytes to others multiplies the value
 * of those by x^8n, and so their remainder too. The CRC's initial and final inversions cancel out.
 */
public final class Crc32cJoin {
    /** Castagnoli's polynomial, lowest power in the highest bit, without x^32: RFC 3720, section 12.1. */
    private static final int POLYNOMIAL = 0x82F63B78;

    /** x^0. */
    private static final int ONE = 1 << 31;

    /** x^(2^i) modulo the polynomial. */
    private static final int[] SQUARES = squares();

    private Crc32cJoin() {}

    /**
     * @param first CRC32C of the first run
     * @param second CRC32C of the second
     * @param secondLength bytes of the second; 0 or more
     */
    public static int join(int first, int second, long secondLength) {
        return multiply(power(secondLength), first) ^ second;
    }

    /** x^(8 · bytes) modulo the polynomial. */
    private static int power(long bytes) {
        int product = ONE;
        for (int i = 0; bytes >>> i != 0; i++) {
            if ((bytes >>> i & 1) != 0) {
                product = multiply(SQUARES[i + 3], product);
            }
        }
        return product;
    }

    private static int multiply(int a, int b) {
        int product = 0;
        int shifted = b;
        for (int bit = ONE; bit != 0; bit >>>= 1) {
            if ((a & bit) != 0) {
                product ^= shifted;
            }
            shifted = shifted >>> 1 ^ ((shifted & 1) != 0 ? POLYNOMIAL : 0);
        }
        return product;
    }

    private static int[] squares() {
        int[] squares = new int[Long.SIZE + 3];
        squares[0] = ONE >>> 1;
        for (int i = 1; i < squares.length; i++) {
            squares[i] = multiply(squares[i - 1], squares[i - 1]);
        }
        return squares;
    }
}

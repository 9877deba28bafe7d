package io.penstock.listing;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** A growing, reusable byte array in which keys and entries of a {@link KeyTable} are built. */
final class GrowingBytes {
    /** The maximum length of a varint: {@link #putVarint} writes 7 bits a byte. */
    private static final int MAX_VARINT = 10;

    /** Only the first {@link #length} bytes are used. */
    byte[] array;

    int length;

    GrowingBytes(int capacity) {
        array = new byte[capacity];
    }

    void clear() {
        length = 0;
    }

    void put(int value) {
        ensure(1);
        array[length++] = (byte) value;
    }

    void put(byte[] from, int offset, int count) {
        ensure(count);
        System.arraycopy(from, offset, array, length, count);
        length += count;
    }

    /**
     * Seven bits a byte, the low ones first; all but the last byte have the high bit set. Negative numbers take ten
     * bytes.
     */
    void putVarint(long value) {
        ensure(MAX_VARINT);
        long rest = value;
        while ((rest & ~0x7f) != 0) {
            array[length++] = (byte) (rest | 0x80);
            rest >>>= 7;
        }
        array[length++] = (byte) rest;
    }

    /**
     * Appends the text's UTF-8.
     *
     * @return false if the text has half a surrogate pair: it is encoded like a character, so that it is ordered like
     *     one, but no valid UTF-8 equals it
     */
    boolean putUtf8(String text) {
        int count = text.length();
        ensure(3 * count);
        byte[] to = array;
        int at = length;
        boolean whole = true;
        for (int i = 0; i < count; i++) {
            char c = text.charAt(i);
            if (c < 0x80) {
                to[at++] = (byte) c;
            } else if (c < 0x800) {
                to[at++] = (byte) (0xc0 | (c >> 6));
                to[at++] = (byte) (0x80 | (c & 0x3f));
            } else if (Character.isHighSurrogate(c) && i + 1 < count && Character.isLowSurrogate(text.charAt(i + 1))) {
                int point = Character.toCodePoint(c, text.charAt(++i));
                to[at++] = (byte) (0xf0 | point >> 18);
                to[at++] = (byte) (0x80 | (point >> 12 & 0x3f));
                to[at++] = (byte) (0x80 | (point >> 6 & 0x3f));
                to[at++] = (byte) (0x80 | (point & 0x3f));
            } else {
                whole &= !Character.isSurrogate(c);
                to[at++] = (byte) (0xe0 | c >> 12);
                to[at++] = (byte) (0x80 | (c >> 6 & 0x3f));
                to[at++] = (byte) (0x80 | (c & 0x3f));
            }
        }
        length = at;
        return whole;
    }

    /** The length of the common beginning. */
    int shared(GrowingBytes other) {
        int mismatch = Arrays.mismatch(array, 0, length, other.array, 0, other.length);
        return mismatch < 0 ? length : mismatch;
    }

    /** The length of the common end, at most {@code most}, without the bytes of the common beginning. */
    int sharedEnd(GrowingBytes other, int begin, int most) {
        int limit = Math.min(most, Math.min(length, other.length) - begin);
        int end = 0;
        while (end < limit && array[length - 1 - end] == other.array[other.length - 1 - end]) {
            end++;
        }
        return end;
    }

    boolean startsWith(GrowingBytes prefix) {
        return length >= prefix.length && Arrays.equals(array, 0, prefix.length, prefix.array, 0, prefix.length);
    }

    /** By unsigned bytes, the order in which S3 lists. */
    int compareTo(GrowingBytes other) {
        return Arrays.compareUnsigned(array, 0, length, other.array, 0, other.length);
    }

    /** The first bytes, which are UTF-8, as text. */
    String text(int count) {
        return new String(array, 0, count, StandardCharsets.UTF_8);
    }

    byte[] copy() {
        return Arrays.copyOf(array, length);
    }

    void ensure(int more) {
        if (array.length - length < more) {
            array = Arrays.copyOf(array, Math.max(array.length * 2, Math.addExact(length, more)));
        }
    }
}

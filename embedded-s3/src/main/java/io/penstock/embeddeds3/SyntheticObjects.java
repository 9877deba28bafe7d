package io.penstock.embeddeds3;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.time.Instant;
import java.util.Arrays;

/**
 * The objects of a bucket, which are not stored: an object's key, size, time, ETag and bytes follow from its number,
 * and the numbers are in key order.
 *
 * @param count number of objects: 1 to 1,000,000,000
 * @param perFolder objects in each folder: 1 or more, and enough for at most 100,000 folders
 */
public record SyntheticObjects(long count, int perFolder) {
    /** The length in bytes of every key, all ASCII: {@code imgs/00012/000123456.jpg}. */
    static final int KEY_LENGTH = 24;

    /** The length in bytes of every ETag without its quotes. It looks like an MD5, as most ETags do, but is not one. */
    static final int ETAG_LENGTH = 32;

    private static final byte[] KEY = "imgs/00000/000000000.jpg".getBytes(UTF_8);
    private static final int FOLDER_END = 10;
    private static final int NUMBER_END = 20;
    private static final long MOST_OBJECTS = 1_000_000_000;
    private static final long MOST_FOLDERS = 100_000;

    private static final int SMALLEST = 20_000;
    private static final int LARGEST = 200_000;
    private static final long FIRST_SECOND =
            Instant.parse("2024-01-01T00:00:00Z").getEpochSecond();

    /** The number of days over which times are spread. */
    static final int DAYS = 700;

    private static final long SECONDS = DAYS * 86_400L;

    public SyntheticObjects {
        if (count < 1 || count > MOST_OBJECTS) {
            throw new IllegalArgumentException("the number of objects is " + count + ", not 1 to " + MOST_OBJECTS);
        }
        if (perFolder < 1 || (count - 1) / perFolder >= MOST_FOLDERS) {
            throw new IllegalArgumentException(
                    count + " objects by " + perFolder + " are more than " + MOST_FOLDERS + " folders");
        }
    }

    /** @param number 0 or more, and less than {@link #count} */
    public String key(long number) {
        byte[] key = new byte[KEY_LENGTH];
        writeKey(number, key, 0);
        return new String(key, UTF_8);
    }

    /** The number of folders below {@code imgs}. */
    public int folders() {
        return (int) ((count - 1) / perFolder) + 1;
    }

    /** The number of the object with exactly this key; -1 if there is none. */
    public long number(String key) {
        byte[] bytes = key.getBytes(UTF_8);
        long number = firstFrom(bytes);
        return number < count && Arrays.equals(bytes, keyBytes(number)) ? number : -1;
    }

    /** The size of an object in bytes: 20,000 to 200,000. */
    public int size(long number) {
        return SMALLEST + (int) Long.remainderUnsigned(hash(number, 0), LARGEST - SMALLEST + 1);
    }

    /** An object's ETag with its quotes. */
    public String etag(long number) {
        byte[] etag = new byte[ETAG_LENGTH];
        writeEtag(number, etag, 0);
        return '"' + new String(etag, UTF_8) + '"';
    }

    /** The object's time, in whole seconds. */
    public Instant lastModified(long number) {
        return Instant.ofEpochSecond(FIRST_SECOND + second(number));
    }

    /**
     * A part of an object's bytes.
     *
     * @param from 0 or more
     * @param length at most the rest of the object
     */
    public byte[] content(long number, int from, int length) {
        byte[] bytes = new byte[length];
        long seed = hash(number, 4);
        for (int i = 0; i < length; i++) {
            int at = from + i;
            bytes[i] = (byte) (mix(seed + (at >>> 3)) >>> ((at & 7) << 3));
        }
        return bytes;
    }

    /** The number of the first key that is at or after {@code bound} in byte order; {@link #count} if there is none. */
    long firstFrom(byte[] bound) {
        return search(bound, KEY_LENGTH, false);
    }

    /** The number of the first key after all that begin with {@code prefix}; {@link #count} if there is none. */
    long firstBehind(byte[] prefix) {
        return search(prefix, Math.min(prefix.length, KEY_LENGTH), true);
    }

    /** @param compared the number of leading bytes of each key to compare */
    private long search(byte[] bound, int compared, boolean behind) {
        byte[] key = new byte[KEY_LENGTH];
        long low = 0;
        long high = count;
        while (low < high) {
            long middle = (low + high) >>> 1;
            writeKey(middle, key, 0);
            int order = Arrays.compareUnsigned(key, 0, compared, bound, 0, bound.length);
            if (order < 0 || (behind && order == 0)) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }

    byte[] keyBytes(long number) {
        byte[] key = new byte[KEY_LENGTH];
        writeKey(number, key, 0);
        return key;
    }

    void writeKey(long number, byte[] to, int at) {
        System.arraycopy(KEY, 0, to, at, KEY_LENGTH);
        writeDigits(number / perFolder, to, at + FOLDER_END);
        writeDigits(number, to, at + NUMBER_END);
    }

    /** Overwrites zeros. */
    private static void writeDigits(long value, byte[] to, int end) {
        int at = end;
        for (long rest = value; rest > 0; rest /= 10) {
            to[--at] = (byte) ('0' + rest % 10);
        }
    }

    void writeEtag(long number, byte[] to, int at) {
        writeHex(hash(number, 1), to, at);
        writeHex(hash(number, 2), to, at + ETAG_LENGTH / 2);
    }

    private static void writeHex(long value, byte[] to, int at) {
        for (int i = 0; i < ETAG_LENGTH / 2; i++) {
            int digit = (int) (value >>> (60 - 4 * i)) & 0xf;
            to[at + i] = (byte) (digit < 10 ? '0' + digit : 'a' + digit - 10);
        }
    }

    /** When it was modified, in seconds after midnight of the first of {@link #DAYS}. */
    int second(long number) {
        return (int) Long.remainderUnsigned(hash(number, 3), SECONDS);
    }

    /** Midnight of one of the days. */
    static Instant day(int day) {
        return Instant.ofEpochSecond(FIRST_SECOND + day * 86_400L);
    }

    /** A hash that differs for each number and each attribute. */
    private static long hash(long number, int what) {
        return mix(mix(number) + what);
    }

    /** SplitMix64. */
    private static long mix(long value) {
        long mixed = value + 0x9e3779b97f4a7c15L;
        mixed = (mixed ^ (mixed >>> 30)) * 0xbf58476d1ce4e5b9L;
        mixed = (mixed ^ (mixed >>> 27)) * 0x94d049bb133111ebL;
        return mixed ^ (mixed >>> 31);
    }
}

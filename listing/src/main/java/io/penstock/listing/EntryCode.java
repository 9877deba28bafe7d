package io.penstock.listing;

import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.StoredObject;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;

/**
 * An entry of a {@link KeyTable}: a key and its object. A key is stored without the bytes that it shares, at its
 * beginning and its end, with the key before it in the block (most names end alike). The first entry has its whole key.
 * An object takes some 24 bytes:
 *
 * <pre>
 *   flags        bits 0-1 form of the ETag, bit 2 time in seconds, bits 3-7 number of the storage class
 *   [class]      varint, if the bits in the flags are all set
 *   ETag         16 bytes; and a varint of the number of parts; or a varint of the length, and as many bytes
 *   size         varint, bytes
 *   time         varint with the sign in its lowest bit: since 1970, or since the time of the block's first entry
 * </pre>
 *
 * <p>Files have the same format: a change here raises the version of {@link KeyTableFile}.
 *
 * <p>An instance reads entries one after another. Confined to one thread.
 */
final class EntryCode {
    /** The longest ETag, in characters; S3's have 34 to 39. */
    static final int MAX_ETAG = 1 << 10;

    /** The maximum number of shared bytes at a key's end. */
    static final int MAX_END = 15;

    private static final int END_BITS = 4;

    /** The shortest middle part whose length takes a varint: the varint holds the rest of the number. */
    private static final int LONG_MIDDLE = 15;

    private static final int ETAG_FORM = 3;
    private static final int LITERAL = 0;
    private static final int MD5 = 1;
    private static final int MULTIPART = 2;

    private static final int SECONDS = 1 << 2;
    private static final int CLASS_SHIFT = 3;
    private static final int FAR_CLASS = 0x1f;

    private static final int HASH_BYTES = 16;
    private static final int HASH_END = 1 + 2 * HASH_BYTES;
    private static final HexFormat HEX = HexFormat.of();
    private static final byte[] DIGITS = "0123456789abcdef".getBytes(StandardCharsets.US_ASCII);

    /** More than nine digits might not fit; S3 has at most 10,000 parts. */
    private static final int MAX_PARTS_DIGITS = 9;

    /** The block that is read, from its first entry to its last. */
    byte[] block = new byte[0];

    /** The position of the next read. */
    int at;

    private int flags;
    private int storageClass;
    private int etagAt;
    private int etagLength;
    private long parts;
    private long size;
    private long millis;

    // ---- writing

    /** @param begin,end number of bytes that the key shares with the key before it */
    static void writeKey(GrowingBytes to, GrowingBytes key, int begin, int end) {
        int middle = key.length - begin - end;
        to.putVarint(begin);
        to.put((Math.min(middle, LONG_MIDDLE) << END_BITS) | end);
        if (middle >= LONG_MIDDLE) {
            to.putVarint(middle - LONG_MIDDLE);
        }
        to.put(key.array, begin, middle);
    }

    /** @param baseMillis the time of the block's first entry; 0 for that entry itself */
    static void write(GrowingBytes to, ObjectVersion version, int storageClass, long baseMillis) {
        int form = etagForm(version.etag());
        long delta = version.lastModified().toEpochMilli() - baseMillis;
        boolean inSeconds = delta % 1000 == 0;
        to.put(form | (inSeconds ? SECONDS : 0) | (Math.min(storageClass, FAR_CLASS) << CLASS_SHIFT));
        if (storageClass >= FAR_CLASS) {
            to.putVarint(storageClass);
        }
        writeEtag(to, version.etag(), form);
        to.putVarint(version.size());
        long time = inSeconds ? delta / 1000 : delta;
        to.putVarint((time << 1) ^ (time >> 63));
    }

    private static void writeEtag(GrowingBytes to, String etag, int form) {
        if (form == LITERAL) {
            byte[] text = etag.getBytes(StandardCharsets.UTF_8);
            to.putVarint(text.length);
            to.put(text, 0, text.length);
            return;
        }
        to.ensure(HASH_BYTES);
        for (int i = 1; i < HASH_END; i += 2) {
            to.array[to.length++] = (byte) ((digit(etag.charAt(i)) << 4) | digit(etag.charAt(i + 1)));
        }
        if (form == MULTIPART) {
            to.putVarint(Long.parseLong(etag, HASH_END + 1, etag.length() - 1, 10));
        }
    }

    /** An ETag is kept as text unless the short form restores it exactly. */
    private static int etagForm(String etag) {
        int last = etag.length() - 1;
        if (last < HASH_END || etag.charAt(0) != '"' || etag.charAt(last) != '"') {
            return LITERAL;
        }
        for (int i = 1; i < HASH_END; i++) {
            if (digit(etag.charAt(i)) < 0) {
                return LITERAL;
            }
        }
        if (last == HASH_END) {
            return MD5;
        }
        int digits = last - HASH_END - 1;
        boolean isNumber = etag.charAt(HASH_END) == '-'
                && digits > 0
                && digits <= MAX_PARTS_DIGITS
                && (digits == 1 || etag.charAt(HASH_END + 1) != '0');
        for (int i = HASH_END + 1; isNumber && i < last; i++) {
            isNumber = etag.charAt(i) >= '0' && etag.charAt(i) <= '9';
        }
        return isNumber ? MULTIPART : LITERAL;
    }

    /** The value of a lower-case hex digit; negative for any other character. */
    private static int digit(char c) {
        if (c >= '0' && c <= '9') {
            return c - '0';
        }
        return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
    }

    // ---- reading

    long readVarint() {
        byte b = block[at++];
        long value = b & 0x7f;
        for (int shift = 7; b < 0; shift += 7) {
            b = block[at++];
            value |= (long) (b & 0x7f) << shift;
        }
        return value;
    }

    /** Reads the key of a block's first entry. */
    void readFirstKey(GrowingBytes key) {
        int length = (int) readVarint();
        key.clear();
        key.put(block, at, length);
        at += length;
    }

    /** Replaces the key before it by the next one. */
    void readKey(GrowingBytes key) {
        int begin = (int) readVarint();
        int lengths = block[at++] & 0xff;
        int end = lengths & MAX_END;
        int middle = lengths >> END_BITS;
        if (middle == LONG_MIDDLE) {
            middle += (int) readVarint();
        }
        int endAt = key.length - end;
        int length = begin + middle + end;
        key.ensure(Math.max(0, length - key.length));
        System.arraycopy(key.array, endAt, key.array, begin + middle, end);
        System.arraycopy(block, at, key.array, begin, middle);
        key.length = length;
        at += middle;
    }

    /** Reads the object after the key. */
    void read(long baseMillis) {
        flags = block[at++];
        storageClass = (flags >> CLASS_SHIFT) & FAR_CLASS;
        if (storageClass == FAR_CLASS) {
            storageClass = (int) readVarint();
        }
        int form = flags & ETAG_FORM;
        etagLength = form == LITERAL ? (int) readVarint() : HASH_BYTES;
        etagAt = at;
        at += etagLength;
        parts = form == MULTIPART ? readVarint() : 0;
        size = readVarint();
        long time = readVarint();
        time = (time >>> 1) ^ -(time & 1);
        millis = baseMillis + ((flags & SECONDS) != 0 ? time * 1000 : time);
    }

    /** When the object was written, in milliseconds since 1970. */
    long millis() {
        return millis;
    }

    /** Whether both have the same ETag, size and time. */
    boolean isSameVersion(EntryCode other) {
        return size == other.size
                && millis == other.millis
                && parts == other.parts
                && (flags & ETAG_FORM) == (other.flags & ETAG_FORM)
                && Arrays.equals(
                        block, etagAt, etagAt + etagLength, other.block, other.etagAt, other.etagAt + other.etagLength);
    }

    /** The object that was read. */
    StoredObject object(String key, List<String> storageClasses) {
        return new StoredObject(
                new ObjectVersion(key, etag(), size, Instant.ofEpochMilli(millis)), storageClasses.get(storageClass));
    }

    private String etag() {
        int form = flags & ETAG_FORM;
        if (form == LITERAL) {
            return new String(block, etagAt, etagLength, StandardCharsets.UTF_8);
        } else if (form == MULTIPART) {
            return '"' + HEX.formatHex(block, etagAt, etagAt + HASH_BYTES) + '-' + parts + '"';
        }
        byte[] text = new byte[HASH_END + 1];
        text[0] = '"';
        for (int i = 0; i < HASH_BYTES; i++) {
            byte b = block[etagAt + i];
            text[1 + 2 * i] = DIGITS[(b >> 4) & 0xf];
            text[2 + 2 * i] = DIGITS[b & 0xf];
        }
        text[HASH_END] = '"';
        return new String(text, StandardCharsets.ISO_8859_1);
    }
}

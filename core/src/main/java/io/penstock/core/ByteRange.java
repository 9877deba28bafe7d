package io.penstock.core;

/**
 * A non-empty run of bytes within an object: {@code [offset, offset + length)}.
 *
 * @param offset first byte, in bytes from the start of the object; 0 or more
 * @param length number of bytes; 1 or more
 */
public record ByteRange(long offset, long length) {
    public ByteRange {
        if (offset < 0 || length <= 0 || offset > Long.MAX_VALUE - length) {
            throw new IllegalArgumentException("invalid byte range: offset " + offset + ", length " + length);
        }
    }

    /** The first byte after the range. */
    public long end() {
        return offset + length;
    }

    /** This range without its first {@code bytes} bytes (fewer than {@link #length}). */
    public ByteRange skip(long bytes) {
        return new ByteRange(offset + bytes, length - bytes);
    }

    /** The {@code Range} header's value: RFC 9110, section 14.1.2; its last position is inclusive. */
    public String toHttpRange() {
        return "bytes=" + offset + "-" + (end() - 1);
    }
}

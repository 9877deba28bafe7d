package io.penstock.core;

import java.time.Instant;

/**
 * One immutable version of one object of the mounted bucket. Two with the same key and {@linkplain #identity identity}
 * hold the same bytes; every cached page relies on that.
 *
 * @param key the object's full key, as S3 returns it after URL decoding; never empty
 * @param etag the entity tag with its quotes, which belong to it (RFC 9110, section 8.8.3); not always an MD5
 * @param size bytes
 * @param lastModified the store's time of the write
 */
public record ObjectVersion(String key, String etag, long size, Instant lastModified) {
    /** The most bytes of one that can be read, 64 TiB: more than any store takes. A listing or a peer may claim more. */
    public static final long LARGEST = 1L << 46;

    private static final int MD5_DIGITS = 32;

    /** An object of S3 has 10,000 parts at most. */
    private static final int MOST_PARTS_DIGITS = 5;

    public ObjectVersion {
        if (key.isEmpty() || etag.isEmpty() || size < 0) {
            throw new IllegalArgumentException(
                    "no such object version: key '" + key + "', etag " + etag + ", size " + size);
        }
    }

    /**
     * Distinguishes the object's versions: the ETag if it is made of the content. Other ETags have an unknown origin,
     * and some do not change with the content: with them size and time count too, in whole seconds, as in headers.
     */
    public String identity() {
        return hasContentEtag() ? etag : etag + " " + size + " " + lastModified.getEpochSecond();
    }

    /** Whether the other has the same {@link #identity}: then, if it has the same key, it is the same version. */
    public boolean hasIdentityOf(ObjectVersion other) {
        return etag.equals(other.etag)
                && ((size == other.size && lastModified.getEpochSecond() == other.lastModified.getEpochSecond())
                        || hasContentEtag());
    }

    /** Whether the ETag looks like an MD5, or one of the parts' MD5s; those of encrypted objects do, and are unique. */
    public boolean hasContentEtag() {
        int from = etag.startsWith("\"") ? 1 : 0;
        int to = etag.length() - (etag.endsWith("\"") ? 1 : 0);
        int parts = from + MD5_DIGITS; // where their number follows, after a hyphen
        return to >= parts
                && isOf("0123456789abcdef", from, parts)
                && (to == parts || (etag.charAt(parts) == '-' && to > parts + 1 && isOf("0123456789", parts + 1, to)));
    }

    /** How many parts it was uploaded in, as far as its ETag tells; 0 if by one request. */
    public int parts() {
        String count = etag.substring(etag.lastIndexOf('-') + 1).replace("\"", "");
        return hasContentEtag() && count.length() <= MOST_PARTS_DIGITS ? Integer.parseInt(count) : 0;
    }

    /** Of each name that is looked up: a regular expression would take more than all else. */
    private boolean isOf(String digits, int from, int to) {
        for (int i = from; i < to; i++) {
            if (digits.indexOf(etag.charAt(i)) < 0) {
                return false;
            }
        }
        return true;
    }
}

package io.penstock.core;

import java.time.Instant;

/**
 * One immutable version of one object of the mounted bucket. Two versions with the same key and {@linkplain #identity
 * identity} contain the same bytes; every cached page relies on that.
 *
 * @param key the object's full key, as S3 returns it after URL decoding; never empty
 * @param etag the entity tag with its quotes, which belong to it (RFC 9110, section 8.8.3); not always an MD5
 * @param size bytes
 * @param lastModified the store's time of the write
 */
public record ObjectVersion(String key, String etag, long size, Instant lastModified) {
    /** The largest readable size in bytes, 64 TiB: no store accepts more, but a listing or a peer may claim it. */
    public static final long LARGEST = 1L << 46;

    private static final int MD5_DIGITS = 32;

    /** An object in S3 has at most 10,000 parts. */
    private static final int MOST_PARTS_DIGITS = 5;

    public ObjectVersion {
        if (key.isEmpty() || etag.isEmpty() || size < 0) {
            throw new IllegalArgumentException(
                    "invalid object version: key '" + key + "', etag " + etag + ", size " + size);
        }
    }

    /**
     * Distinguishes the object's versions: the ETag, if it is derived from the content. Other ETags are of unknown
     * origin, and some do not change with the content. Size and time in whole seconds, as in headers, then count too.
     */
    public String identity() {
        return hasContentEtag() ? etag : etag + " " + size + " " + lastModified.getEpochSecond();
    }

    /** Whether the other has the same {@link #identity}. With the same key, it is the same version. */
    public boolean hasIdentityOf(ObjectVersion other) {
        return etag.equals(other.etag)
                && ((size == other.size && lastModified.getEpochSecond() == other.lastModified.getEpochSecond())
                        || hasContentEtag());
    }

    /** Whether the ETag looks like an MD5 or that of parts' MD5s. Those of encrypted objects do, and are unique. */
    public boolean hasContentEtag() {
        int from = etag.startsWith("\"") ? 1 : 0;
        int to = etag.length() - (etag.endsWith("\"") ? 1 : 0);
        int parts = from + MD5_DIGITS; // the number of parts follows here, after a hyphen
        return to >= parts
                && isOf("0123456789abcdef", from, parts)
                && (to == parts || (etag.charAt(parts) == '-' && to > parts + 1 && isOf("0123456789", parts + 1, to)));
    }

    /** The number of parts in which it was uploaded, according to its ETag; 0 if by one request. */
    public int parts() {
        String count = etag.substring(etag.lastIndexOf('-') + 1).replace("\"", "");
        return hasContentEtag() && count.length() <= MOST_PARTS_DIGITS ? Integer.parseInt(count) : 0;
    }

    /** Runs for each name that is looked up: a regular expression would dominate its cost. */
    private boolean isOf(String digits, int from, int to) {
        for (int i = from; i < to; i++) {
            if (digits.indexOf(etag.charAt(i)) < 0) {
                return false;
            }
        }
        return true;
    }
}

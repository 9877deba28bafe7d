package io.penstock.core;

import java.time.Instant;

/**
 * One immutable version of one object of the mounted bucket. Two versions with the same key and ETag hold the same
 * bytes; that is what every cached page and every conditional request relies on.
 *
 * @param key the object's full key, as S3 returns it after URL decoding; never empty
 * @param etag the entity tag with its quotes, which belong to it (RFC 9110, section 8.8.3); not always an MD5
 * @param size bytes
 * @param lastModified the store's time of the write
 */
public record ObjectVersion(String key, String etag, long size, Instant lastModified) {
    public ObjectVersion {
        if (key.isEmpty() || etag.isEmpty() || size < 0) {
            throw new IllegalArgumentException(
                    "no such object version: key '" + key + "', etag " + etag + ", size " + size);
        }
    }
}

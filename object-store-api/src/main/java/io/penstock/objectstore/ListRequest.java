package io.penstock.objectstore;

import org.jspecify.annotations.Nullable;

/**
 * A request for one page of a listing.
 *
 * @param prefix only keys that begin with it; empty for all
 * @param delimiter rolls keys that contain it after the prefix up into common prefixes; empty for a flat listing
 * @param startAfter only keys (and common prefixes) after this one in UTF-8 byte order; null for all
 * @param continuationToken the previous page's {@link ListPage#nextToken}; null for the first page
 * @param maxKeys 1 to 1000: keys and common prefixes in total
 */
public record ListRequest(
        String prefix,
        String delimiter,
        @Nullable String startAfter,
        @Nullable String continuationToken,
        int maxKeys) {
    /** The maximum number of entries that S3 puts on a page. */
    public static final int MAX_KEYS = 1000;

    public ListRequest {
        if (maxKeys < 1 || maxKeys > MAX_KEYS) {
            throw new IllegalArgumentException("maxKeys must be 1 to " + MAX_KEYS + ", not " + maxKeys);
        }
    }

    /** The first full page under the prefix. */
    public static ListRequest of(String prefix, String delimiter) {
        return new ListRequest(prefix, delimiter, null, null, MAX_KEYS);
    }

    /** The page of the same listing at {@code token}. */
    public ListRequest next(String token) {
        return new ListRequest(prefix, delimiter, startAfter, token, maxKeys);
    }
}

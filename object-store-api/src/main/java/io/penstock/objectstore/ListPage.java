package io.penstock.objectstore;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One page of a listing. Both lists are in UTF-8 byte order on ordinary buckets and unordered on directory buckets.
 *
 * @param objects the objects on this page
 * @param commonPrefixes the prefixes that the delimiter rolled up, each ending in the delimiter
 * @param nextToken continues the listing; null on the last page
 */
public record ListPage(
        List<StoredObject> objects,
        List<String> commonPrefixes,
        @Nullable String nextToken) {
    public ListPage {
        objects = List.copyOf(objects);
        commonPrefixes = List.copyOf(commonPrefixes);
    }
}

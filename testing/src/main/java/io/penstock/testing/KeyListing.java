package io.penstock.testing;

import io.penstock.objectstore.ListPage;
import io.penstock.objectstore.ListRequest;
import io.penstock.objectstore.StoredObject;
import io.penstock.testing.InMemoryObjectStore.Entry;
import io.penstock.testing.InMemoryObjectStore.Order;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.NavigableMap;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One page of a listing. An item is an object, or the common prefix of several; a prefix is listed at the place of its
 * first key. The continuation token is the last item's first key. Confined to one thread.
 */
final class KeyListing {
    /** The greatest code point: a prefix with it appended sorts after all keys with that prefix. */
    private static final String LAST = Character.toString(Character.MAX_CODE_POINT);

    private final NavigableMap<String, Entry> entries;
    private final ListRequest request;
    private final Comparator<? super String> order;
    private final boolean ordered;
    private final List<StoredObject> objects = new ArrayList<>();
    private final List<String> commonPrefixes = new ArrayList<>();
    private final Set<String> seenPrefixes = new HashSet<>();

    KeyListing(NavigableMap<String, Entry> entries, Order order, ListRequest request) {
        this.order = order.comparator();
        this.entries = entries;
        this.request = request;
        this.ordered = order == Order.UTF8;
        String token = request.continuationToken();
        String shown = token == null ? null : commonPrefix(token);
        if (shown != null) {
            seenPrefixes.add(shown);
        }
        if (!ordered && request.startAfter() != null) {
            throw new IllegalArgumentException("directory buckets have no start-after");
        }
    }

    ListPage page() {
        String last = null;
        for (String key = first(); key != null; key = next(key)) {
            if (!key.startsWith(request.prefix())) {
                if (ordered) {
                    break;
                }
                continue;
            }
            if (isWanted(key)) {
                if (objects.size() + commonPrefixes.size() == request.maxKeys()) {
                    return new ListPage(objects, commonPrefixes, last);
                }
                add(key);
                last = key;
            }
        }
        return new ListPage(objects, commonPrefixes, null);
    }

    /** Whether the key's item belongs on this page or a later one; records the prefixes that earlier pages showed. */
    private boolean isWanted(String key) {
        String prefix = commonPrefix(key);
        String token = request.continuationToken();
        if (token != null && order.compare(key, token) <= 0) {
            if (prefix != null) {
                seenPrefixes.add(prefix);
            }
            return false;
        }
        String startAfter = request.startAfter();
        String item = prefix == null ? key : prefix;
        return !seenPrefixes.contains(item) && (startAfter == null || order.compare(item, startAfter) > 0);
    }

    private void add(String key) {
        String prefix = commonPrefix(key);
        Entry entry = entries.get(key);
        if (prefix != null) {
            seenPrefixes.add(prefix);
            commonPrefixes.add(prefix);
        } else if (entry != null) { // otherwise it has been deleted since the last page
            objects.add(entry.object());
        }
    }

    private @Nullable String first() {
        if (!ordered) {
            return entries.isEmpty() ? null : entries.firstKey();
        }
        String from = later(later(request.prefix(), request.startAfter()), request.continuationToken());
        return entries.ceilingKey(from);
    }

    private @Nullable String next(String key) {
        String prefix = commonPrefix(key);
        return entries.higherKey(ordered && prefix != null ? prefix + LAST : key);
    }

    /** The prefix that the delimiter rolls the key up into; null if there is none. */
    private @Nullable String commonPrefix(String key) {
        String delimiter = request.delimiter();
        int at = delimiter.isEmpty()
                ? -1
                : key.indexOf(delimiter, request.prefix().length());
        return at < 0 ? null : key.substring(0, at + delimiter.length());
    }

    private String later(String a, @Nullable String b) {
        return b != null && order.compare(b, a) > 0 ? b : a;
    }
}

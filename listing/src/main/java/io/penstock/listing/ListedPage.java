package io.penstock.listing;

import io.penstock.objectstore.KeyOrder;
import io.penstock.objectstore.ListPage;
import io.penstock.objectstore.StoredObject;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A page whose keys and common prefixes form one sequence.
 *
 * @param ascending whether both are in order, each once
 * @param first the least; null if there are none
 * @param last the greatest; null if there are none
 */
public record ListedPage(
        ListPage page,
        boolean ascending,
        @Nullable String first,
        @Nullable String last) {
    public static ListedPage of(ListPage page) {
        List<StoredObject> objects = page.objects();
        List<String> prefixes = page.commonPrefixes();
        boolean ascending = isAscending(objects, ListedPage::key) && isAscending(prefixes, prefix -> prefix);
        String first = null;
        String last = null;
        if (!objects.isEmpty()) {
            first = key(objects.getFirst());
            last = key(objects.getLast());
        }
        if (!prefixes.isEmpty()) {
            String firstPrefix = prefixes.getFirst();
            String lastPrefix = prefixes.getLast();
            first = first == null || KeyOrder.compare(firstPrefix, first) < 0 ? firstPrefix : first;
            last = last == null || KeyOrder.compare(lastPrefix, last) > 0 ? lastPrefix : last;
        }
        return new ListedPage(page, ascending, first, last);
    }

    public int size() {
        return page.objects().size() + page.commonPrefixes().size();
    }

    /**
     * Whether a store with order could return this page for a listing after the key. A common prefix that contains the
     * key may come again: it has later keys.
     */
    boolean follows(String key) {
        if (!ascending) {
            return false;
        }
        boolean objectsFollow =
                page.objects().isEmpty() || KeyOrder.compare(key(page.objects().getFirst()), key) > 0;
        return objectsFollow
                && page.commonPrefixes().stream()
                        .takeWhile(prefix -> KeyOrder.compare(prefix, key) <= 0)
                        .allMatch(key::startsWith);
    }

    /** The part after one key and up to another; a null {@code end} means no end. */
    ListedPage within(String after, @Nullable String end) {
        List<StoredObject> objects = cut(page.objects(), ListedPage::key, after, end);
        List<String> prefixes = cut(page.commonPrefixes(), prefix -> prefix, after, end);
        if (objects.size() + prefixes.size() == size()) {
            return this;
        }
        return of(new ListPage(objects, prefixes, page.nextToken()));
    }

    /** Whether there may be entries up to the end that are not on this page; a null {@code end} means no end. */
    boolean goesOn(@Nullable String end) {
        return page.nextToken() != null && (end == null || last == null || KeyOrder.compare(last, end) < 0);
    }

    private static String key(StoredObject object) {
        return object.version().key();
    }

    private static <T> boolean isAscending(List<T> items, Function<T, String> key) {
        for (int i = 1; i < items.size(); i++) {
            if (KeyOrder.compare(key.apply(items.get(i - 1)), key.apply(items.get(i))) >= 0) {
                return false;
            }
        }
        return true;
    }

    private static <T> List<T> cut(List<T> items, Function<T, String> key, String after, @Nullable String end) {
        int from = countUpTo(items, key, after);
        int to = end == null ? items.size() : countUpTo(items, key, end);
        return items.subList(from, Math.max(from, to));
    }

    /** The number of entries up to the bound. */
    private static <T> int countUpTo(List<T> items, Function<T, String> key, String bound) {
        int low = 0;
        int high = items.size();
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (KeyOrder.compare(key.apply(items.get(middle)), bound) <= 0) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }
}

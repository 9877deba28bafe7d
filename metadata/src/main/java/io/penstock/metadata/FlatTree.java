package io.penstock.metadata;

import io.penstock.listing.KeyCursor;
import io.penstock.listing.KeyTable;
import io.penstock.objectstore.ListPage;
import io.penstock.objectstore.ListRequest;
import io.penstock.objectstore.StoredObject;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Answers from a {@link KeyTable} in place of the store: what a name refers to, like {@link NameProbe}, and pages of
 * listings, in the form of S3's. Safe for use by any number of threads.
 */
final class FlatTree {
    private static final String DELIMITER = "/";

    private final KeyTable table;

    /** @param table closed by its owner; later calls throw an IllegalStateException */
    FlatTree(KeyTable table) {
        this.table = table;
    }

    /** @param asOf when the oldest page that contributes to this one was requested */
    record DatedPage(ListPage page, long asOf) {}

    /** What a name refers to, and when the oldest page that contributes to the answer was requested. */
    LookupCache.Dated lookup(Directory parent, String name) {
        String key = parent.key(name);
        String below = key + DELIMITER;
        KeyCursor cursor = table.cursor();
        cursor.seek(key);
        long asOf = cursor.asOfGap();
        StoredObject file = null;
        if (cursor.is(key)) {
            asOf = cursor.asOf();
            file = cursor.object();
            cursor.next();
        }
        cursor.advance(below);
        if (cursor.startsWith(below)) {
            return new LookupCache.Dated(new Directory(below), cursor.asOf());
        }
        asOf = KeyCursor.older(asOf, cursor.asOfGap());
        return new LookupCache.Dated(file == null ? Absent.ABSENT : new FileEntry(file), asOf);
    }

    /**
     * A page of a listing, with the delimiter {@code "/"} or none. Its token is its last key or common prefix, and is
     * valid for any table.
     */
    DatedPage list(ListRequest request) {
        if (!request.delimiter().isEmpty() && !request.delimiter().equals(DELIMITER)) {
            throw new IllegalArgumentException("cannot list by the delimiter '" + request.delimiter() + "'");
        }
        String prefix = request.prefix();
        int prefixBytes = prefix.getBytes(StandardCharsets.UTF_8).length;
        boolean isDelimited = !request.delimiter().isEmpty();
        List<StoredObject> objects = new ArrayList<>();
        List<String> commonPrefixes = new ArrayList<>();
        KeyCursor cursor = table.cursor();
        begin(cursor, request);
        long asOf = cursor.asOfGap();
        String last = null;
        while (cursor.startsWith(prefix)) {
            if (objects.size() + commonPrefixes.size() == request.maxKeys()) {
                return new DatedPage(new ListPage(objects, commonPrefixes, last), asOf);
            }
            asOf = KeyCursor.older(asOf, KeyCursor.older(cursor.asOf(), cursor.asOfGap()));
            int delimiter = isDelimited ? cursor.indexOf('/', prefixBytes) : -1;
            if (delimiter < 0) {
                StoredObject object = cursor.object();
                objects.add(object);
                last = object.version().key();
                cursor.next();
            } else {
                last = cursor.key(delimiter + 1);
                commonPrefixes.add(last);
                cursor.skip(last);
            }
        }
        return new DatedPage(new ListPage(objects, commonPrefixes, null), KeyCursor.older(asOf, cursor.asOfGap()));
    }

    /** Moves to the first key of the first item on the page. */
    private static void begin(KeyCursor cursor, ListRequest request) {
        cursor.seek(request.prefix());
        goBehind(cursor, request, request.startAfter());
        goBehind(cursor, request, request.continuationToken());
    }

    private static void goBehind(KeyCursor cursor, ListRequest request, @Nullable String item) {
        if (item == null) {
            return;
        }
        cursor.advance(item);
        int delimiter = request.delimiter().isEmpty() || !item.startsWith(request.prefix())
                ? -1
                : item.indexOf(DELIMITER, request.prefix().length());
        if (delimiter >= 0) {
            // The item is a common prefix: it is not after itself, but represents all keys below it.
            cursor.skip(item.substring(0, delimiter + 1));
        } else if (cursor.is(item)) {
            cursor.next();
        }
    }
}

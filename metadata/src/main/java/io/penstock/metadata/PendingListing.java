package io.penstock.metadata;

import io.penstock.metadata.LookupCache.Name;
import io.penstock.objectstore.ListPage;
import io.penstock.objectstore.ListRequest;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A running listing of the whole bucket, with the changes made here and the store's answers since it began, which it
 * may have missed. Safe for use by any number of threads.
 */
final class PendingListing {
    /** The maximum number of names, and of directories; any others are superseded. Some 200 bytes of heap each. */
    private static final int MAX_NOTED = 20_000;

    private final SupersededNames superseded = new SupersededNames();
    private final Map<Name, Answer> answered = new ConcurrentHashMap<>();

    /** The hash of the page that is the whole directory; empty if there are several pages, which are not compared. */
    private final Map<Directory, OptionalInt> listed = new ConcurrentHashMap<>();

    SupersededNames superseded() {
        return superseded;
    }

    /** The store has answered about a name. */
    void answered(Directory directory, String name, Answer answer) {
        if (answered.size() < MAX_NOTED) {
            answered.put(new Name(directory, name), answer);
        } else {
            superseded.add(directory, name);
        }
    }

    /** The store has listed a directory, or a part of it. */
    void listed(ListRequest request, ListPage page) {
        Directory directory = new Directory(request.prefix());
        if (listed.size() < MAX_NOTED) {
            boolean isFirst = request.startAfter() == null && request.continuationToken() == null;
            listed.put(directory, isFirst ? whole(page) : OptionalInt.empty());
        } else {
            superseded.add(directory, "");
        }
    }

    private static OptionalInt whole(ListPage page) {
        return page.nextToken() == null ? OptionalInt.of(page.hashCode()) : OptionalInt.empty();
    }

    /** Supersedes the names for which the table differs from the store's answers so far. */
    void compare(FlatTree table) {
        answered.forEach((name, answer) -> {
            Answer there = ask(() -> table.lookup(name.directory(), name.name()).answer());
            if (answered.remove(name, answer) && !answer.equals(there)) {
                superseded.add(name.directory(), name.name());
            }
        });
        listed.forEach((directory, page) -> {
            ListRequest first = ListRequest.of(directory.prefix(), "/");
            OptionalInt there = ask(() -> whole(table.list(first).page()));
            if (listed.remove(directory, page) && (page.isEmpty() || !page.equals(there))) {
                superseded.add(directory, "");
            }
        });
    }

    /** Null if the table is already closed or damaged: the next lookup finds out. */
    private static <T> @Nullable T ask(Supplier<T> question) {
        try {
            return question.get();
        } catch (IllegalStateException | UncheckedIOException e) {
            return null;
        }
    }
}

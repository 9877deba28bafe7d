package io.penstock.metadata;

import io.penstock.objectstore.Deadline;
import io.penstock.objectstore.ListPage;
import io.penstock.objectstore.ListPages;
import io.penstock.objectstore.ListRequest;
import io.penstock.objectstore.ObjectStore;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.SharedRequests;
import io.penstock.objectstore.StoredObject;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import org.jspecify.annotations.Nullable;

/**
 * Asks the store what one name refers to, in one round trip: requests the object with that key, and at the same time
 * any key below it. One listing that begins with the name would answer both, but would return up to 1,000 keys where
 * {@code shard-1} is next to {@code shard-10} to {@code shard-1999}.
 */
final class NameProbe {
    private final ObjectStore store;
    private final HiddenKeys hidden;
    private final ExecutorService executor;

    NameProbe(ObjectStore store, HiddenKeys hidden, ExecutorService executor) {
        this.store = store;
        this.hidden = hidden;
        this.executor = executor;
    }

    Answer ask(Directory parent, String name) throws ObjectStoreException, InterruptedException {
        Deadline deadline = store.retries().forReading();
        return deadline.call(() -> ask(parent, name, deadline));
    }

    private Answer ask(Directory parent, String name, Deadline deadline)
            throws ObjectStoreException, InterruptedException {
        String key = parent.key(name);
        Directory directory = parent.child(name);
        CompletableFuture<Boolean> below =
                SharedRequests.start(executor, () -> deadline.call(() -> first(directory.prefix()) != null));
        StoredObject file = file(key);
        if (!SharedRequests.await(below)) {
            return file == null ? Absent.ABSENT : new FileEntry(file);
        }
        if (file != null) {
            hidden.hide(parent, key, HiddenKeys.SHADOWED);
        }
        return directory;
    }

    private @Nullable StoredObject file(String key) throws ObjectStoreException, InterruptedException {
        try {
            return store.find(key);
        } catch (ObjectStoreException.AccessDenied e) {
            // Credentials may allow listing but not reading; names are shown all the same. The object itself is the
            // first of the keys that begin with its key.
            StoredObject first = first(key);
            return first != null && first.version().key().equals(key) ? first : null;
        }
    }

    /**
     * The first object whose key begins with the prefix; null if there is none. The store may return empty pages before
     * it.
     */
    private @Nullable StoredObject first(String prefix) throws ObjectStoreException, InterruptedException {
        ListPages pages = new ListPages(store::list, new ListRequest(prefix, "", null, null, 1));
        ListPage page = pages.next();
        while (page != null && page.objects().isEmpty()) {
            page = pages.next();
        }
        return page == null ? null : page.objects().getFirst();
    }
}

package io.penstock.filesystem;

import io.penstock.core.ErrnoException;
import io.penstock.core.ObjectVersion;
import io.penstock.metadata.Absent;
import io.penstock.metadata.Directory;
import io.penstock.metadata.Tree;
import io.penstock.objectstore.ObjectStore;
import io.penstock.objectstore.ObjectStoreException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Objects whose names are removed here while somebody still reads them: they are deleted with the last close, or when
 * the name is wanted for something else. Until then the tree hides them. Safe for use by any number of threads.
 */
final class Removals {
    private static final Logger LOG = LoggerFactory.getLogger(Removals.class);

    private final Tree tree;
    private final ObjectStore store;

    /** By key. */
    private final ConcurrentMap<String, Removal> pending = new ConcurrentHashMap<>();

    Removals(Tree tree, ObjectStore store) {
        this.tree = tree;
        this.store = store;
    }

    private record Removal(
            Directory parent,
            String name,
            ObjectVersion version,
            AtomicBoolean begun,
            CompletableFuture<Boolean> done) {}

    /** Hides the name, and returns what deletes the object, for when nobody needs it any more */
    Runnable defer(Directory parent, String name, ObjectVersion version) {
        Removal removal = new Removal(parent, name, version, new AtomicBoolean(), new CompletableFuture<>());
        tree.show(parent, name, Absent.ABSENT);
        pending.put(version.key(), removal);
        return () -> begin(removal);
    }

    /** Whether the object of this key is as good as deleted. */
    boolean isPending(String key) {
        return pending.containsKey(key);
    }

    /** The name is wanted: what is pending of it is done now. */
    void finish(Directory parent, String name) throws ErrnoException {
        finish(pending.get(parent.key(name)));
    }

    /** The directory is to be removed: the same for all that is in it. @return whether there was anything */
    boolean finishBelow(Directory directory) throws ErrnoException {
        boolean any = false;
        for (Removal removal : pending.values()) {
            if (removal.version.key().startsWith(directory.prefix())) {
                finish(removal);
                any = true;
            }
        }
        return any;
    }

    private void finish(@org.jspecify.annotations.Nullable Removal removal) throws ErrnoException {
        if (removal != null) {
            begin(removal);
            Errnos.run(() -> {
                try {
                    removal.done.get();
                } catch (java.util.concurrent.ExecutionException e) {
                    throw new IllegalStateException(e.getCause());
                }
            });
        }
    }

    private void begin(Removal removal) {
        if (!removal.begun.compareAndSet(false, true)) {
            return;
        }
        try {
            delete(removal);
        } finally {
            pending.remove(removal.version.key(), removal);
            tree.unshow(removal.parent, removal.name, Absent.ABSENT);
            removal.done.complete(true);
        }
    }

    private void delete(Removal removal) {
        try {
            delete(removal.parent, removal.name, removal.version);
        } catch (ErrnoException e) {
            LOG.warn(
                    "'{}' was removed while it was open, and cannot be deleted now: it shows again. {}",
                    removal.version.key(),
                    e.getMessage());
        }
    }

    /**
     * Deletes the object if it is this version still: somebody else may have made another of the name since, which stays.
     */
    void delete(Directory parent, String name, ObjectVersion version) throws ErrnoException {
        boolean deleted = false;
        try {
            deleted = Errnos.call(() -> deleteIfStill(version));
        } finally {
            if (deleted) {
                tree.changed(parent, name, Absent.ABSENT);
            } else {
                tree.invalidate(parent, name);
            }
        }
    }

    private boolean deleteIfStill(ObjectVersion version) throws ObjectStoreException, InterruptedException {
        try {
            if (!store.head(version.key()).version().etag().equals(version.etag())) {
                return false;
            }
        } catch (ObjectStoreException.NotFound e) {
            return false; // somebody else has
        }
        store.delete(version.key());
        return true;
    }
}

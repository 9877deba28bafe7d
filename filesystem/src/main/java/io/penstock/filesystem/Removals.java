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
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
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
    private final Behind behind;

    /** By key. */
    private final ConcurrentMap<String, Removal> pending = new ConcurrentHashMap<>();

    Removals(Tree tree, ObjectStore store, Behind behind) {
        this.tree = tree;
        this.store = store;
        this.behind = behind;
    }

    /**
     * @param turn held by who deletes, while waiting for the store too
     * @param done with a failure once nobody will try any more
     */
    private record Removal(
            Directory parent, String name, ObjectVersion version, ReentrantLock turn, CompletableFuture<Boolean> done) {
        String key() {
            return version.key();
        }
    }

    /** Hides the name, and returns what deletes the object, for when nobody needs it any more */
    Runnable defer(Directory parent, String name, ObjectVersion version) {
        Removal removal = new Removal(parent, name, version, new ReentrantLock(), new CompletableFuture<>());
        pending.put(removal.key(), removal);
        hide(removal.key());
        return () -> end(removal);
    }

    /** Hides the name if its removal is pending: who was about to open it to be written may have shown it again. */
    void hide(String key) {
        pending.computeIfPresent(key, (_, removal) -> {
            tree.show(removal.parent, removal.name, Absent.ABSENT);
            return removal;
        });
    }

    /** Whether the object of this key is as good as deleted. */
    boolean isPending(String key) {
        return pending.containsKey(key);
    }

    /** The name is wanted: what is pending of it is done now. If it fails, it stays pending, and the name hidden. */
    void finish(Directory parent, String name) throws ErrnoException {
        finish(pending.get(parent.key(name)));
    }

    /** The directory is to be removed: the same for all that is in it. @return whether there was anything */
    boolean finishBelow(Directory directory) throws ErrnoException {
        boolean any = false;
        for (Removal removal : pending.values()) {
            if (removal.key().startsWith(directory.prefix())) {
                finish(removal);
                any = true;
            }
        }
        return any;
    }

    private void finish(@Nullable Removal removal) throws ErrnoException {
        if (removal == null) {
            return;
        }
        FutureTask<Boolean> task = new FutureTask<>(() -> tryOnce(removal));
        behind.start(task); // who waits may be interrupted: the removal goes on
        boolean _ = Errnos.call(() -> {
            try {
                return task.get();
            } catch (ExecutionException e) {
                if (e.getCause() instanceof ErrnoException failure) {
                    throw failure;
                }
                throw new IllegalStateException(e.getCause());
            }
        });
    }

    /** Deletes the object unless that is over: then it is as it ended. */
    private boolean tryOnce(Removal removal) throws ErrnoException {
        removal.turn.lock();
        try {
            if (!removal.done.isDone()) {
                delete(removal.parent, removal.name, removal.version);
                drop(removal);
                removal.done.complete(true);
            } else if (removal.done.isCompletedExceptionally()
                    && removal.done.exceptionNow() instanceof ErrnoException failure) {
                throw failure;
            }
            return true;
        } finally {
            removal.turn.unlock();
        }
    }

    /** Nobody needs the object any more. */
    private void end(Removal removal) {
        removal.turn.lock();
        try {
            tryOnce(removal);
        } catch (ErrnoException e) {
            LOG.warn(
                    "'{}' was removed while it was open, and cannot be deleted now: it shows again. {}",
                    removal.key(),
                    e.getMessage());
            removal.done.completeExceptionally(e);
        } finally {
            drop(removal);
            removal.turn.unlock();
        }
    }

    private void drop(Removal removal) {
        pending.computeIfPresent(removal.key(), (_, current) -> {
            if (!current.equals(removal)) {
                return current; // which hides the name now
            }
            tree.unshow(removal.parent, removal.name, Absent.ABSENT);
            return null;
        });
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
        try {
            store.delete(version.key());
        } catch (ObjectStoreException e) {
            if (!isGone(version.key())) { // else nothing but the answer was lost
                throw e;
            }
        }
        return true;
    }

    /** Whether the store shows that there is no such object. */
    private boolean isGone(String key) throws InterruptedException {
        try {
            store.head(key);
            return false;
        } catch (ObjectStoreException e) {
            return e instanceof ObjectStoreException.NotFound;
        }
    }
}

package io.penstock.filesystem;

import io.penstock.core.Errno;
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
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Names that are removed here, and the objects of those that somebody still reads: they are deleted with the last close,
 * or when the name is wanted for something else. From before its removal until then the tree hides the name. Safe for use
 * by any number of threads.
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

    private static final class Removal {
        final Directory parent;
        final String name;

        /** Held by who removes, while waiting for the store too. */
        final ReentrantLock turn = new ReentrantLock();

        /** With a failure once nobody will try any more. */
        final CompletableFuture<Boolean> done = new CompletableFuture<>();

        /** What is to be deleted yet; null if nothing is. Guarded by {@link #turn}. */
        @Nullable
        ObjectVersion version;

        Removal(Directory parent, String name) {
            this.parent = parent;
            this.name = name;
        }

        String key() {
            return parent.key(name);
        }
    }

    /**
     * A version that somebody reads.
     *
     * @param atEnd has something done when nobody reads it any more; false if that is over
     */
    record Kept(ObjectVersion version, Predicate<Runnable> atEnd) {}

    /** Removes what stands at a name that nothing can be opened by any more, or throws if all is as it was. */
    @FunctionalInterface
    interface Unlink {
        /** @return null if nothing is left to be deleted */
        @Nullable
        Kept run() throws ErrnoException;
    }

    /**
     * Hides the name and has it removed; who wants it waits for that. If it fails, the name shows again.
     *
     * @throws ErrnoException what {@code unlink} has thrown; ENOENT if the name is removed already
     */
    void remove(Directory parent, String name, Unlink unlink) throws ErrnoException {
        Removal removal = new Removal(parent, name);
        removal.turn.lock();
        try {
            if (pending.putIfAbsent(removal.key(), removal) != null) {
                throw new AbsentException(removal.key(), 0);
            }
            hide(removal);
            Kept kept = unlink.run();
            if (kept == null) {
                removal.done.complete(true);
                drop(removal);
            } else {
                removal.version = kept.version();
                hide(removal); // who was about to open it to be written may have shown it again
                if (!kept.atEnd().test(() -> end(removal))) {
                    end(removal);
                }
            }
        } catch (ErrnoException | RuntimeException e) {
            removal.done.completeExceptionally(e);
            drop(removal);
            throw e;
        } finally {
            removal.turn.unlock();
        }
    }

    private void hide(Removal removal) {
        tree.show(removal.parent, removal.name, Absent.ABSENT);
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

    /**
     * Deletes the object unless that is over: then it is as it ended.
     *
     * @throws ErrnoException ESTALE if the name was not removed after all, upon which the kernel looks it up again
     */
    private boolean tryOnce(Removal removal) throws ErrnoException {
        removal.turn.lock();
        try {
            if (removal.version == null && removal.done.isCompletedExceptionally()) {
                throw new ErrnoException(Errno.ESTALE, "'" + removal.key() + "' was not removed after all");
            } else if (!removal.done.isDone()) {
                if (removal.version != null) {
                    delete(removal.parent, removal.name, removal.version);
                }
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

    /** Whether the name has no object now; false if another one is there. */
    private boolean deleteIfStill(ObjectVersion version) throws ObjectStoreException, InterruptedException {
        try {
            store.delete(version);
        } catch (ObjectStoreException.PreconditionFailed e) {
            return false;
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

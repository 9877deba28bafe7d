package io.penstock.filesystem;

import io.penstock.core.Errno;
import io.penstock.core.ErrnoException;
import io.penstock.metadata.Absent;
import io.penstock.metadata.Directory;
import io.penstock.metadata.Inode.Place;
import io.penstock.metadata.Tree;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.ExecutionException;

/**
 * The names that are being removed. The tree hides each while the store deletes its object, so that nothing is opened by
 * it; a call that wants the name waits for that. Safe for use by any number of threads.
 */
final class Removals {
    private final Tree tree;

    /** What tells whether the name was removed in the end. */
    private final ConcurrentMap<Place, CompletableFuture<Boolean>> running = new ConcurrentHashMap<>();

    Removals(Tree tree) {
        this.tree = tree;
    }

    /** Removes a file that cannot be opened any more, or throws if all is as it was. */
    @FunctionalInterface
    interface Removal {
        void run() throws ErrnoException;
    }

    /**
     * Hides the name and has it removed. If that fails, the name shows again.
     *
     * @throws ErrnoException the removal's; ENOENT if another call removes the name
     */
    void remove(Directory parent, String name, Removal removal) throws ErrnoException {
        Place place = new Place(parent, name);
        CompletableFuture<Boolean> ended = new CompletableFuture<>();
        if (running.putIfAbsent(place, ended) != null) {
            throw new AbsentException(place.key(), 0);
        }
        boolean removed = false;
        tree.show(parent, name, Absent.ABSENT);
        try {
            removal.run();
            removed = true;
        } finally {
            running.computeIfPresent(place, (_, _) -> {
                tree.unshow(parent, name, Absent.ABSENT);
                return null;
            });
            ended.complete(removed);
        }
    }

    /**
     * Waits until nobody removes the name any more.
     *
     * @throws ErrnoException ESTALE if it was not removed after all, upon which the kernel looks it up again
     */
    void await(Directory parent, String name) throws ErrnoException {
        CompletableFuture<Boolean> ended = running.get(new Place(parent, name));
        if (ended != null && !Errnos.call(() -> get(ended))) {
            throw new ErrnoException(Errno.ESTALE, "'" + parent.key(name) + "' was not removed after all");
        }
    }

    private static boolean get(CompletableFuture<Boolean> ended) throws InterruptedException {
        try {
            return ended.get();
        } catch (ExecutionException e) {
            throw new IllegalStateException(e);
        }
    }
}

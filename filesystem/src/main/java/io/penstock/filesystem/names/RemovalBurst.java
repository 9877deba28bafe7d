package io.penstock.filesystem.names;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.core.ErrnoException;
import io.penstock.core.ObjectVersion;
import io.penstock.filesystem.files.SharedFiles;
import io.penstock.filesystem.kernel.Errnos;
import io.penstock.metadata.Absent;
import io.penstock.metadata.Directory;
import io.penstock.metadata.FileEntry;
import io.penstock.metadata.Inode;
import io.penstock.metadata.Inode.Place;
import io.penstock.metadata.InodeTable;
import io.penstock.metadata.Node;
import io.penstock.metadata.Tree;
import io.penstock.objectstore.ObjectStore;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.SharedRequests;
import io.penstock.objectstore.StoredObject;
import io.penstock.writeback.Writeback;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Deletes the objects of files that are removed in quick succession, as by {@code rm -r}, up to a thousand at a time.
 * unlink(2) of such a file returns before its object is deleted. The object is deleted within {@link #PAUSE_MILLIS}
 * plus the time of a request, or immediately if a caller needs the outcome. Thread-safe.
 */
public final class RemovalBurst {
    private static final Logger LOG = LoggerFactory.getLogger(RemovalBurst.class);

    /** This many consecutive removals within {@link #WITHIN_NANOS} begin a burst. */
    public static final int FIRST = 8;

    private static final long WITHIN_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** How long a request waits for more objects to delete. */
    private static final long PAUSE_MILLIS = 20;

    private static final int MOST_REQUESTS = 4;

    /** Removals whose objects are not deleted yet: the next removal waits. */
    private static final int MOST_WAITING = 20_000;

    private final Tree tree;
    private final ObjectStore store;
    private final Writeback writeback;
    private final LongSupplier nanoClock;
    private final InodeTable inodes;
    private final SharedFiles files;
    private final Removals removals;
    private final MovingDirectories moving;

    @GuardedBy("this")
    private final Queue<Removal> queue = new ArrayDeque<>();

    /** Those in the queue, and those that are being deleted. */
    @GuardedBy("this")
    private final Set<Removal> waiting = new HashSet<>();

    /** Directories of removals whose objects could not be deleted, until reported to a waiting caller. */
    @GuardedBy("this")
    private final Set<Directory> failed = new HashSet<>();

    /** The times of the last removals by the nano clock, oldest first. */
    @GuardedBy("this")
    private final Queue<Long> last = new ArrayDeque<>();

    /** The number of threads that delete. */
    @GuardedBy("this")
    private int deleting;

    /** Whether a caller waits for the queued removals. */
    @GuardedBy("this")
    private boolean isAwaited;

    /** A name that is no longer shown, and whose object must be deleted. */
    private record Removal(
            Place place, ObjectVersion version, @Nullable Inode inode, CompletableFuture<Boolean> ended) {}

    RemovalBurst(Writing writing, InodeTable inodes, SharedFiles files, Removals removals, MovingDirectories moving) {
        this.tree = files.tree();
        this.store = writing.store();
        this.writeback = writing.writeback();
        this.nanoClock = writing.nanoClock();
        this.inodes = inodes;
        this.files = files;
        this.removals = removals;
        this.moving = moving;
    }

    /** A file was removed, in a burst or not. */
    synchronized void removed() {
        if (last.size() == FIRST) {
            last.remove();
        }
        last.add(nanoClock.getAsLong());
    }

    private synchronized boolean isRunning() {
        return last.size() == FIRST && nanoClock.getAsLong() - last.element() < WITHIN_NANOS;
    }

    /**
     * If the file is part of a burst, queues its object for a batch deletion, which then {@linkplain Removals#end ends}
     * the removal. The call is {@linkplain MovingDirectories#in made} in its directory.
     *
     * @return false if the caller must remove the file: it is not part of a burst, or a process has it open
     */
    boolean takes(Place place, Node node) throws ErrnoException {
        if (!(node instanceof FileEntry(StoredObject object)) || !isRunning()) {
            return false;
        }
        Inode inode = files.inode(place, node);
        if (inode != null && !files.of(inode.number()).isEmpty()) {
            return false;
        }
        Errnos.run(() -> add(new Removal(place, object.version(), inode, new CompletableFuture<>())));
        return true;
    }

    /** Waits while too many objects await deletion. */
    private synchronized void add(Removal removal) throws InterruptedException {
        while (waiting.size() >= MOST_WAITING) {
            wait();
        }
        moving.stay(removal.place.parent());
        writeback.removing(removal.version);
        queue.add(removal);
        waiting.add(removal);
        if (deleting == 0 || (queue.size() >= ObjectStore.MOST_DELETED && deleting < MOST_REQUESTS)) {
            deleting++;
            files.runInBackground(this::delete);
        }
        notifyAll();
    }

    /**
     * A name is about to be created: a program that creates files between its removals is not clearing a folder, and
     * may rely on each removal when it returns. The queued removals do not wait for more.
     */
    synchronized void interrupt() {
        last.clear();
        hurry();
    }

    /** The caller waits for a removal. */
    private synchronized void hurry() {
        isAwaited = !queue.isEmpty();
        notifyAll();
    }

    /**
     * Waits until everything removed in the directory, or below it, is deleted.
     *
     * @return whether all of it was, since the last of these calls
     */
    boolean await(Directory directory) throws ErrnoException {
        List<CompletableFuture<Boolean>> ends;
        synchronized (this) {
            ends = waiting.stream()
                    .filter(removal -> removal.place.parent().isWithin(directory))
                    .map(Removal::ended)
                    .toList();
            if (!ends.isEmpty()) {
                hurry();
            }
        }
        for (CompletableFuture<Boolean> ended : ends) {
            boolean _ = Errnos.call(() -> SharedRequests.await(ended));
        }
        synchronized (this) {
            return !failed.removeIf(parent -> parent.isWithin(directory));
        }
    }

    private void delete() {
        for (List<Removal> batch = take(); !batch.isEmpty(); batch = take()) {
            delete(batch);
        }
    }

    /** The next batch to delete: empty if there is none, and the thread must end. An interrupt ends only the pause. */
    private synchronized List<Removal> take() {
        long until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(PAUSE_MILLIS);
        for (long nanos = until - System.nanoTime();
                nanos > 0 && !isAwaited && !queue.isEmpty() && queue.size() < ObjectStore.MOST_DELETED;
                nanos = until - System.nanoTime()) {
            try {
                wait(TimeUnit.NANOSECONDS.toMillis(nanos) + 1);
            } catch (InterruptedException _) {
                break;
            }
        }
        List<Removal> batch = new ArrayList<>();
        while (!queue.isEmpty() && batch.size() < ObjectStore.MOST_DELETED) {
            batch.add(queue.remove());
        }
        if (queue.isEmpty()) {
            isAwaited = false;
        }
        if (batch.isEmpty()) {
            deleting--;
        }
        return batch;
    }

    /** Ends each removal of the batch in any case: calls wait for them, and so do renames of their directories. */
    private void delete(List<Removal> batch) {
        Queue<Removal> left = new ArrayDeque<>(batch);
        try {
            Set<ObjectVersion> others = new HashSet<>(
                    store.deleteAll(batch.stream().map(Removal::version).toList()));
            if (!others.isEmpty()) {
                LOG.info("Files that were removed here were written by other clients, and stay: {}", others.size());
            }
            while (!left.isEmpty()) {
                Removal removal = left.remove();
                end(removal, others.contains(removal.version), true);
            }
        } catch (ObjectStoreException | InterruptedException | RuntimeException | Error e) { // the thread continues
            LOG.warn(
                    "Some of {} files that were removed in quick succession could not be deleted: {} Those left,"
                            + " such as '{}', are shown again.",
                    batch.size(),
                    e.getMessage(),
                    batch.getFirst().version.key());
        } finally {
            left.forEach(removal -> end(removal, true, false));
        }
    }

    /** @param shows whether the name has an object: another node's if {@code removed}, as rm did not see that one */
    private void end(Removal removal, boolean shows, boolean removed) {
        Place place = removal.place;
        try {
            if (shows) {
                tree.invalidate(place.parent(), place.name());
            } else {
                files.changed(place.parent(), place.name(), Absent.ABSENT);
            }
            if (removed && removal.inode != null) {
                inodes.detach(removal.inode); // before a new file may have the name
            }
            removals.end(place, !shows);
        } catch (RuntimeException | Error e) {
            LOG.error("The removal of '{}' has failed: internal error; please report it", place.key(), e);
        } finally {
            writeback.removed(removal.version);
            moving.leave(place.parent());
            synchronized (this) {
                waiting.remove(removal);
                if (!removed) {
                    failed.add(place.parent());
                }
                notifyAll();
            }
            removal.ended.complete(removed);
        }
    }
}

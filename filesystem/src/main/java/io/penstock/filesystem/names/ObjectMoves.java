package io.penstock.filesystem.names;

import static java.util.stream.Collectors.toList;

import io.penstock.core.Errno;
import io.penstock.core.ErrnoException;
import io.penstock.core.ObjectVersion;
import io.penstock.core.Printable;
import io.penstock.filesystem.names.MovingDirectories.Move;
import io.penstock.filesystem.names.RunningRename.Step;
import io.penstock.metadata.Directory;
import io.penstock.objectstore.KeyOrder;
import io.penstock.objectstore.ListPage;
import io.penstock.objectstore.ListPages;
import io.penstock.objectstore.ListRequest;
import io.penstock.objectstore.ObjectStore;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.StoredObject;
import io.penstock.objectstore.UploadBody;
import io.penstock.objectstore.WriteCondition;
import io.penstock.writeback.RenameJournal;
import io.penstock.writeback.RenameJournal.Copied;
import io.penstock.writeback.Writeback;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Copies the objects of directories that are being renamed, and deletes originals or copies. What to delete depends on
 * what was copied. Thread-safe.
 */
final class ObjectMoves {
    private static final Logger LOG = LoggerFactory.getLogger(ObjectMoves.class);

    /** The maximum number of concurrent copies. */
    static final int CONCURRENCY = 64;

    /** The maximum number of concurrent batch deletions. More are slower: servers delete a batch one by one. */
    private static final int BATCHES = 4;

    /** If another client keeps changing the same object, its copy fails after this many attempts. */
    private static final int ATTEMPTS = 4;

    private final ObjectStore store;
    private final Writeback writeback;
    private final RenameProgress progress;

    ObjectMoves(ObjectStore store, Writeback writeback, RenameProgress progress) {
        this.store = store;
        this.writeback = writeback;
        this.progress = progress;
    }

    /** An object and its copy. */
    record Moved(StoredObject original, ObjectVersion copy) {}

    /** An object's new key. */
    static String target(Move move, String key) {
        return move.to().prefix() + key.substring(move.from().prefix().length());
    }

    /** All objects of the directory, including hidden ones; null if there are more than {@code most}. */
    @Nullable
    List<StoredObject> list(Directory directory, long most) throws ObjectStoreException, InterruptedException {
        List<StoredObject> objects = new ArrayList<>();
        ListPages pages = new ListPages(store::list, ListRequest.of(directory.prefix(), ""));
        for (ListPage page = pages.next(); page != null; page = pages.next()) {
            objects.addAll(page.objects());
            if (objects.size() > most) {
                return null;
            }
        }
        return objects;
    }

    /** Whether the store has any object of the directory. */
    boolean isAny(Directory directory) throws ObjectStoreException, InterruptedException {
        return list(directory, 0) == null;
    }

    // ---- copies

    /**
     * Copies the objects. The directory's own is first: it tells renames of several nodes to one name apart. Directory
     * markers are next: they show other nodes whether to request the attributes of objects in there. An object that
     * another client deletes before its copy is left out. After a failure, copies already sent may still arrive.
     *
     * @param copying runs the copies; they have ended once it is closed
     * @param copies receives the copies, by the keys of the originals. Thread-safe
     * @throws ErrnoException ENOTEMPTY if an object of another client has the key of a copy
     */
    void copy(
            ExecutorService copying,
            Move move,
            List<StoredObject> objects,
            RenameJournal journal,
            Map<String, Moved> copies)
            throws ErrnoException, ObjectStoreException, IOException, InterruptedException {
        Map<Integer, List<StoredObject>> groups = objects.stream()
                .collect(Collectors.groupingBy(
                        object -> turn(move, object.version().key()), TreeMap::new, toList()));
        int atOnce = store.checksDuplicates() ? Integer.MAX_VALUE : ObjectStore.MOST_DELETED;
        try (RenameProgress.Running running = progress.begin(move, Step.COPYING, objects.size())) {
            for (List<StoredObject> group : groups.values()) {
                String last = null;
                for (List<StoredObject> some :
                        batches(group, atOnce, object -> object.version().key())) {
                    if (atOnce < Integer.MAX_VALUE) {
                        last = checkAbsent(move, last, some);
                    }
                    ParallelTasks.forEach(copying, some, CONCURRENCY, object -> {
                        Moved moved = copy(move, object);
                        if (moved != null) {
                            copies.put(moved.original.version().key(), moved);
                            journal.copied(moved.original.version(), moved.copy);
                        }
                        running.done(1);
                    });
                }
            }
        }
    }

    private static int turn(Move move, String key) {
        return key.equals(move.from().prefix()) ? 0 : key.endsWith("/") ? 1 : 2;
    }

    /**
     * Looks for objects at the target keys of a batch: mostly one page of a listing.
     *
     * @param after the last key of the previous batch; null if there is none
     * @return the last key of this batch
     */
    private String checkAbsent(Move move, @Nullable String after, List<StoredObject> batch)
            throws ErrnoException, ObjectStoreException, InterruptedException {
        Set<String> keys = batch.stream()
                .map(object -> target(move, object.version().key()))
                .collect(Collectors.toSet());
        String last = target(move, batch.getLast().version().key());
        ListPages pages =
                new ListPages(store::list, new ListRequest(move.to().prefix(), "", after, null, ListRequest.MAX_KEYS));
        boolean isBehind = false;
        for (ListPage page = pages.next(); page != null; page = isBehind ? null : pages.next()) {
            for (StoredObject there : page.objects()) {
                if (keys.contains(there.version().key())) {
                    throw taken(there.version().key());
                }
                isBehind |= KeyOrder.COMPARATOR.compare(there.version().key(), last) >= 0;
            }
        }
        return last;
    }

    private static ErrnoException taken(String key) {
        return new ErrnoException(Errno.ENOTEMPTY, "another client created '" + Printable.text(key) + "'");
    }

    /**
     * Copies with its properties, which show whether the target directory must be marked. An empty object is created
     * instead of copied, as more stores check conditions on PutObject than on copies.
     */
    private ObjectVersion copyMarker(StoredObject marker, String key)
            throws ObjectStoreException, IOException, InterruptedException {
        ObjectVersion source = marker.version();
        return source.size() > 0
                ? store.copy(source, key, WriteCondition.ABSENT)
                : store.put(key, UploadBody.EMPTY, store.properties(source.key()), WriteCondition.ABSENT);
    }

    /** Null if the object is gone. */
    private @Nullable Moved copy(Move move, StoredObject object)
            throws ErrnoException, ObjectStoreException, IOException, InterruptedException {
        String key = target(move, object.version().key());
        StoredObject source = object;
        for (int attempt = 1; ; attempt++) {
            try {
                boolean isOwn = key.equals(move.to().prefix());
                return new Moved(source, isOwn ? copyMarker(source, key) : writeback.duplicate(source, key));
            } catch (ObjectStoreException.PreconditionFailed | ObjectStoreException.NotFound e) {
                StoredObject now = store.find(source.version().key());
                if (now == null) {
                    return null;
                } else if (isSame(source.version(), now.version()) && store.find(key) != null) {
                    throw taken(key);
                } else if (attempt == ATTEMPTS) {
                    throw e;
                }
                source = now;
            }
        }
    }

    /**
     * Replaces the new name's object with the directory's own. Does nothing if the former has been replaced or removed
     * since.
     */
    void replaceMarker(Move move, ObjectVersion marker) throws ObjectStoreException, InterruptedException {
        StoredObject there = store.find(marker.key());
        if (there != null && isSame(marker, there.version())) {
            ObjectVersion _ = store.copy(marker, move.to().prefix(), WriteCondition.ALWAYS);
            List<ObjectVersion> _ = store.deleteAll(List.of(marker));
        }
    }

    // ---- deletions

    /**
     * Deletes these objects, each if it still is this version; directory markers last.
     *
     * @return those that another client has changed, and that stay
     */
    List<ObjectVersion> delete(Move move, List<ObjectVersion> versions)
            throws ObjectStoreException, IOException, InterruptedException {
        Queue<ObjectVersion> others = new ConcurrentLinkedQueue<>();
        try (RenameProgress.Running running = progress.begin(move, Step.DELETING, versions.size())) {
            for (boolean marker : List.of(false, true)) {
                List<ObjectVersion> some = versions.stream()
                        .filter(version -> version.key().endsWith("/") == marker)
                        .toList();
                ParallelTasks.forEach(batches(some, ObjectStore.MOST_DELETED, ObjectVersion::key), BATCHES, batch -> {
                    others.addAll(store.deleteAll(batch));
                    running.done(batch.size());
                });
            }
        }
        return List.copyOf(others);
    }

    /** In key order: a batch may have to be listed. */
    private static <T> List<List<T>> batches(List<T> items, int size, Function<T, String> key) {
        List<T> inOrder = items.stream()
                .sorted(Comparator.comparing(key, KeyOrder.COMPARATOR))
                .toList();
        List<List<T>> batches = new ArrayList<>();
        for (int i = 0; i < inOrder.size(); i += size) {
            batches.add(inOrder.subList(i, Math.min(inOrder.size(), i + size)));
        }
        return batches;
    }

    /**
     * Deletes the copies whose responses are known, each if it and its original have not changed since. Other objects
     * at the new name stay: they belong to other clients, or are copies whose responses were lost.
     */
    void undo(Move move, Collection<Copied> known) throws ObjectStoreException, IOException, InterruptedException {
        Map<String, ObjectVersion> originals = byKey(list(move.from(), Long.MAX_VALUE));
        Map<String, ObjectVersion> there = byKey(list(move.to(), Long.MAX_VALUE));
        List<ObjectVersion> ours = known.stream()
                .filter(each -> isSame(each.copy(), there.get(each.copy().key()))
                        && isSame(each.original(), originals.get(each.original().key())))
                .map(Copied::copy)
                .toList();
        ours.forEach(copy -> there.remove(copy.key()));
        delete(move, ours).forEach(other -> there.put(other.key(), other));
        originals.remove(move.from().prefix()); // the new name's own, of an empty directory or of another rename
        there.keySet()
                .retainAll(originals.keySet().stream()
                        .map(key -> target(move, key))
                        .toList());
        warn(there.keySet(), move.to(), "other clients wrote them, or the responses to their copies were lost");
    }

    /**
     * Deletes the copies of a former process whose responses it never got. The rename is made again: so what it deletes
     * is there again afterwards, even if another client wrote the same.
     */
    void undoUnknown(Move move) throws ObjectStoreException, IOException, InterruptedException {
        Map<String, ObjectVersion> there = byKey(list(move.to(), Long.MAX_VALUE));
        List<ObjectVersion> equal = new ArrayList<>();
        byKey(list(move.from(), Long.MAX_VALUE)).forEach((key, original) -> {
            ObjectVersion copy = there.get(target(move, key));
            if (copy != null && copy.etag().equals(original.etag()) && copy.size() == original.size()) {
                equal.add(copy);
            }
        });
        delete(move, equal);
    }

    /** Logs the objects that a rename leaves where they are. */
    static void warn(Collection<String> keys, Directory directory, String why) {
        if (!keys.isEmpty()) {
            LOG.warn(
                    "{} objects, '{}' among them, stay in '{}': {}",
                    keys.size(),
                    Printable.text(keys.iterator().next()),
                    Printable.text(directory.prefix()),
                    why);
        }
    }

    /**
     * Continues a rename that had copied everything. An original is deleted if it is the version that was copied, and
     * the new name still has that copy.
     */
    void finish(Move move, Collection<Copied> copied) throws ObjectStoreException, IOException, InterruptedException {
        Map<String, ObjectVersion> originals = byKey(list(move.from(), Long.MAX_VALUE));
        Map<String, ObjectVersion> there = byKey(list(move.to(), Long.MAX_VALUE));
        List<ObjectVersion> left = new ArrayList<>();
        Set<String> others = new TreeSet<>();
        for (Copied each : copied) {
            ObjectVersion original = each.original();
            if (each.copy().equals(original)) {
                replaceMarker(move, original);
            } else if (isSame(each.copy(), there.get(each.copy().key()))
                    && isSame(original, originals.get(original.key()))) {
                left.add(original);
            } else if (originals.containsKey(original.key())) {
                others.add(original.key());
            }
        }
        delete(move, left).forEach(other -> others.add(other.key()));
        warn(others, move.from(), "they, or their copies, have been replaced since");
    }

    /** An object that was written again since has another time, even if its content is the same. */
    private static boolean isSame(ObjectVersion version, @Nullable ObjectVersion there) {
        return there != null
                && there.hasIdentityOf(version)
                && there.lastModified().getEpochSecond()
                        == version.lastModified().getEpochSecond();
    }

    private static Map<String, ObjectVersion> byKey(@Nullable List<StoredObject> objects) {
        Map<String, ObjectVersion> versions = new TreeMap<>();
        if (objects != null) {
            objects.forEach(object -> versions.put(object.version().key(), object.version()));
        }
        return versions;
    }
}

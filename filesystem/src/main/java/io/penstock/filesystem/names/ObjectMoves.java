package io.penstock.filesystem.names;

import io.penstock.core.ObjectVersion;
import io.penstock.filesystem.names.MovingDirectories.Move;
import io.penstock.filesystem.names.RunningRename.Step;
import io.penstock.metadata.Directory;
import io.penstock.objectstore.ListPage;
import io.penstock.objectstore.ListPages;
import io.penstock.objectstore.ListRequest;
import io.penstock.objectstore.ObjectStore;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.StoredObject;
import io.penstock.objectstore.WriteCondition;
import io.penstock.writeback.RenameJournal;
import io.penstock.writeback.RenameJournal.Copied;
import io.penstock.writeback.Writeback;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The objects of directories that get another name: copies them, and deletes originals or copies. Thread-safe. */
final class ObjectMoves {
    /** The maximum number of concurrent copies. */
    static final int CONCURRENCY = 64;

    /** The maximum number of concurrent batches of deletions: more are slower, as servers delete the objects of one in turn. */
    private static final int BATCHES = 4;

    /** Another client that changes the same object again and again makes its copy fail. */
    private static final int ATTEMPTS = 4;

    private static final Pattern MD5 = Pattern.compile("\"[0-9a-f]{32}\"");

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

    /** What an object's key becomes. */
    static String target(Move move, String key) {
        return move.to().prefix() + key.substring(move.from().prefix().length());
    }

    /** All objects of the directory, hidden ones too; null if there are more than {@code most}. */
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

    private List<StoredObject> listAll(Directory directory) throws ObjectStoreException, InterruptedException {
        List<StoredObject> objects = list(directory, Long.MAX_VALUE);
        return objects == null ? List.of() : objects;
    }

    // ---- copies

    /**
     * Copies the objects, those that mark directories first: they say whether other nodes ask the objects in there for
     * their attributes. One that another client deletes before its copy is left out.
     *
     * @param copies takes the copies by the keys of the originals. Safe for use by several threads
     */
    void copy(Move move, List<StoredObject> objects, RenameJournal journal, Map<String, Moved> copies)
            throws ObjectStoreException, IOException, InterruptedException {
        try (RenameProgress.Running running = progress.begin(move, Step.COPYING, objects.size())) {
            for (boolean marker : List.of(true, false)) {
                List<StoredObject> some = objects.stream()
                        .filter(object -> object.version().key().endsWith("/") == marker)
                        .toList();
                SideBySide.forEach(some, CONCURRENCY, object -> {
                    String key = object.version().key();
                    Moved moved = key.equals(move.from().prefix())
                            ? copyMarker(move, object)
                            : copy(object, target(move, key));
                    if (moved != null) {
                        journal.copied(moved.original.version(), moved.copy);
                        copies.put(key, moved);
                    }
                    running.done(1);
                });
            }
        }
    }

    /** With its properties, from which the store sees whether the directory that it gets into is to be marked. */
    private Moved copyMarker(Move move, StoredObject marker) throws ObjectStoreException, InterruptedException {
        return new Moved(marker, store.copy(marker.version(), move.to().prefix(), WriteCondition.ABSENT));
    }

    /** Null if the object is gone. */
    private @Nullable Moved copy(StoredObject object, String key) throws ObjectStoreException, InterruptedException {
        StoredObject source = object;
        for (int attempt = 1; ; attempt++) {
            try {
                return new Moved(source, writeback.duplicate(source, key));
            } catch (ObjectStoreException.PreconditionFailed e) {
                StoredObject now = store.find(source.version().key());
                if (now == null) {
                    return null;
                }
                StoredObject there = store.find(key);
                if (there != null && isCopy(now.version(), there.version(), true)) {
                    return new Moved(now, there.version()); // an attempt whose response was lost
                } else if (there != null || attempt == ATTEMPTS) {
                    throw e;
                }
                source = now;
            }
        }
    }

    /** Puts the directory's own object in the place of the one that the new name had. */
    void replaceMarker(Move move) throws ObjectStoreException, InterruptedException {
        StoredObject marker = store.find(move.from().prefix());
        if (marker != null) {
            ObjectVersion _ = store.copy(marker.version(), move.to().prefix(), WriteCondition.ALWAYS);
            List<ObjectVersion> _ = store.deleteAll(List.of(marker.version()));
        }
    }

    // ---- deletions

    /**
     * Deletes these objects, each if it is still this version: those that mark directories last, and whatever they are, as
     * rmdir does.
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
                        .sorted(Comparator.comparing(ObjectVersion::key)) // a batch may have to be listed
                        .toList();
                SideBySide.forEach(batches(some), BATCHES, batch -> {
                    List<ObjectVersion> changed = store.deleteAll(batch);
                    if (marker) {
                        for (ObjectVersion version : changed) {
                            store.delete(version.key());
                        }
                    } else {
                        others.addAll(changed);
                    }
                    running.done(batch.size());
                });
            }
        }
        return List.copyOf(others);
    }

    private static List<List<ObjectVersion>> batches(List<ObjectVersion> versions) {
        int size = ObjectStore.MOST_DELETED;
        List<List<ObjectVersion>> batches = new ArrayList<>();
        for (int i = 0; i < versions.size(); i += size) {
            batches.add(versions.subList(i, Math.min(versions.size(), i + size)));
        }
        return batches;
    }

    /**
     * Deletes the copies: those that are known, and those that look like one. A copy whose response was lost is of the second
     * kind. One whose original is gone stays, as nothing else has that content.
     *
     * @param keepsMarker whether the object of the new name itself is no copy
     */
    void undo(Move move, Collection<Copied> known, boolean keepsMarker)
            throws ObjectStoreException, IOException, InterruptedException {
        Map<String, ObjectVersion> originals = byKey(listAll(move.from()));
        Map<String, Copied> copies = new HashMap<>();
        known.forEach(copied -> copies.put(copied.copy().key(), copied));
        boolean etagsStay = known.stream().allMatch(copied -> isCopy(copied.original(), copied.copy(), true));
        List<ObjectVersion> ours = new ArrayList<>();
        for (StoredObject object : listAll(move.to())) {
            ObjectVersion there = object.version();
            ObjectVersion original = originals.get(move.from().prefix()
                    + there.key().substring(move.to().prefix().length()));
            Copied copied = copies.get(there.key());
            boolean isOurs = copied == null
                    ? original != null && isCopy(original, there, etagsStay)
                    : copied.copy().hasIdentityOf(there) && isSame(copied.original(), original);
            if (isOurs && !(keepsMarker && there.key().equals(move.to().prefix()))) {
                ours.add(there);
            }
        }
        List<ObjectVersion> _ = delete(move, ours); // the rest has been written by others since
    }

    /**
     * Whether one may be a copy of the other.
     *
     * @param etagsStay whether a copy has its source's ETag, if that is an MD5: not where the store encrypts
     */
    private static boolean isCopy(ObjectVersion original, ObjectVersion copy, boolean etagsStay) {
        boolean areCompared = etagsStay && MD5.matcher(original.etag()).matches();
        return original.size() == copy.size()
                && (!areCompared || original.etag().equals(copy.etag()));
    }

    /**
     * Goes on with a rename that had copied all. An original is deleted if it is the version that was copied and the new name
     * has an object still.
     */
    void finish(Move move, Collection<Copied> copied, boolean replacesMarker)
            throws ObjectStoreException, IOException, InterruptedException {
        if (replacesMarker) {
            replaceMarker(move);
        }
        Map<String, ObjectVersion> originals = byKey(listAll(move.from()));
        Map<String, ObjectVersion> targets = byKey(listAll(move.to()));
        List<ObjectVersion> left = copied.stream()
                .filter(each -> targets.containsKey(each.copy().key()))
                .map(each -> each.original())
                .filter(original -> isSame(original, originals.get(original.key())))
                .toList();
        List<ObjectVersion> _ = delete(move, left);
    }

    /** An object that was written again since has another time, even if it has the same content. */
    private static boolean isSame(ObjectVersion original, @Nullable ObjectVersion there) {
        return there != null
                && there.hasIdentityOf(original)
                && there.lastModified().getEpochSecond()
                        == original.lastModified().getEpochSecond();
    }

    private static Map<String, ObjectVersion> byKey(List<StoredObject> objects) {
        Map<String, ObjectVersion> versions = new HashMap<>();
        objects.forEach(object -> versions.put(object.version().key(), object.version()));
        return versions;
    }
}

package io.penstock.filesystem.names;

import io.penstock.core.Errno;
import io.penstock.core.ErrnoException;
import io.penstock.core.ObjectVersion;
import io.penstock.core.Printable;
import io.penstock.filesystem.files.SharedFiles;
import io.penstock.filesystem.names.MovingDirectories.Move;
import io.penstock.filesystem.names.ObjectMoves.Moved;
import io.penstock.metadata.Names;
import io.penstock.objectstore.Deadline;
import io.penstock.objectstore.ObjectProperties;
import io.penstock.objectstore.ObjectStore;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.StoredObject;
import io.penstock.objectstore.UploadBody;
import io.penstock.objectstore.WriteCondition;
import io.penstock.writeback.RenameJournal;
import io.penstock.writeback.RenameJournal.Copied;
import io.penstock.writeback.Writeback;
import io.penstock.writeback.WrittenFile;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One rename of a directory. Its journal records how far it has come:
 *
 * <pre>
 *   ──copy──▶ COPYING ──all is copied──▶ DELETING ──delete──▶ the end
 *                │ something failed          │ something failed
 *              undo: all is as before      the rest has both names until the next mount
 * </pre>
 *
 * <p>For one thread at a time.
 */
final class DirectoryRename {
    private static final Logger LOG = LoggerFactory.getLogger(DirectoryRename.class);

    /** Attempts of the last step, each with the objects that are left. The store has already retried each request. */
    private static final int ATTEMPTS = 3;

    private final Move move;
    private final ObjectStore store;
    private final Writeback writeback;
    private final long mostObjects;
    private final SharedFiles files;
    private final MovingDirectories moving;
    private final ObjectMoves objects;

    /** Runs the copies. An interrupt does not end them: only the response shows the outcome of a copy that was sent. */
    private final ExecutorService copying = ParallelTasks.threads();

    /** Null before the first copy. */
    private @Nullable RenameJournal journal;

    /** The directory's own object if the new name has one, as an empty directory does: that one is replaced last. */
    private @Nullable ObjectVersion replacing;

    /** By the keys of the originals. */
    private final Map<String, Moved> copies = new ConcurrentHashMap<>();

    DirectoryRename(Move move, Writing writing, SharedFiles files, MovingDirectories moving, RenameProgress progress) {
        this.move = move;
        this.store = writing.store();
        this.writeback = writing.writeback();
        this.mostObjects = Math.min(
                writing.mostRenamed(),
                Writing.mostRenamedIn(Runtime.getRuntime().maxMemory()));
        this.files = files;
        this.moving = moving;
        this.objects = new ObjectMoves(store, writeback, progress);
    }

    /**
     * Copies all objects, and opens them under the new name. If that fails, the caller must {@linkplain #undo undo} it,
     * except after an exception caused by a bug: then the objects at both names stay until the next mount.
     *
     * @throws ErrnoException EXDEV if there are too many objects, or they cannot be journalled
     */
    void copy(MovedNames names) throws ErrnoException, ObjectStoreException, IOException, InterruptedException {
        Queue<WrittenFile> held = new ConcurrentLinkedQueue<>();
        try {
            ParallelTasks.forEach(files.written(move.from()), ObjectMoves.CONCURRENCY, content -> {
                ObjectVersion _ = content.commitAndHold();
                held.add(content);
            });
            Deadline deadline = Deadline.current();
            if (deadline != null) {
                deadline.restart();
            }
            copyObjects();
            names.open(move, copies, replacing != null);
        } catch (RuntimeException | Error e) { // it is unknown whether all is as before, or complete
            copying.close();
            if (journal != null) {
                leave(journal, "could not be finished", e);
            }
            throw e;
        } finally { // before the old names go: from then on a crash finds the files under the new ones only
            held.forEach(WrittenFile::resumeCommits);
        }
    }

    private void copyObjects() throws ErrnoException, ObjectStoreException, IOException, InterruptedException {
        List<StoredObject> all = list();
        String key = Names.marker(move.from());
        boolean replacesMarker = store.find(Names.marker(move.to())) != null;
        StoredObject marker = all.stream()
                .filter(object -> object.version().key().equals(key))
                .findFirst()
                .orElse(null);
        // Without a marker it would inherit the replaced directory's, with its attributes, or, if empty, not exist.
        if (marker == null && (all.isEmpty() || replacesMarker)) {
            marker = makeMarker(key);
            all.add(marker);
        }
        RenameJournal begun = begin();
        journal = begun;
        if (marker != null && replacesMarker) {
            files.kept().learn(move.from()); // the new name shows the known attributes until its marker is there
            all.remove(marker);
            replacing = marker.version();
            begun.copied(marker.version(), marker.version());
        }
        objects.copy(copying, move, all, begun, copies);
        copying.close();
        begun.decide();
    }

    private List<StoredObject> list() throws ErrnoException, ObjectStoreException, InterruptedException {
        List<StoredObject> all = objects.list(move.from(), mostObjects);
        if (all == null) {
            throw refused(move, "it has more objects than rename.most-objects or the heap allows: " + mostObjects);
        }
        for (StoredObject object : all) {
            String key = ObjectMoves.target(move, object.version().key());
            if (Names.utf8Length(key) > Names.MAX_KEY_BYTES) {
                throw new ErrnoException(
                        Errno.ENAMETOOLONG, "a key of more than " + Names.MAX_KEY_BYTES + " bytes: '" + key + "'");
            }
        }
        return all;
    }

    /** mv(1) then copies and removes the objects itself. */
    static ErrnoException refused(Move move, String why) {
        String message = "the directory '" + Printable.text(move.from().prefix()) + "' is not renamed: " + why;
        LOG.warn("{}. Programs get EXDEV; mv then copies and removes the files itself.", message);
        return new ErrnoException(Errno.EXDEV, message);
    }

    private RenameJournal begin() throws ErrnoException {
        try {
            return writeback.beginRename(move.from().prefix(), move.to().prefix());
        } catch (IOException e) {
            throw refused(move, "its journal cannot be written to the staging folder: " + e.getMessage());
        }
    }

    private StoredObject makeMarker(String key) throws ObjectStoreException, IOException, InterruptedException {
        ObjectProperties properties = ObjectProperties.ofNew(key);
        ObjectVersion made = store.put(key, UploadBody.EMPTY, properties, WriteCondition.ABSENT);
        return new StoredObject(made, properties.storageClass());
    }

    /** Deletes the copies, as the rest could not be copied: nothing has changed then. */
    void undo() {
        RenameJournal begun = journal;
        copying.close(); // awaits the responses to copies that were sent
        if (begun == null) {
            return;
        }
        List<Copied> known = copied();
        try {
            List<ObjectVersion> _ = persistently(() -> {
                objects.undo(move, known);
                return List.of();
            });
            begun.end();
        } catch (ObjectStoreException | IOException e) {
            leave(begun, "could not be undone", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            leave(begun, "could not be undone", e);
        } catch (RuntimeException | Error e) {
            leave(begun, "could not be undone", e);
            throw e;
        }
    }

    private List<ObjectVersion> persistently(Deadline.Work<List<ObjectVersion>, IOException> step)
            throws ObjectStoreException, IOException, InterruptedException {
        Deadline deadline = store.retries().forWriting();
        for (int attempt = 1; ; attempt++) {
            try {
                return deadline.call(step);
            } catch (ObjectStoreException e) {
                if (attempt == ATTEMPTS || deadline.isOver()) {
                    throw e;
                }
                LOG.debug("The rename of {} continues after a failure", move, e);
            }
        }
    }

    private List<Copied> copied() {
        return copies.values().stream()
                .map(moved -> new Copied(moved.original().version(), moved.copy()))
                .toList();
    }

    private void leave(RenameJournal begun, String what, Throwable failure) {
        moving.leaveToNextMount(move, begun);
        LOG.error(
                "The rename of '{}' to '{}' {}: {}. Some objects have both names. The next mount continues it if"
                        + " nothing at the new name is changed before then.",
                Printable.text(move.from().prefix()),
                Printable.text(move.to().prefix()),
                what,
                failure.toString());
    }

    /** Deletes the originals once all are copied. If that fails, the remaining ones stay until the next mount. */
    void delete() throws ObjectStoreException, IOException, InterruptedException {
        RenameJournal begun = journal;
        if (begun == null) {
            return;
        }
        try {
            List<ObjectVersion> others = persistently(this::deleteObjects);
            begun.end();
            List<String> keys = others.stream().map(ObjectVersion::key).toList();
            ObjectMoves.warn(keys, move.from(), "other clients have changed them during the rename");
        } catch (ObjectStoreException | IOException | InterruptedException | RuntimeException | Error e) {
            leave(begun, "could not be finished", e);
            throw e;
        }
    }

    private List<ObjectVersion> deleteObjects() throws ObjectStoreException, IOException, InterruptedException {
        if (replacing != null) {
            objects.replaceMarker(move, replacing);
            files.kept().markers().doubt(move.to()); // the replaced one may have been requested since
        }
        return objects.delete(
                move,
                copies.values().stream()
                        .map(moved -> moved.original().version())
                        .toList());
    }
}

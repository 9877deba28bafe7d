package io.penstock.filesystem.names;

import io.penstock.core.ErrnoException;
import io.penstock.core.ObjectVersion;
import io.penstock.filesystem.files.SharedFiles;
import io.penstock.filesystem.kernel.Errnos;
import io.penstock.metadata.Absent;
import io.penstock.metadata.Directory;
import io.penstock.objectstore.ObjectStore;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.StoredObject;
import io.penstock.writeback.Writeback;
import org.jspecify.annotations.Nullable;

/**
 * Deletes objects, and corrects the cached answers about their names. Each request names the version to delete, so a
 * repeated or late one does nothing to another version. If the store refuses because the key has another version, the
 * one to delete is gone. The other version is left alone, except by rm(1) before it returns: rm removes the version
 * that it finds. Thread-safe.
 */
final class Deletions {
    private final SharedFiles files;
    private final ObjectStore store;
    private final Writeback writeback;

    Deletions(SharedFiles files, Writing writing) {
        this.files = files;
        this.store = writing.store();
        this.writeback = writing.writeback();
    }

    /**
     * Deletes the version that the store has now, for rm(1), which waits for this.
     *
     * @param known its version when the store was last asked
     */
    void deleteCurrent(Directory parent, String name, ObjectVersion known) throws ErrnoException {
        delete(parent, name, () -> {
            ObjectVersion current = known;
            while (current != null && !isOfAnother(current) && !isDeleted(writeback.unlinking(current))) {
                current = find(current.key()); // another node has written it since
            }
            return true;
        });
    }

    /** Whether it was made since a former process deleted the name's object for the request that this thread serves again. */
    private boolean isOfAnother(ObjectVersion current) {
        ObjectVersion deleted = writeback.deletedBefore();
        return deleted != null
                && (!current.hasIdentityOf(deleted)
                        || current.lastModified().getEpochSecond()
                                > deleted.lastModified().getEpochSecond());
    }

    private boolean isDeleted(ObjectVersion version) throws ObjectStoreException, InterruptedException {
        try {
            store.delete(version);
            return true;
        } catch (ObjectStoreException.PreconditionFailed _) {
            return false;
        }
    }

    /** Deletes the object unless another node has made another version of it. */
    void deleteIfStill(Directory parent, String name, ObjectVersion version) throws ErrnoException {
        delete(parent, name, () -> {
            try {
                return isDeleted(version);
            } catch (ObjectStoreException e) {
                if (isGone(version.key())) { // only the response was lost
                    return true;
                }
                throw e;
            }
        });
    }

    private boolean isGone(String key) throws InterruptedException {
        try {
            return store.find(key) == null;
        } catch (ObjectStoreException _) {
            return false;
        }
    }

    /** Deletes the object that marks a directory, whatever its content. */
    void deleteMarker(Directory parent, String name, Directory marked) throws ErrnoException {
        delete(parent, name, () -> {
            store.delete(marked.prefix());
            return true;
        });
    }

    /** If it is uncertain whether the name still has an object, the cached answer is invalidated. */
    private void delete(Directory parent, String name, Errnos.Waiting<Boolean> deletion) throws ErrnoException {
        boolean deleted = false;
        try {
            deleted = Errnos.call(deletion);
        } finally {
            if (deleted) {
                files.changed(parent, name, Absent.ABSENT);
            } else {
                files.tree().invalidate(parent, name);
            }
        }
    }

    /** The store's version: null if there is none. */
    @Nullable
    ObjectVersion find(String key) throws ObjectStoreException, InterruptedException {
        StoredObject found = store.find(key);
        return found == null ? null : found.version();
    }
}

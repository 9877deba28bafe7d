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
import org.jspecify.annotations.Nullable;

/**
 * Deletes objects, and corrects the cached answers about their names. Each request says which version it is meant for:
 * one that is repeated, or arrives late, does nothing to another. A refusal, as the key has another version, means that the
 * meant one is gone: nobody deletes the other one, except rm(1) before it returns, which acts on whatever it finds then.
 * Safe for use by any number of threads.
 */
final class Deletions {
    private final SharedFiles files;
    private final ObjectStore store;

    Deletions(SharedFiles files, ObjectStore store) {
        this.files = files;
        this.store = store;
    }

    /**
     * Deletes the version that the store has by now, for rm(1), which waits for this.
     *
     * @param known the version it had when it was last asked
     */
    void deleteCurrent(Directory parent, String name, ObjectVersion known) throws ErrnoException {
        delete(parent, name, () -> {
            ObjectVersion current = known;
            while (current != null && !isDeleted(current)) {
                current = find(current.key()); // another node has written it since
            }
            return true;
        });
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
                if (isGone(version.key())) { // nothing but the answer was lost
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

    /** Deletes the object that marks a directory, whatever it holds. */
    void deleteMarker(Directory parent, String name, Directory marked) throws ErrnoException {
        delete(parent, name, () -> {
            store.delete(marked.prefix());
            return true;
        });
    }

    /** If it is not known whether the name has no object now, nothing is known of the name. */
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

    /** The version that the store has: null if it has none. */
    @Nullable
    ObjectVersion find(String key) throws ObjectStoreException, InterruptedException {
        StoredObject found = store.find(key);
        return found == null ? null : found.version();
    }
}

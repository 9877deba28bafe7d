package io.penstock.filesystem;

import io.penstock.core.Errno;
import io.penstock.core.ErrnoException;
import io.penstock.core.ObjectVersion;
import io.penstock.metadata.Absent;
import io.penstock.metadata.Directory;
import io.penstock.metadata.FileEntry;
import io.penstock.metadata.Inode;
import io.penstock.metadata.InodeTable;
import io.penstock.metadata.LiveFile;
import io.penstock.metadata.Node;
import io.penstock.metadata.Tree;
import io.penstock.objectstore.Deadline;
import io.penstock.objectstore.ObjectProperties;
import io.penstock.objectstore.ObjectStore;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.StoredObject;
import io.penstock.objectstore.WriteCondition;
import io.penstock.writeback.Writeback;
import io.penstock.writeback.WrittenFile;
import java.io.IOException;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Makes directories, removes names and moves them. What is done has been done by the store when a call returns. Each
 * begins with the store and ends with what is known of it here, so that a call that fails changes nothing here. Safe for use by any number of threads; calls that contradict each other
 * end as the store orders them.
 */
final class NameChanges {
    /** renameat2(2)'s flag, from include/uapi/linux/fs.h. */
    private static final int RENAME_NOREPLACE = 1;

    private final Tree tree;
    private final ObjectStore store;
    private final Writeback writeback;
    private final InodeTable inodes;
    private final Places places;
    private final SharedFiles files;
    private final Removals removals;

    NameChanges(Writing writing, InodeTable inodes, Places places, SharedFiles files) {
        this.tree = files.tree();
        this.store = writing.store();
        this.writeback = writing.writeback();
        this.inodes = inodes;
        this.places = places;
        this.files = files;
        this.removals = new Removals(tree);
    }

    /** Waits for the removal of a name that is to be taken by something new. */
    void awaitRemoval(Directory directory, String name) throws ErrnoException {
        removals.await(directory, name);
    }

    /** @return the new directory, not looked up */
    Directory mkdir(long parent, String name) throws ErrnoException {
        Directory directory = places.existingDirectory(parent);
        Places.checkNew(directory, name, "/");
        if (places.find(directory, name) != null) {
            throw exists(directory, name);
        }
        awaitRemoval(directory, name);
        Directory made = new Directory(directory.key(name) + "/");
        ObjectVersion _ = make(directory, name, made.prefix());
        tree.changed(directory, name, made);
        return made;
    }

    /** A new, empty object that nobody else has made: EEXIST if somebody has. */
    ObjectVersion makeFile(Directory directory, String name, Instant modified) throws ErrnoException {
        ObjectVersion made = make(directory, name, directory.key(name));
        files.stored(
                new Inode.Place(directory, name),
                new StoredObject(made, ObjectProperties.ofNew(made.key()).storageClass()),
                modified);
        return made;
    }

    private ObjectVersion make(Directory directory, String name, String key) throws ErrnoException {
        return Errnos.call(() -> {
            try {
                return store.put(key, EmptyBody.INSTANCE, WriteCondition.ABSENT);
            } catch (ObjectStoreException.PreconditionFailed e) {
                throw exists(directory, name);
            } finally {
                tree.invalidate(directory, name); // it may have been made although no answer says so
            }
        });
    }

    /** All that the call asks of the store has one deadline. */
    private void withinOneDeadline(Deadline.Work<@Nullable Void, ErrnoException> call) throws ErrnoException {
        Errnos.run(() -> store.retries().forWriting().call(call));
    }

    void rmdir(long parent, String name) throws ErrnoException {
        withinOneDeadline(() -> {
            removeDirectory(parent, name);
            return null;
        });
    }

    private void removeDirectory(long parent, String name) throws ErrnoException {
        Directory directory = places.directory(parent);
        if (!(places.existing(directory, name) instanceof Directory child)) {
            throw new ErrnoException(Errno.ENOTDIR, "'" + directory.key(name) + "' is not a directory");
        }
        Errnos.run(() -> {
            if (!tree.isEmpty(child)) {
                throw notEmpty(child);
            }
            tree.keep(directory);
            tree.letGo(child);
            delete(directory, name, () -> store.delete(child.prefix()));
        });
        tree.invalidate(directory, name); // an object of this name, which the directory hid, shows now
        Inode inode = inodes.find(child);
        if (inode != null) {
            inodes.detach(inode);
        }
    }

    /** Deletes what has a name at the store. */
    @FunctionalInterface
    private interface Deletion {
        void run() throws ObjectStoreException, InterruptedException;
    }

    /** If it is not known whether that was done, nothing is known of the name. */
    private void delete(Directory directory, String name, Deletion deletion)
            throws ObjectStoreException, InterruptedException {
        boolean deleted = false;
        try {
            deletion.run();
            deleted = true;
        } finally {
            if (deleted) {
                tree.changed(directory, name, Absent.ABSENT);
            } else {
                tree.invalidate(directory, name);
            }
        }
    }

    /**
     * Deletes the object if it is this version still: somebody else may have made another of the name since, which stays.
     */
    private void delete(Directory parent, String name, ObjectVersion version) throws ErrnoException {
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

    private static ErrnoException notEmpty(Directory directory) {
        return new ErrnoException(Errno.ENOTEMPTY, "'" + directory.prefix() + "' is not empty");
    }

    void unlink(long parent, String name) throws ErrnoException {
        Directory directory = places.directory(parent);
        Node node = places.existing(directory, name);
        if (node instanceof Directory) {
            throw new ErrnoException(Errno.EISDIR, "'" + directory.key(name) + "' is a directory");
        }
        checkIsAt(directory, name, node);
        tree.keep(directory);
        withinOneDeadline(() -> {
            removals.remove(directory, name, () -> unlink(directory, name, node));
            return null;
        });
    }

    private void unlink(Directory directory, String name, Node node) throws ErrnoException {
        Inode inode = files.inode(directory, name, node);
        List<SharedFile> sharing = files(inode);
        // What is on its way to the store must not arrive after the deletion.
        withdraw(sharing);
        replacing(sharing, () -> {
            ObjectVersion version =
                    sharing.stream().anyMatch(SharedFile::isPerhapsVisible) ? there(directory.key(name)) : stored(node);
            if (version != null) {
                delete(directory, name, () -> deleteNow(version));
            }
            return true;
        });
        sharing.forEach(SharedFile::remove);
        if (inode != null) {
            inodes.detach(inode);
            removeAll(inode);
        }
    }

    /**
     * Deletes what the store has by now, as rm(1) does, but never what comes after that: each request names the version that
     * it is meant for, so that one that is repeated, or arrives late, does nothing to another.
     *
     * @param known what it had when it was last asked
     */
    private void deleteNow(ObjectVersion known) throws ObjectStoreException, InterruptedException {
        for (ObjectVersion there = known; there != null; there = there(known.key())) {
            try {
                store.delete(there);
                return;
            } catch (ObjectStoreException.PreconditionFailed _) {
                // Somebody else has written it meanwhile.
            }
        }
    }

    /** What is written and is being moved has its object elsewhere: the kernel looks the path up again. */
    private static void checkIsAt(Directory directory, String name, Node node) throws ErrnoException {
        WrittenFile content = written(node);
        if (content != null && !content.key().equals(directory.key(name))) {
            throw new ErrnoException(Errno.ESTALE, "'" + directory.key(name) + "' is '" + content.key() + "' by now");
        }
    }

    /** What the store has, asked of it. */
    private @Nullable ObjectVersion there(String key) throws ObjectStoreException, InterruptedException {
        try {
            return store.head(key).version();
        } catch (ObjectStoreException.NotFound e) {
            return null;
        }
    }

    private List<SharedFile> files(@Nullable Inode inode) {
        return inode == null ? List.of() : files.of(inode.number());
    }

    /** The inode has no name any more: nor has what was opened of it meanwhile. */
    private void removeAll(Inode inode) {
        for (SharedFile file : files.of(inode.number())) {
            file.remove();
            file.settle();
        }
    }

    /** Ends what is being committed. Whoever waits here for the store may be interrupted: then all goes on. */
    private static void withdraw(List<SharedFile> files) throws ErrnoException {
        replacing(files, () -> {
            for (SharedFile file : files) {
                file.withdraw();
            }
            return true;
        });
    }

    /** Does at the store what ends withdrawn files; if it fails, they go on. */
    private static <T extends @Nullable Object> T replacing(List<SharedFile> withdrawn, Errnos.Waiting<T> call)
            throws ErrnoException {
        try {
            return Errnos.call(call);
        } catch (ErrnoException | RuntimeException e) {
            withdrawn.forEach(SharedFile::reinstate);
            throw e;
        }
    }

    private static @Nullable ObjectVersion stored(Node node) {
        return switch (node) {
            case Directory _ -> null;
            case FileEntry(StoredObject object) -> object.version();
            case LiveFile live -> ((SharedFile) live).stored();
        };
    }

    void rename(long parent, String name, long newParent, String newName, int flags) throws ErrnoException {
        if ((flags & ~RENAME_NOREPLACE) != 0) {
            throw new ErrnoException(Errno.EINVAL, "names cannot be exchanged: rename flags " + flags);
        }
        Directory from = places.directory(parent);
        Directory to = places.existingDirectory(newParent);
        Node source = places.existing(from, name);
        Places.checkNew(to, newName, "");
        Node target = places.find(to, newName);
        if (from.equals(to) && name.equals(newName)) {
            return;
        } else if (target != null && flags == RENAME_NOREPLACE) {
            throw exists(to, newName);
        } else if (source instanceof Directory) {
            // What mv(1) then does by itself: copy and remove.
            throw new ErrnoException(Errno.EXDEV, "'" + from.key(name) + "' is a directory, and cannot be moved yet");
        } else if (target instanceof Directory) {
            throw new ErrnoException(Errno.EISDIR, "'" + to.key(newName) + "' is a directory");
        }
        withinOneDeadline(() -> {
            rename(from, name, source, to, newName, target, flags == RENAME_NOREPLACE);
            return null;
        });
    }

    private void rename(
            Directory from,
            String name,
            Node source,
            Directory to,
            String newName,
            @Nullable Node target,
            boolean mustBeNew)
            throws ErrnoException {
        checkIsAt(from, name, source);
        awaitRemoval(to, newName);
        Errnos.run(() -> hold(source));
        Moved moved;
        try {
            moved = move(from, name, source, to, newName, target, mustBeNew);
        } finally {
            letGo(source);
        }
        try {
            delete(from, name, moved.original);
        } catch (ErrnoException e) {
            moveBack(moved, source, from, name);
            throw e;
        } finally {
            if (moved.replaced != null) {
                removeAll(moved.replaced);
            }
        }
    }

    /**
     * What has another name and is yet to lose the old one.
     *
     * @param original has the old name
     * @param copy has the new name
     * @param inode null if none is in use
     * @param replaced what had the new name; null if none is in use
     */
    private record Moved(
            ObjectVersion original,
            ObjectVersion copy,
            @Nullable Inode inode,
            @Nullable Inode replaced) {}

    private Moved move(
            Directory from,
            String name,
            Node source,
            Directory to,
            String newName,
            @Nullable Node target,
            boolean mustBeNew)
            throws ErrnoException {
        ObjectVersion before = version(source);
        Instant modified = source instanceof LiveFile live
                ? live.modified()
                : files.times().of(before);
        Inode replaced = files.inode(to, newName, target);
        List<SharedFile> lost = files(replaced);
        // What is on its way to the store must neither arrive after the copy nor be refused because of it.
        withdraw(lost);
        StoredObject after = replacing(lost, () -> {
            try {
                return copy(before, to, newName, mustBeNew);
            } catch (ObjectStoreException.PreconditionFailed | ObjectStoreException.NotFound e) {
                tree.invalidate(from, name);
                throw e;
            }
        });
        lost.forEach(SharedFile::remove);
        files.stored(new Inode.Place(to, newName), after, modified);
        tree.keep(from);
        Inode inode = files.inode(from, name, source);
        if (inode != null) { // before the old name goes: who reads it meanwhile reads the copy
            move(inode, before, to, newName, after.version());
        } else if (replaced != null) {
            inodes.detach(replaced);
        }
        return new Moved(before, after.version(), inode, replaced);
    }

    /** The old name cannot be removed: the kernel has the inode there, where the file still is, as it was. */
    private void moveBack(Moved moved, Node source, Directory from, String name) throws ErrnoException {
        if (moved.inode == null) {
            return;
        }
        boolean interrupted = Thread.interrupted(); // it is what ended the removal: this must not end for it too
        try {
            Errnos.run(() -> hold(source));
            try {
                if (isUnchanged(source, moved)) { // else its bytes are nowhere but under the new name
                    move(moved.inode, moved.copy, from, name, moved.original);
                }
            } finally {
                letGo(source);
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Whether the source is what was copied; if its handles ended before that was moved, it is of the original still. */
    private static boolean isUnchanged(Node source, Moved moved) {
        ObjectVersion version = source instanceof SharedFile file ? file.stored() : moved.copy;
        return version != null
                && (version.identity().equals(moved.copy.identity())
                        || version.identity().equals(moved.original.identity()));
    }

    /** Has the store have all that is written of a file by now, and no more until {@link #letGo}. */
    private static void hold(Node node) throws ObjectStoreException, IOException, InterruptedException {
        WrittenFile content = written(node);
        if (content != null) {
            content.commitAndHold();
            Deadline deadline = Deadline.current();
            if (deadline != null) {
                deadline.restart();
            }
        }
    }

    private static void letGo(Node node) {
        WrittenFile content = written(node);
        if (content != null) {
            content.resumeCommits();
        }
    }

    private static @Nullable WrittenFile written(Node node) {
        return node instanceof SharedFile file ? file.written() : null;
    }

    private void move(Inode inode, ObjectVersion before, Directory to, String newName, ObjectVersion after) {
        inodes.move(inode, to, newName);
        files.kernelPages().becomes(inode.number(), before.identity(), after.identity());
        if (tree.lookupNow(to, newName) instanceof Node now) {
            inodes.showIf(inode, shown -> KernelNews.isVersion(shown, before), now);
        }
        for (SharedFile file : files.of(inode.number())) {
            file.moved(before, after);
        }
    }

    private StoredObject copy(ObjectVersion version, Directory to, String name, boolean mustBeNew)
            throws ErrnoException, ObjectStoreException, InterruptedException {
        ObjectProperties properties = store.properties(version.key()).renamed(to.key(name));
        WriteCondition condition = mustBeNew ? WriteCondition.ABSENT : WriteCondition.ALWAYS;
        try {
            ObjectVersion copy = writeback.copy(version, to.key(name), properties, condition);
            return new StoredObject(copy, properties.storageClass());
        } catch (ObjectStoreException | InterruptedException e) { // it may be there for all that
            tree.invalidate(to, name);
            if (e instanceof ObjectStoreException.PreconditionFailed
                    && mustBeNew
                    && tree.lookup(to, name) instanceof Node) {
                throw exists(to, name);
            }
            throw e;
        }
    }

    /** The version that the store has of a file. */
    private static ObjectVersion version(Node node) {
        ObjectVersion version = stored(node);
        if (version == null) {
            throw new IllegalStateException(node + " is not in the store");
        }
        return version;
    }

    private static ErrnoException exists(Directory directory, String name) {
        return new ErrnoException(Errno.EEXIST, "there is a '" + directory.key(name) + "' already");
    }
}

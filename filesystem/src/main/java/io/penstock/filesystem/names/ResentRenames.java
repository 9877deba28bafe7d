package io.penstock.filesystem.names;

import io.penstock.core.ErrnoException;
import io.penstock.core.ObjectVersion;
import io.penstock.filesystem.files.SharedFile;
import io.penstock.filesystem.files.SharedFiles;
import io.penstock.filesystem.kernel.Errnos;
import io.penstock.metadata.Directory;
import io.penstock.metadata.FileEntry;
import io.penstock.metadata.Inode;
import io.penstock.metadata.Inode.Place;
import io.penstock.metadata.InodeTable;
import io.penstock.metadata.Node;
import io.penstock.objectstore.StoredObject;
import io.penstock.writeback.WrittenFile;
import org.jspecify.annotations.Nullable;

/**
 * Renames that the kernel has sent again after a former process has made them, completely or up to the copy. Thread-safe.
 */
final class ResentRenames {
    private final Writing writing;
    private final InodeTable inodes;
    private final NodeResolver resolver;
    private final SharedFiles files;
    private final Removals removals;
    private final Deletions deletions;
    private final ObjectMoves objects;

    ResentRenames(
            Writing writing,
            InodeTable inodes,
            NodeResolver resolver,
            SharedFiles files,
            Removals removals,
            Deletions deletions) {
        this.writing = writing;
        this.inodes = inodes;
        this.resolver = resolver;
        this.files = files;
        this.removals = removals;
        this.deletions = deletions;
        this.objects = new ObjectMoves(writing.store(), writing.writeback(), new RenameProgress());
    }

    /**
     * Ends the rename if a former process has begun it. A copy is not made again: that would overwrite what was written
     * since. If the old name is gone and the new one is there, the rename is taken for done, as rename(2) replaces any
     * target. With {@code mustBeNew} (RENAME_NOREPLACE) the new name may be another client's, so only the request's own
     * copy proves it. A directory has no such proof. RENAME_EXCHANGE is not supported.
     *
     * @return false if it must be made
     */
    boolean end(Place from, Place to, boolean mustBeNew) throws ErrnoException {
        if (find(from) instanceof SharedFile file && isMovedTo(file, to)) {
            inodes.move(file.inode(), to.parent(), to.name());
            file.renamed(file.stored());
        }
        Node source = find(from);
        Node target = find(to);
        ObjectVersion copy = writing.madeBefore(to.key());
        if (copy != null && source instanceof FileEntry(StoredObject object)) {
            if (!object.version().lastModified().isAfter(copy.lastModified())) { // otherwise it is another file by now
                deletions.deleteIfStill(from.parent(), from.name(), object.version());
            }
        } else if ((source != null && !isMovedAway(source, target)) || target == null || (mustBeNew && copy == null)) {
            return false;
        }
        files.tree().keep(from.parent());
        Inode inode = inodes.find(from.parent(), from.name());
        if (inode != null) {
            move(inode, to, target);
        }
        return true;
    }

    private @Nullable Node find(Place place) throws ErrnoException {
        return resolver.find(place.parent(), place.name());
    }

    /** Whether only this mount still shows the directory, because the kernel knew it. */
    private boolean isMovedAway(Node source, @Nullable Node target) throws ErrnoException {
        return source instanceof Directory from
                && target instanceof Directory to
                && Errnos.call(() -> !objects.isAny(from) && objects.isAny(to));
    }

    private static boolean isMovedTo(SharedFile file, Place to) {
        WrittenFile content = file.written();
        return content != null && content.key().equals(to.key());
    }

    /** The kernel's inode of the old name gets the new one, and its open files the object there. */
    private void move(Inode inode, Place to, @Nullable Node target) {
        Directory directory = inode.directory();
        if (directory != null) {
            inodes.move(directory, new Directory(to.key() + "/"), _ -> true);
            return;
        } else if (target instanceof SharedFile) { // its content is written under its own inode
            removals.detach(inode);
            return;
        }
        Inode replaced = files.inode(to, target);
        inodes.move(inode, to.parent(), to.name());
        if (target instanceof FileEntry(StoredObject object)) {
            for (SharedFile file : files.of(inode.number())) {
                ObjectVersion before = file.stored();
                if (before != null && before.etag().equals(object.version().etag())) {
                    files.moved(inode.number(), before, object.version());
                }
            }
        }
        removals.detach(replaced);
    }
}

package io.penstock.filesystem.names;

import io.penstock.core.Errno;
import io.penstock.core.ErrnoException;
import io.penstock.core.KernelRequest;
import io.penstock.core.ObjectVersion;
import io.penstock.filesystem.files.SharedFile;
import io.penstock.filesystem.files.SharedFiles;
import io.penstock.filesystem.kernel.Errnos;
import io.penstock.filesystem.kernel.Kernels;
import io.penstock.filesystem.names.Renames.Rename;
import io.penstock.metadata.Directory;
import io.penstock.metadata.Inode;
import io.penstock.metadata.Inode.Place;
import io.penstock.metadata.InodeTable;
import io.penstock.metadata.Node;
import io.penstock.metadata.Tree;
import io.penstock.metadata.attributes.AttributeHeaders;
import io.penstock.metadata.attributes.ObjectAttributes;
import io.penstock.objectstore.ObjectProperties;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.StoredObject;
import io.penstock.objectstore.UploadBody;
import io.penstock.objectstore.WriteCondition;
import io.penstock.writeback.WrittenFile;
import java.time.Instant;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Creates directories, and removes and moves names. The store has made the change when a call returns. Each call
 * changes the store first and the cached state last, so a call that fails changes nothing here. Thread-safe; the store
 * decides the order of conflicting calls. Each call waits for {@link MovingDirectories} in the same way.
 */
public final class NameChanges {
    /** renameat2(2)'s flag, from include/uapi/linux/fs.h. */
    private static final int RENAME_NOREPLACE = 1;

    private final Writing writing;
    private final Tree tree;
    private final InodeTable inodes;
    private final NodeResolver resolver;
    private final SharedFiles files;
    private final Removals removals;
    private final Deletions deletions;
    private final RemovalBurst burst;
    private final Renames renames;
    private final ResentRenames resentRenames;
    private final DirectoryRenames directoryRenames;
    private final MovingDirectories moving;

    public NameChanges(
            Writing writing,
            InodeTable inodes,
            NodeResolver resolver,
            SharedFiles files,
            Kernels kernels,
            MovingDirectories moving) {
        this.writing = writing;
        this.tree = files.tree();
        this.inodes = inodes;
        this.resolver = resolver;
        this.files = files;
        this.removals = new Removals(inodes, files);
        this.deletions = new Deletions(files, writing);
        this.burst = new RemovalBurst(writing, inodes, files, removals, moving);
        this.renames = new Renames(writing, inodes, resolver, files, kernels, removals, deletions);
        this.resentRenames = new ResentRenames(writing, inodes, resolver, files, removals, deletions);
        this.moving = moving;
        this.directoryRenames = new DirectoryRenames(
                writing, resolver, files, kernels, removals, moving, new MovedNames(inodes, files));
    }

    /** Waits for the removal of a name that is about to be reused. */
    public void awaitRemoval(Directory directory, String name) throws ErrnoException {
        burst.interrupt();
        removals.await(directory, name);
    }

    /** Waits until the files removed in a directory, or below it, are deleted. @return whether all were */
    public boolean awaitRemovals(Directory directory) throws ErrnoException {
        return burst.await(directory);
    }

    /** @return the new directory's inode, looked up: a waiting rename of the parent will move it */
    public Inode mkdir(long parent, String name, ObjectAttributes attributes) throws ErrnoException {
        return moving.in(() -> List.of(resolver.directory(parent)), () -> makeDirectory(parent, name, attributes));
    }

    private Inode makeDirectory(long parent, String name, ObjectAttributes attributes) throws ErrnoException {
        Directory directory = vacant(parent, name, "/");
        Directory made = new Directory(directory.key(name) + "/");
        try {
            ObjectVersion _ = make(directory, name, made.prefix(), attributes);
        } catch (ErrnoException e) {
            files.kept().markers().doubt(made);
            throw e;
        }
        files.kept().markers().made(made, attributes);
        changed(made);
        files.changed(directory, name, made);
        tree.made(made);
        changed(directory);
        return inodes.acquire(directory, name, made);
    }

    /** The directory for a new name: EEXIST if the name exists. Waits for the removal of an earlier one. */
    private Directory vacant(long parent, String name, String suffix) throws ErrnoException {
        Directory directory = resolver.existingDirectory(parent);
        NodeResolver.checkNew(directory, name, suffix);
        if (resolver.find(directory, name) != null && writing.madeBefore(directory.key(name) + suffix) == null) {
            throw exists(directory, name);
        }
        awaitRemoval(directory, name);
        return directory;
    }

    /** Creates an empty object: EEXIST if another client has created one. */
    public ObjectVersion makeFile(Directory directory, String name, ObjectAttributes attributes) throws ErrnoException {
        ObjectVersion made = make(directory, name, directory.key(name), attributes);
        Instant now = writing.clock().instant();
        files.stored(
                new Place(directory, name),
                new StoredObject(made, ObjectProperties.ofNew(made.key()).storageClass()),
                now,
                now,
                attributes);
        return made;
    }

    /** Creates an object that has only attributes: EEXIST if this name exists, on any node. */
    public void makeEmpty(long parent, String name, ObjectAttributes attributes) throws ErrnoException {
        moving.run(() -> List.of(resolver.directory(parent)), () -> makeEmptyHere(parent, name, attributes));
    }

    private void makeEmptyHere(long parent, String name, ObjectAttributes attributes) throws ErrnoException {
        Directory directory = vacant(parent, name, "");
        ObjectVersion _ = makeFile(directory, name, attributes);
        changed(directory);
    }

    private ObjectVersion make(Directory directory, String name, String key, ObjectAttributes attributes)
            throws ErrnoException {
        ObjectProperties properties = ObjectProperties.ofNew(key).with(AttributeHeaders.of(attributes));
        return Errnos.call(() -> {
            try {
                return writing.store().put(key, UploadBody.EMPTY, properties, WriteCondition.ABSENT);
            } catch (ObjectStoreException.PreconditionFailed e) {
                throw exists(directory, name);
            } finally {
                files.doubt(key);
                tree.invalidate(directory, name); // it may have been created although no response says so
            }
        });
    }

    /** An entry was created in the directory, or removed from it. */
    private void changed(Directory directory) {
        files.times().set(directory, writing.clock().instant());
    }

    public void rmdir(long parent, String name) throws ErrnoException {
        moving.run(
                () -> withChild(resolver.directory(parent), name),
                () -> writing.withinOneDeadline(() -> removeDirectory(parent, name)));
    }

    private static List<Directory> withChild(Directory directory, String name) {
        return List.of(directory, new Directory(directory.key(name) + "/"));
    }

    private void removeDirectory(long parent, String name) throws ErrnoException {
        Directory directory = resolver.directory(parent);
        Node node = toBeRemoved(directory, name);
        if (node == null) {
            return;
        }
        if (!(node instanceof Directory child)) {
            throw new ErrnoException(Errno.ENOTDIR, "'" + directory.key(name) + "' is not a directory");
        }
        boolean _ = awaitRemovals(child); // the files that could not be deleted are shown again
        if (!Errnos.call(() -> tree.isEmpty(child))) {
            throw new ErrnoException(Errno.ENOTEMPTY, "'" + child.prefix() + "' is not empty");
        }
        tree.keep(directory);
        tree.letGo(child);
        deletions.deleteMarker(directory, name, child);
        files.kept().markers().removed(child);
        changed(directory);
        tree.forget(directory, name); // an object with this name was hidden by the directory, and shows now
        Inode inode = inodes.find(child);
        if (inode != null) {
            inodes.detach(inode);
        }
    }

    public void unlink(long parent, String name) throws ErrnoException {
        moving.run(() -> List.of(resolver.directory(parent)), () -> removeFile(parent, name));
    }

    /** The node that is to be removed: null if a former process has removed it for the same request of the kernel. */
    private @Nullable Node toBeRemoved(Directory directory, String name) throws ErrnoException {
        if (!KernelRequest.mayBeDone()) {
            return resolver.existing(directory, name);
        }
        Node node = resolver.find(directory, name);
        if (node == null) {
            tree.keep(directory);
            removals.detach(inodes.find(directory, name));
            changed(directory);
        }
        return node;
    }

    private void removeFile(long parent, String name) throws ErrnoException {
        Directory directory = resolver.directory(parent);
        Node node = toBeRemoved(directory, name);
        if (node == null) {
            return;
        } else if (node instanceof Directory) {
            throw new ErrnoException(Errno.EISDIR, "'" + directory.key(name) + "' is a directory");
        }
        checkIsAt(directory, name, node);
        tree.keep(directory);
        Place place = new Place(directory, name);
        removals.remove(directory, name, () -> {
            if (burst.takes(place, node)) {
                return false;
            }
            writing.withinOneDeadline(() -> unlink(place, node));
            return true;
        });
        burst.removed();
        changed(directory);
    }

    private void unlink(Place place, Node node) throws ErrnoException {
        Inode inode = files.inode(place, node);
        boolean _ = removals.replacing(inode, () -> {
            boolean isUnknown = removals.isInDoubt(inode) || KernelRequest.mayBeDone();
            ObjectVersion version = isUnknown ? deletions.find(place.key()) : SharedFiles.stored(node);
            if (version != null) {
                deletions.deleteCurrent(place.parent(), place.name(), version);
            }
            return true;
        });
        removals.detach(inode);
    }

    /** A written file that is being moved has its object elsewhere: the kernel looks the path up again. */
    private static void checkIsAt(Directory directory, String name, Node node) throws ErrnoException {
        WrittenFile content = node instanceof SharedFile file ? file.written() : null;
        if (content != null && !content.key().equals(directory.key(name))) {
            throw new ErrnoException(
                    Errno.ESTALE, "'" + directory.key(name) + "' was renamed to '" + content.key() + "'");
        }
    }

    public void rename(long parent, String name, long newParent, String newName, int flags) throws ErrnoException {
        if ((flags & ~RENAME_NOREPLACE) != 0) {
            throw new ErrnoException(Errno.EINVAL, "names cannot be exchanged: rename flags " + flags);
        }
        Directory from = resolver.directory(parent);
        Directory to = resolver.existingDirectory(newParent);
        if (KernelRequest.mayBeDone() && wasRenamed(parent, name, newParent, newName, flags == RENAME_NOREPLACE)) {
            changed(from);
            changed(to);
        } else if (!(resolver.existing(from, name) instanceof Directory)) {
            moving.run(
                    () -> List.of(resolver.directory(parent), resolver.existingDirectory(newParent)),
                    () -> renameFile(parent, name, newParent, newName, flags));
        } else if (!from.equals(to) || !name.equals(newName)) {
            directoryRenames.rename(parent, name, newParent, newName, flags == RENAME_NOREPLACE);
            changed(resolver.directory(parent));
            changed(resolver.directory(newParent));
        }
    }

    private boolean wasRenamed(long parent, String name, long newParent, String newName, boolean mustBeNew)
            throws ErrnoException {
        return moving.in(
                () -> List.of(resolver.directory(parent), resolver.existingDirectory(newParent)),
                () -> resentRenames.end(
                        new Place(resolver.directory(parent), name),
                        new Place(resolver.existingDirectory(newParent), newName),
                        mustBeNew));
    }

    private void renameFile(long parent, String name, long newParent, String newName, int flags) throws ErrnoException {
        Directory from = resolver.directory(parent);
        Directory to = resolver.existingDirectory(newParent);
        Node source = resolver.existing(from, name);
        NodeResolver.checkNew(to, newName, "");
        Node target = resolver.find(to, newName);
        if (from.equals(to) && name.equals(newName)) {
            return;
        } else if (target != null && flags == RENAME_NOREPLACE) {
            throw exists(to, newName);
        } else if (source instanceof Directory) {
            throw new ErrnoException(Errno.ESTALE, "'" + from.key(name) + "' has become a directory");
        } else if (target instanceof Directory) {
            throw new ErrnoException(Errno.EISDIR, "'" + to.key(newName) + "' is a directory");
        }
        checkIsAt(from, name, source);
        writing.withinOneDeadline(() -> {
            awaitRemoval(to, newName);
            renames.rename(new Rename(
                    new Place(from, name), new Place(to, newName), source, target, flags == RENAME_NOREPLACE));
        });
        changed(from);
        changed(to);
    }

    /** The renames of directories that run now. */
    public List<RunningRename> runningRenames() {
        return directoryRenames.running();
    }

    /** Gives the content of a file, identified by its inode, another name, which must be free. */
    public void link(long inode, long newParent, String newName) throws ErrnoException {
        moving.run(
                () -> Stream.concat(resolver.parents(inode).stream(), Stream.of(resolver.directory(newParent)))
                        .toList(),
                () -> linkHere(resolver.node(inode), newParent, newName));
    }

    private void linkHere(Node source, long newParent, String newName) throws ErrnoException {
        Directory to = resolver.existingDirectory(newParent);
        NodeResolver.checkNew(to, newName, "");
        if (writing.links() == Links.REFUSE || source instanceof Directory) {
            throw new ErrnoException(Errno.EPERM, "an object has one name: write.links is " + writing.links());
        } else if (resolver.find(to, newName) != null && writing.madeBefore(to.key(newName)) == null) {
            throw exists(to, newName);
        }
        writing.withinOneDeadline(() -> {
            awaitRemoval(to, newName);
            renames.copy(source, new Place(to, newName));
        });
        changed(to);
    }

    private static ErrnoException exists(Directory directory, String name) {
        return new ErrnoException(Errno.EEXIST, "'" + directory.key(name) + "' already exists");
    }
}

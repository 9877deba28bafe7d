package io.penstock.filesystem;

import static java.util.Objects.requireNonNull;
import static java.util.Objects.requireNonNullElse;

import io.penstock.core.Errno;
import io.penstock.core.ErrnoException;
import io.penstock.core.KernelRequest;
import io.penstock.core.ObjectVersion;
import io.penstock.filesystem.OpenHandle.OpenObject;
import io.penstock.filesystem.files.SharedFile;
import io.penstock.filesystem.files.SharedFiles;
import io.penstock.filesystem.kernel.Errnos;
import io.penstock.filesystem.names.MovingDirectories;
import io.penstock.filesystem.names.NodeResolver;
import io.penstock.filesystem.names.Writing;
import io.penstock.metadata.Directory;
import io.penstock.metadata.FileEntry;
import io.penstock.metadata.Inode.Place;
import io.penstock.metadata.Names;
import io.penstock.metadata.Node;
import io.penstock.metadata.attributes.AttributeHeaders;
import io.penstock.metadata.attributes.KeptAttributes;
import io.penstock.metadata.attributes.ObjectAttributes;
import io.penstock.objectstore.ObjectProperties;
import io.penstock.objectstore.ObjectStore;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.StoredObject;
import io.penstock.objectstore.WriteCondition;
import io.penstock.writeback.Writeback;
import io.penstock.writeback.WrittenFile;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Changes kept attributes: mode, owner, times, extended attributes. Those of a file being written go with its next
 * commit and cost nothing. For any other file the object is copied onto itself, and for a directory its marker. The
 * rules of chmod, chown, utimensat and setxattr are all here. Thread-safe.
 */
final class AttributeChanges {
    /** setxattr(2)'s flags, from include/uapi/linux/xattr.h. */
    static final int XATTR_CREATE = 1;

    static final int XATTR_REPLACE = 2;

    static final int PERMISSION_BITS = 07777;

    private static final int SET_USER = 04000;

    /** Files created in a directory with this bit get the directory's group: inode(7), S_ISGID. */
    static final int SET_GROUP = 02000;

    private static final int GROUP_EXECUTE = 010;

    private final Writing writing;
    private final ObjectStore store;
    private final Writeback writeback;
    private final InstantSource clock;
    private final NodeResolver resolver;
    private final SharedFiles files;
    private final KeptAttributes kept;
    private final Lookups lookups;
    private final FileChanges contents;
    private final AttributeView view;
    private final MovingDirectories moving;
    private final RecentLinks links;

    AttributeChanges(
            Writing writing,
            NodeResolver resolver,
            SharedFiles files,
            Lookups lookups,
            FileChanges contents,
            AttributeView view,
            MovingDirectories moving,
            RecentLinks links) {
        this.writing = writing;
        this.store = writing.store();
        this.writeback = writing.writeback();
        this.clock = writing.clock();
        this.resolver = resolver;
        this.files = files;
        this.kept = files.kept();
        this.lookups = lookups;
        this.contents = contents;
        this.view = view;
        this.moving = moving;
        this.links = links;
    }

    /** @param open the handle of the request; null if it is by name */
    Attributes setattr(long inode, @Nullable OpenObject open, AttributeChange change) throws ErrnoException {
        Integer mode = change.mode();
        if (mode != null && !kept.areKept()) {
            view.checkMode(node(inode, open), mode);
        }
        links.end(inode);
        Long size = change.size();
        if (size != null) {
            if (change.dropsSetIds() && open != null) {
                dropSetIds(open.file());
            } else if (change.dropsSetIds()) {
                dropSetIds(inode);
            }
            contents.truncate(inode, open, size);
        }
        if (change.isOfAttributes() && (size == null || mode != null)) {
            set(inode, open, change);
        }
        Node node = node(inode, open);
        Instant written = change.written();
        if (written != null) {
            contents.touch(node, written);
        }
        return view.of(inode, node, lookups.kept(inode, node), 0);
    }

    private void set(long inode, @Nullable OpenObject open, AttributeChange change) throws ErrnoException {
        if (kept.areKept()) {
            boolean isDirectory = node(inode, open) instanceof Directory;
            set(inode, open, change.modified() != null, before -> changed(before, change, isDirectory));
        } else if (change.modified() != null) {
            contents.touch(node(inode, open), change.modified());
        }
    }

    private static ObjectAttributes changed(ObjectAttributes before, AttributeChange change, boolean isDirectory) {
        ObjectAttributes after = before.withOwner(change.uid(), change.gid());
        if ((change.uid() != null || change.gid() != null) && !isDirectory) {
            after = withoutSetIds(after);
        }
        Integer mode = change.mode();
        if (mode != null) {
            after = after.withPermissions(mode & PERMISSION_BITS);
        }
        if (change.modified() != null) {
            after = after.withModified(change.modified());
        }
        return change.accessed() == null ? after : after.withAccessed(change.accessed());
    }

    /** The rule of chown(2), and of write(2) by a program that may not keep these bits. */
    private static ObjectAttributes withoutSetIds(ObjectAttributes attributes) {
        Integer permissions = attributes.permissions();
        if (permissions == null) {
            return attributes;
        }
        int dropped = SET_USER | ((permissions & GROUP_EXECUTE) == 0 ? 0 : SET_GROUP);
        return (permissions & dropped) == 0 ? attributes : attributes.withPermissions(permissions & ~dropped);
    }

    /** Drops set-user-ID and set-group-ID when a program that may not keep them writes to an open file. Never waits. */
    void dropSetIds(SharedFile file) {
        ObjectAttributes before = file.attributes();
        ObjectAttributes after = withoutSetIds(before);
        if (!after.equals(before)) {
            file.keep(after, clock.instant());
        }
    }

    /** A program that may not keep these bits truncates a file by its name. */
    private void dropSetIds(long inode) throws ErrnoException {
        Node node = node(inode, null);
        ObjectAttributes before = lookups.kept(inode, node);
        if (!withoutSetIds(before).equals(before)) {
            set(inode, null, false, AttributeChanges::withoutSetIds);
        }
    }

    /** @param value null to remove it */
    void setExtended(long inode, String name, byte @Nullable [] value, int flags) throws ErrnoException {
        if (!kept.areKept() || !AttributeHeaders.isOfUsers(name)) {
            throw new ErrnoException(Errno.EOPNOTSUPP, "the attribute " + name + " cannot be set");
        }
        Node node = lookups.node(inode);
        boolean exists = lookups.kept(inode, node).extended().containsKey(name);
        if (value == null && !exists && KernelRequest.mayBeDone()) {
            return; // a former process has removed it for the same request
        } else if (exists && flags == XATTR_CREATE && !isSetBefore(node)) {
            throw new ErrnoException(Errno.EEXIST, "the attribute " + name + " already exists");
        } else if (!exists && flags == XATTR_REPLACE) {
            throw new ErrnoException(Errno.ENODATA, "there is no attribute " + name);
        }
        set(inode, null, false, before -> before.withExtended(name, value));
    }

    /**
     * Whether a former process has set an attribute for the same request of the kernel. For attributes that are not in
     * the store there is no proof, and no other client that could have set them.
     */
    private boolean isSetBefore(Node node) throws ErrnoException {
        if (node instanceof SharedFile file && file.ownAttributes() != null) {
            return KernelRequest.mayBeDone();
        }
        ObjectVersion version = SharedFiles.stored(node);
        String key =
                node instanceof Directory directory ? Names.marker(directory) : version == null ? "" : version.key();
        return writing.madeBefore(key) != null;
    }

    /** @param isTime whether it changes the mtime */
    private void set(long inode, @Nullable OpenObject open, boolean isTime, UnaryOperator<ObjectAttributes> change)
            throws ErrnoException {
        Node node = node(inode, open);
        if (node instanceof Directory directory) {
            if (lookups.parent(inode) == null && inode != FileSystem.ROOT) {
                return; // it was removed, and must not come back
            }
            ObjectAttributes _ = checked(change.apply(lookups.kept(inode, node)));
            moving.run(() -> List.of(resolver.directory(inode)), () -> {
                Directory now = resolver.directory(inode);
                Errnos.run(() -> kept.markers().change(now, change));
            });
            files.times().changed(directory, clock.instant(), isTime);
            return;
        }
        moving.run(() -> resolver.parents(inode), () -> setOfFile(inode, open, change));
    }

    private void setOfFile(long inode, @Nullable OpenObject open, UnaryOperator<ObjectAttributes> change)
            throws ErrnoException {
        Node node = node(inode, open);
        while (node instanceof SharedFile file && isDirty(file)) {
            if (contents.change(file, () -> setOfWritten(file, change))) {
                return;
            }
            node = node(inode, open); // it was committed, and has ended
        }
        if (node instanceof SharedFile removed && removed.links() == 0) {
            removed.keep(checked(change.apply(removed.attributes())), clock.instant());
        } else {
            setOfStored(inode, node, change);
        }
    }

    private void setOfWritten(SharedFile file, UnaryOperator<ObjectAttributes> change) throws ErrnoException {
        ObjectAttributes own = file.ownAttributes();
        ObjectAttributes before =
                own != null ? own : before(file).withModified(null).withAccessed(null); // those were of other content
        file.keep(checked(change.apply(before)), clock.instant());
        if (!file.isOpenToWrite()) {
            files.commitInBackground(requireNonNull(file.written())); // no close will
        }
    }

    private void setOfStored(long inode, Node node, UnaryOperator<ObjectAttributes> change) throws ErrnoException {
        ObjectAttributes before = before(node);
        Attributes shown = view.of(inode, node, before, 0);
        // The copy gets a new time in the store, so the file's time is kept from now on.
        ObjectAttributes after = checked(change.apply(before.withModified(shown.modified())));
        ObjectVersion version = SharedFiles.stored(node);
        if (node instanceof SharedFile file && file.written() != null) {
            contents.keep(inode, after);
        } else if (version != null) {
            Errnos.run(() -> store.retries().forWriting().call(() -> {
                copy(inode, version, after, requireNonNull(after.modified()));
                return null;
            }));
        }
    }

    /** Has the store copy the object onto itself, with these attributes; open handles continue with the copy. */
    private void copy(long inode, ObjectVersion original, ObjectAttributes attributes, Instant modified)
            throws ObjectStoreException, InterruptedException {
        String key = original.key();
        Place place = Place.of(key);
        ObjectProperties properties = store.properties(key).with(AttributeHeaders.of(attributes));
        ObjectVersion copy;
        try {
            copy = writeback.copy(original, key, properties, new WriteCondition.Unchanged(original.etag()));
        } catch (ObjectStoreException | InterruptedException e) { // it may have been made all the same
            kept.doubt(key); // its time stays
            files.tree().invalidate(place.parent(), place.name());
            throw e;
        }
        files.times().set(copy, modified, clock.instant());
        kept.set(copy, attributes);
        // The content is the same, so an unreported error of a close still applies.
        files.tree()
                .changed(
                        place.parent(), place.name(), new FileEntry(new StoredObject(copy, properties.storageClass())));
        if (!copy.hasIdentityOf(original)) {
            files.moved(inode, original, copy);
        }
        for (SharedFile file : files.of(inode)) {
            file.changed(copy, attributes);
        }
    }

    /** The file's attributes: those changed here and not committed, or those that the store has now. */
    private ObjectAttributes before(Node node) throws ErrnoException {
        ObjectVersion version = SharedFiles.stored(node);
        ObjectAttributes own = node instanceof SharedFile file ? file.ownAttributes() : null;
        return own != null || version == null
                ? requireNonNullElse(own, ObjectAttributes.NONE)
                : Errnos.call(() -> kept.ask(version.key()));
    }

    /** @throws ErrnoException ENOSPC if no object's metadata can hold them */
    private static ObjectAttributes checked(ObjectAttributes attributes) throws ErrnoException {
        if (ObjectProperties.metadataBytes(AttributeHeaders.of(attributes)) > AttributeHeaders.MOST_BYTES) {
            throw new ErrnoException(
                    Errno.ENOSPC,
                    "the attributes exceed the " + AttributeHeaders.MOST_BYTES + " bytes of an object's metadata");
        }
        return attributes;
    }

    /** Whether something of it remains to be committed, so that the change goes with it. */
    private static boolean isDirty(SharedFile file) {
        WrittenFile written = file.written();
        return written != null && written.isDirty();
    }

    private Node node(long inode, @Nullable OpenObject open) throws ErrnoException {
        return open == null ? lookups.node(inode) : open.file();
    }
}

package io.penstock.filesystem;

import static java.util.Objects.requireNonNullElse;

import io.penstock.core.Errno;
import io.penstock.core.ErrnoException;
import io.penstock.core.ObjectVersion;
import io.penstock.filesystem.AttributeLookup.Denied;
import io.penstock.filesystem.AttributeLookup.Found;
import io.penstock.filesystem.AttributeLookup.Gone;
import io.penstock.filesystem.files.ModifiedTimes;
import io.penstock.filesystem.files.SharedFile;
import io.penstock.filesystem.kernel.Errnos;
import io.penstock.metadata.Directory;
import io.penstock.metadata.FileEntry;
import io.penstock.metadata.LiveFile;
import io.penstock.metadata.Node;
import io.penstock.metadata.attributes.FileKind;
import io.penstock.metadata.attributes.KeptAttributes;
import io.penstock.metadata.attributes.ObjectAttributes;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.StoredObject;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What stat, access and xattr calls show of a node. All methods combine kept attributes with the mount's settings, and
 * there is one for each kind of node and call. Thread-safe.
 */
final class AttributeView {
    private static final Logger LOG = LoggerFactory.getLogger(AttributeView.class);

    /** The prefix of the names of attributes that users may set: xattr(7). */
    static final String USER = "user.";

    /** The prefix of the names of attributes that only this file system sets. */
    static final String OWN = "user.penstock.";

    private static final String ETAG = OWN + "etag";
    private static final String STORAGE_CLASS = OWN + "storage-class";
    private static final String KEY = OWN + "key";

    /** st_size of directories: a block, as on ext4. Programs ignore it. */
    private static final int DIRECTORY_SIZE = 4096;

    /** access(2)'s W_OK. */
    private static final int WRITE = 2;

    /** access(2)'s X_OK. */
    private static final int EXECUTE = 1;

    /** The permission bits of everyone except the owner. */
    private static final int OTHERS = 077;

    /** All execute bits: root needs one of them to execute a file. */
    private static final int ANY_EXECUTE = 0111;

    /** The permissions of symbolic links, which are never checked: symlink(7). */
    private static final int LINK_MODE = 0777;

    private final FileSystemConfig config;
    private final Instant mountTime;
    private final ModifiedTimes times;
    private final KeptAttributes kept;
    private final RecentLinks links;
    private final boolean readOnly;

    AttributeView(
            FileSystemConfig config,
            Instant mountTime,
            ModifiedTimes times,
            KeptAttributes kept,
            RecentLinks links,
            boolean readOnly) {
        this.config = config;
        this.mountTime = mountTime;
        this.times = times;
        this.kept = kept;
        this.links = links;
        this.readOnly = readOnly;
    }

    // ---- kept attributes

    /** Requests what {@link #kept} for a name in the directory will need first. */
    void expect(Directory directory) {
        kept.expect(directory);
    }

    /**
     * Requests what {@link #kept} for these nodes will need.
     *
     * @throws ErrnoException EIO if the store is away; EINTR
     */
    void expect(Directory directory, List<Node> nodes) throws ErrnoException {
        Errnos.run(() -> {
            try {
                kept.expect(directory, nodes);
            } catch (ObjectStoreException.Away e) {
                throw e;
            } catch (ObjectStoreException e) {
                LOG.debug("The store does not say whether '{}' is marked", directory.prefix(), e); // nor will it then
            }
        });
    }

    /**
     * Asks the store if necessary.
     *
     * @param parent null for the root, and for a node without a name
     * @throws ErrnoException EIO if the store is away: then it provides none for any object; EINTR
     */
    AttributeLookup kept(@Nullable Directory parent, Node node) throws ErrnoException {
        ObjectAttributes now = keptNow(parent, node);
        return now != null ? new Found(now) : Errnos.call(() -> ask(parent, node));
    }

    private AttributeLookup ask(@Nullable Directory parent, Node node)
            throws ObjectStoreException, InterruptedException {
        ObjectVersion version = node instanceof SharedFile file ? file.stored() : null;
        try {
            return new Found(
                    node instanceof SharedFile written && version != null
                            ? written.inherited(kept.of(parent, version))
                            : kept.of(parent, node));
        } catch (ObjectStoreException.NotFound e) {
            return switch (node) {
                case Directory _ -> throw e;
                case FileEntry(var object) -> new Gone(object.version());
                case LiveFile live
                when ((SharedFile) live).written() != null ->
                    new Denied(e); // found by its name, and its object may have been private
                case LiveFile _ ->
                    new Found(ObjectAttributes.NONE); // an open file is known, whatever happened to its object
            };
        } catch (ObjectStoreException.Away e) {
            throw e;
        } catch (ObjectStoreException e) {
            return new Denied(e);
        }
    }

    /** The same if it is known: null if it is not. */
    @Nullable
    ObjectAttributes keptNow(@Nullable Directory parent, Node node) {
        if (!(node instanceof SharedFile file)) {
            return kept.now(parent, node);
        }
        ObjectAttributes known = file.knownAttributes();
        ObjectVersion version = file.stored();
        if (known != null || version == null || parent == null) {
            return requireNonNullElse(known, ObjectAttributes.NONE);
        }
        ObjectAttributes ofObject = kept.now(parent, version);
        return ofObject == null ? null : file.inherited(ofObject);
    }

    /** How long kept attributes are valid if the name itself is valid for longer: nanoseconds. */
    long validNanos(long ofName) {
        return kept.areKept() ? Math.min(ofName, kept.markers().validNanos()) : ofName;
    }

    /** How long an open file's attributes are valid while nothing is known of its name: nanoseconds. */
    long ttlNanos() {
        return kept.markers().validNanos();
    }

    /**
     * The kept attributes that determine the node's type, if they are known: null if not. Most types are known from a
     * listing.
     */
    @Nullable
    ObjectAttributes kindNow(Directory parent, Node node) {
        return node instanceof FileEntry(var object) && object.version().size() == 0
                ? keptNow(parent, node)
                : node instanceof SharedFile ? keptNow(parent, node) : ObjectAttributes.NONE;
    }

    // ---- stat

    /** An entry whose kept attributes the store does not provide: only its type, if that is known. */
    Attributes ofName(Directory parent, Node node) {
        ObjectAttributes kind = kindNow(parent, node);
        int type = kind == null ? 0 : of(0, node, kind, 0).mode() & Attributes.S_IFMT;
        return attributes(Directories.UNKNOWN_INODE, type, 1, 0, mountTime, mountTime, ObjectAttributes.NONE, 0);
    }

    /**
     * Directories have one link, as on btrfs: find(1) takes it as "not counted", whereas two would mean "no
     * subdirectories". Their time is that of the last change made here, or else the mount's.
     */
    Attributes of(long inode, Node node, ObjectAttributes attributes, long validNanos) {
        return links.shown(ofOne(inode, node, attributes, validNanos), node);
    }

    private Attributes ofOne(long inode, Node node, ObjectAttributes attributes, long validNanos) {
        return switch (node) {
            case Directory directory -> {
                Instant own = times.of(directory);
                Instant modified = own != null ? own : requireNonNullElse(attributes.modified(), mountTime);
                yield attributes(
                        inode,
                        Attributes.S_IFDIR | requireNonNullElse(attributes.permissions(), config.dirMode()),
                        1,
                        DIRECTORY_SIZE,
                        modified,
                        requireNonNullElse(times.changed(directory), modified),
                        attributes,
                        validNanos);
            }
            case FileEntry(StoredObject object) -> {
                ObjectVersion version = object.version();
                yield file(
                        inode,
                        1,
                        version.size(),
                        requireNonNullElse(attributes.modified(), times.of(version)),
                        times.changed(version),
                        attributes,
                        validNanos);
            }
            case LiveFile live ->
                file(
                        inode,
                        live.links(),
                        live.size(),
                        requireNonNullElse(attributes.modified(), live.modified()),
                        ((SharedFile) live).changed(),
                        attributes,
                        validNanos);
        };
    }

    private Attributes file(
            long inode,
            int links,
            long size,
            Instant modified,
            Instant changed,
            ObjectAttributes attributes,
            long validNanos) {
        String target = attributes.target();
        return attributes(
                inode,
                attributes.kind().typeBits() | filePermissions(attributes),
                links,
                target == null ? size : target.getBytes(StandardCharsets.UTF_8).length,
                modified,
                changed,
                attributes,
                validNanos);
    }

    private int filePermissions(ObjectAttributes attributes) {
        return attributes.kind() == FileKind.SYMLINK
                ? LINK_MODE
                : requireNonNullElse(attributes.permissions(), config.fileMode());
    }

    private Attributes attributes(
            long inode,
            int mode,
            int links,
            long size,
            Instant modified,
            Instant changed,
            ObjectAttributes attributes,
            long validNanos) {
        return new Attributes(
                inode,
                mode,
                links,
                uid(attributes),
                gid(attributes),
                size,
                modified,
                requireNonNullElse(attributes.accessed(), modified),
                changed,
                attributes.device(),
                validNanos,
                inode);
    }

    /** The settings, for nodes without kept attributes. */
    FileSystemConfig config() {
        return config;
    }

    private int uid(ObjectAttributes attributes) {
        return requireNonNullElse(attributes.uid(), config.uid());
    }

    private int gid(ObjectAttributes attributes) {
        return requireNonNullElse(attributes.gid(), config.gid());
    }

    /** access(2) by owner, group and mode; supplementary groups are not known here. */
    void checkAccess(Node node, ObjectAttributes attributes, int mask, int uid, int gid) throws ErrnoException {
        if ((mask & WRITE) != 0 && readOnly) {
            throw Errnos.readOnly();
        }
        int mode = permissions(node, attributes);
        boolean allowed;
        if (uid == 0) {
            allowed = (mask & EXECUTE) == 0 || node instanceof Directory || (mode & ANY_EXECUTE) != 0;
        } else {
            int bits = uid == uid(attributes) ? mode >> 6 : gid == gid(attributes) ? mode >> 3 : mode;
            allowed = (bits & mask) == mask;
        }
        if (!allowed) {
            throw new ErrnoException(
                    Errno.EACCES, "access denied: user %d requested %o, the mode is %o".formatted(uid, mask, mode));
        }
    }

    private int permissions(Node node, ObjectAttributes attributes) {
        return node instanceof Directory
                ? requireNonNullElse(attributes.permissions(), config.dirMode())
                : filePermissions(attributes);
    }

    /**
     * chmod(2) where attributes are not kept. A mode that grants more than is shown, or takes from the owner only, does
     * no harm, and cp, tar, git and rsync request such modes. A mode that takes from others would wrongly suggest that
     * the file is private. A file open for writing may get any mode: rsync and install keep others out while they
     * write, and request the final mode later.
     *
     * @throws ErrnoException EPERM if others would lose rights that they are shown to have
     */
    void checkMode(Node node, int mode) throws ErrnoException {
        int shown = permissions(node, ObjectAttributes.NONE);
        boolean isWritten = node instanceof SharedFile file && file.isOpenToWrite();
        if (config.allowedUsers() == AllowedUsers.ALL && !isWritten && (shown & OTHERS & ~mode) != 0) {
            throw new ErrnoException(
                    Errno.EPERM,
                    ("modes are not stored: the mode stays %o, and %o would wrongly suggest that others have fewer"
                                    + " rights")
                            .formatted(shown, mode));
        }
    }

    // ---- extended attributes

    /**
     * Once a program has learned that there are no ACLs here, it does not ask for those of the next file: ls -l, cp -a.
     *
     * @throws ErrnoException EOPNOTSUPP if no node can have an attribute of this name
     */
    static void checkXattr(String name) throws ErrnoException {
        if (!name.startsWith(USER)) {
            throw new ErrnoException(Errno.EOPNOTSUPP, "only user attributes are supported, not " + name);
        }
    }

    static byte[] xattr(Node node, ObjectAttributes attributes, String name) throws ErrnoException {
        ObjectVersion version = version(node);
        byte[] given = attributes.extended().get(name);
        if (given != null) {
            return given.clone();
        } else if (version != null && name.equals(ETAG)) {
            return bytes(version.etag());
        } else if (version != null && name.equals(KEY)) {
            return bytes(version.key());
        } else if (node instanceof FileEntry(StoredObject object) && name.equals(STORAGE_CLASS)) {
            return bytes(object.storageClass());
        }
        throw new ErrnoException(Errno.ENODATA, "there is no attribute " + name);
    }

    /** The version with exactly the shown content: null if there is none. */
    private static @Nullable ObjectVersion version(Node node) {
        return switch (node) {
            case Directory _ -> null;
            case FileEntry(StoredObject object) -> object.version();
            case LiveFile live -> ((SharedFile) live).version();
        };
    }

    private static byte[] bytes(String value) {
        return value.getBytes(StandardCharsets.UTF_8);
    }
}

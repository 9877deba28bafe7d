package io.penstock.filesystem;

import io.penstock.core.Errno;
import io.penstock.core.ErrnoException;
import io.penstock.core.ObjectVersion;
import io.penstock.metadata.Directory;
import io.penstock.metadata.FileEntry;
import io.penstock.metadata.LiveFile;
import io.penstock.metadata.Node;
import io.penstock.objectstore.StoredObject;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What stat, access and xattr calls show of a node. Immutable. */
final class AttributeView {
    /** What the names of attributes begin with that users may give: xattr(7). */
    private static final String USER = "user.";

    private static final String ETAG = "user.penstock.etag";
    private static final String STORAGE_CLASS = "user.penstock.storage-class";
    private static final String KEY = "user.penstock.key";

    /** st_size of directories: a block, as on ext4. Programs make nothing of it. */
    private static final int DIRECTORY_SIZE = 4096;

    /** access(2)'s W_OK. */
    private static final int WRITE = 2;

    /** access(2)'s X_OK. */
    private static final int EXECUTE = 1;

    /** The permission bits of all but the owner. */
    private static final int OTHERS = 077;

    /** Anybody's execute bit: what root needs one of to execute a file. */
    private static final int ANY_EXECUTE = 0111;

    private final FileSystemConfig config;
    private final Instant mountTime;
    private final ModifiedTimes times;
    private final boolean readOnly;

    AttributeView(FileSystemConfig config, Instant mountTime, ModifiedTimes times, boolean readOnly) {
        this.config = config;
        this.mountTime = mountTime;
        this.times = times;
        this.readOnly = readOnly;
    }

    /**
     * Directories have one link, as on btrfs: find(1) takes it as "not counted", whereas two would mean "no
     * subdirectories". Their time is the mount's: a time that followed their content would change while they are read,
     * which tar(1) reports as an error.
     */
    Attributes of(long inode, Node node, long validNanos) {
        return switch (node) {
            case Directory _ -> {
                int mode = Attributes.S_IFDIR | config.dirMode();
                yield new Attributes(inode, mode, 1, config.uid(), config.gid(), DIRECTORY_SIZE, mountTime, validNanos);
            }
            case FileEntry(StoredObject object) ->
                file(inode, 1, object.version().size(), times.of(object.version()), validNanos);
            case LiveFile live -> file(inode, live.links(), live.size(), live.modified(), validNanos);
        };
    }

    private Attributes file(long inode, int links, long size, Instant modified, long validNanos) {
        int mode = Attributes.S_IFREG | config.fileMode();
        return new Attributes(inode, mode, links, config.uid(), config.gid(), size, modified, validNanos);
    }

    /** access(2) by owner, group and mode; supplementary groups are not known here. */
    void checkAccess(Node node, int mask, int uid, int gid) throws ErrnoException {
        if ((mask & WRITE) != 0 && readOnly) {
            throw Errnos.readOnly();
        }
        int mode = mode(node);
        boolean allowed;
        if (uid == 0) {
            allowed = (mask & EXECUTE) == 0 || node instanceof Directory || (mode & ANY_EXECUTE) != 0;
        } else {
            int bits = uid == config.uid() ? mode >> 6 : gid == config.gid() ? mode >> 3 : mode;
            allowed = (bits & mask) == mask;
        }
        if (!allowed) {
            throw new ErrnoException(Errno.EACCES, "user %d may not do %o with mode %o".formatted(uid, mask, mode));
        }
    }

    private int mode(Node node) {
        return node instanceof Directory ? config.dirMode() : config.fileMode();
    }

    /**
     * chmod(2). Modes are not kept: one that gives more than is shown, or takes from the owner alone, does no harm, and
     * cp, tar, git and rsync ask for such. One that withholds something from others would be believed to be private. A
     * file that is open for writing may be given any: rsync and install keep others out as long as they write, and ask for
     * the final mode later.
     *
     * @throws ErrnoException EPERM if others were to lose what they are shown to have
     */
    void checkMode(Node node, int mode) throws ErrnoException {
        int shown = mode(node);
        boolean isWritten = node instanceof SharedFile file && file.isOpenToWrite();
        if (config.allowedUsers() == AllowedUsers.ALL && !isWritten && (shown & OTHERS & ~mode) != 0) {
            throw new ErrnoException(
                    Errno.EPERM,
                    "modes are not kept: all have mode %o, and %o is less for others".formatted(shown, mode));
        }
    }

    static List<String> xattrNames(Node node) {
        return switch (node) {
            case Directory _ -> List.of();
            case FileEntry _ -> List.of(ETAG, STORAGE_CLASS, KEY);
            case LiveFile _ -> version(node) == null ? List.of() : List.of(ETAG, KEY);
        };
    }

    static byte[] xattr(Node node, String name) throws ErrnoException {
        ObjectVersion version = version(node);
        if (version != null && name.equals(ETAG)) {
            return bytes(version.etag());
        } else if (version != null && name.equals(KEY)) {
            return bytes(version.key());
        } else if (node instanceof FileEntry(StoredObject object) && name.equals(STORAGE_CLASS)) {
            return bytes(object.storageClass());
        }
        // Who hears that there are no ACLs here does not ask for those of the next file: ls -l, cp -a.
        throw name.startsWith(USER)
                ? new ErrnoException(Errno.ENODATA, "there is no attribute " + name)
                : new ErrnoException(Errno.EOPNOTSUPP, "there are no attributes but of users: " + name);
    }

    /** The version that has the content which is shown: null if none has. */
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

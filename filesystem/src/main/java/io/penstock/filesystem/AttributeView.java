package io.penstock.filesystem;

import io.penstock.core.Errno;
import io.penstock.core.ErrnoException;
import io.penstock.metadata.Directory;
import io.penstock.metadata.FileEntry;
import io.penstock.metadata.Node;
import io.penstock.objectstore.StoredObject;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;

/** What stat, access and xattr calls show of a node. Immutable. */
final class AttributeView {
    private static final String ETAG = "user.penstock.etag";
    private static final String STORAGE_CLASS = "user.penstock.storage-class";
    private static final String KEY = "user.penstock.key";

    /** st_size of directories: a block, as on ext4. Programs make nothing of it. */
    private static final int DIRECTORY_SIZE = 4096;

    /** access(2)'s W_OK. */
    private static final int WRITE = 2;

    /** access(2)'s X_OK. */
    private static final int EXECUTE = 1;

    /** Anybody's execute bit: what root needs one of to execute a file. */
    private static final int ANY_EXECUTE = 0111;

    private final FileSystemConfig config;
    private final Instant mountTime;

    AttributeView(FileSystemConfig config, Instant mountTime) {
        this.config = config;
        this.mountTime = mountTime;
    }

    /**
     * Directories have one link, as on btrfs: find(1) takes it as "not counted", whereas two would mean "no
     * subdirectories". Their time is the mount's: a time that followed their content would change while they are read,
     * which tar(1) reports as an error.
     */
    Attributes of(long inode, Node node, long validNanos) {
        return switch (node) {
            case Directory _ ->
                new Attributes(
                        inode,
                        Attributes.S_IFDIR | config.dirMode(),
                        1,
                        config.uid(),
                        config.gid(),
                        DIRECTORY_SIZE,
                        mountTime,
                        validNanos);
            case FileEntry(StoredObject object) ->
                new Attributes(
                        inode,
                        Attributes.S_IFREG | config.fileMode(),
                        1,
                        config.uid(),
                        config.gid(),
                        object.version().size(),
                        object.version().lastModified(),
                        validNanos);
        };
    }

    /** access(2) by owner, group and mode; supplementary groups are not known here. */
    void checkAccess(Node node, int mask, int uid, int gid) throws ErrnoException {
        if ((mask & WRITE) != 0) {
            throw Errnos.readOnly();
        }
        int mode = node instanceof Directory ? config.dirMode() : config.fileMode();
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

    static List<String> xattrNames(Node node) {
        return switch (node) {
            case Directory _ -> List.of();
            case FileEntry _ -> List.of(ETAG, STORAGE_CLASS, KEY);
        };
    }

    static byte[] xattr(Node node, String name) throws ErrnoException {
        if (node instanceof FileEntry(StoredObject object)) {
            switch (name) {
                case ETAG -> {
                    return bytes(object.version().etag());
                }
                case STORAGE_CLASS -> {
                    return bytes(object.storageClass());
                }
                case KEY -> {
                    return bytes(object.version().key());
                }
                default -> {}
            }
        }
        throw new ErrnoException(Errno.ENODATA, "there is no attribute " + name);
    }

    private static byte[] bytes(String value) {
        return value.getBytes(StandardCharsets.UTF_8);
    }
}

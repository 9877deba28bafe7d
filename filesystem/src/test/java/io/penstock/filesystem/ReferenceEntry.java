package io.penstock.filesystem;

import io.penstock.metadata.attributes.FileKind;
import java.time.Instant;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The state of one file or directory in {@link ReferenceTree}.
 *
 * @param mode type and permission bits
 * @param content for a symbolic link, its target; for a directory, nothing
 * @param modified null if no program has set it since the last write
 * @param accessed likewise
 */
record ReferenceEntry(
        int mode,
        int uid,
        int gid,
        @Nullable Instant modified,
        @Nullable Instant accessed,
        Map<String, String> extended,
        String content) {
    private static final int SET_USER = 04000;
    private static final int SET_GROUP = 02000;
    private static final int GROUP_EXECUTE = 010;

    /** A directory that keeps no attributes. */
    static final ReferenceEntry DIRECTORY =
            new ReferenceEntry(Attributes.S_IFDIR | 0751, Mounted.UID, Mounted.GID, null, null, Map.of(), "");

    static ReferenceEntry of(int mode, Creator creator, String content) {
        return new ReferenceEntry(mode, creator.uid(), creator.gid(), null, null, Map.of(), content);
    }

    /** As written by another node, which keeps no attributes. */
    static ReferenceEntry foreign(String content) {
        return of(Attributes.S_IFREG | 0640, Mounted.CREATOR, content);
    }

    boolean isRegular() {
        return (mode & Attributes.S_IFMT) == Attributes.S_IFREG;
    }

    boolean isLink() {
        return (mode & Attributes.S_IFMT) == FileKind.SYMLINK.typeBits();
    }

    boolean isDirectory() {
        return (mode & Attributes.S_IFMT) == Attributes.S_IFDIR;
    }

    /** The content of its object. */
    String stored() {
        return isRegular() ? content : "";
    }

    /** Puts it into this directory: takes over its group if the directory has the set-group-ID bit. */
    ReferenceEntry in(ReferenceEntry directory) {
        if ((directory.mode & SET_GROUP) == 0) {
            return this;
        }
        int inherited = isDirectory() ? SET_GROUP : 0;
        return new ReferenceEntry(mode | inherited, uid, directory.gid, modified, accessed, extended, content);
    }

    /** A write discards the times that were set. */
    ReferenceEntry withContent(String after) {
        return new ReferenceEntry(mode, uid, gid, null, null, extended, after);
    }

    ReferenceEntry withMode(int permissions) {
        int after = (mode & Attributes.S_IFMT) | permissions;
        return new ReferenceEntry(after, uid, gid, modified, accessed, extended, content);
    }

    /** Like chown(2): a file loses its set-user-ID bit, and its set-group-ID bit if its group may execute it. */
    ReferenceEntry withOwner(int owner, int group) {
        int dropped = isDirectory() ? 0 : SET_USER | ((mode & GROUP_EXECUTE) == 0 ? 0 : SET_GROUP);
        return new ReferenceEntry(mode & ~dropped, owner, group, modified, accessed, extended, content);
    }

    ReferenceEntry withTimes(Instant access, Instant modification) {
        return new ReferenceEntry(mode, uid, gid, modification, access, extended, content);
    }

    /** @param value null to remove it */
    ReferenceEntry withExtended(String name, @Nullable String value) {
        Map<String, String> after = new TreeMap<>(extended);
        if (value == null) {
            after.remove(name);
        } else {
            after.put(name, value);
        }
        return new ReferenceEntry(mode, uid, gid, modified, accessed, Map.copyOf(after), content);
    }
}

package io.penstock.metadata.attributes;

import java.time.Instant;
import java.util.Collections;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The kept attributes of a file or directory. A null means the value of the mount's settings, or the object's time.
 * Immutable.
 *
 * @param permissions the lower twelve bits of st_mode
 * @param target of a symbolic link; null for everything else
 * @param device the number of a device, st_rdev; 0 for everything else
 * @param extended by their xattr(7) names, including {@code user.}
 */
public record ObjectAttributes(
        FileKind kind,
        @Nullable Integer permissions,
        @Nullable Integer uid,
        @Nullable Integer gid,
        @Nullable Instant modified,
        @Nullable Instant accessed,
        @Nullable String target,
        int device,
        SortedMap<String, byte[]> extended) {
    /** No attribute is kept. */
    public static final ObjectAttributes NONE =
            new ObjectAttributes(FileKind.REGULAR, null, null, null, null, null, null, 0, Collections.emptySortedMap());

    public ObjectAttributes {
        extended = Collections.unmodifiableSortedMap(new TreeMap<>(extended));
    }

    /** For a new file or directory; null for attributes that follow the settings. */
    public static ObjectAttributes ofNew(
            FileKind kind, @Nullable Integer permissions, @Nullable Integer uid, @Nullable Integer gid) {
        return kind == FileKind.REGULAR && permissions == null && uid == null && gid == null
                ? NONE
                : new ObjectAttributes(kind, permissions, uid, gid, null, null, null, 0, Collections.emptySortedMap());
    }

    /** The same for an object with content: only an empty object can be anything but a regular file. */
    public ObjectAttributes ofFile() {
        return new ObjectAttributes(FileKind.REGULAR, permissions, uid, gid, modified, accessed, null, 0, extended);
    }

    public ObjectAttributes withTarget(String path) {
        return new ObjectAttributes(kind, permissions, uid, gid, modified, accessed, path, device, extended);
    }

    /** @param number st_rdev */
    public ObjectAttributes withDevice(int number) {
        return new ObjectAttributes(kind, permissions, uid, gid, modified, accessed, target, number, extended);
    }

    public ObjectAttributes withPermissions(int bits) {
        return new ObjectAttributes(kind, bits, uid, gid, modified, accessed, target, device, extended);
    }

    /** @param user,group null to leave it unchanged */
    public ObjectAttributes withOwner(@Nullable Integer user, @Nullable Integer group) {
        return new ObjectAttributes(
                kind,
                permissions,
                user == null ? uid : user,
                group == null ? gid : group,
                modified,
                accessed,
                target,
                device,
                extended);
    }

    /** Null for the object's own time. */
    public ObjectAttributes withModified(@Nullable Instant time) {
        return Objects.equals(time, modified)
                ? this
                : new ObjectAttributes(kind, permissions, uid, gid, time, accessed, target, device, extended);
    }

    /** Null for the time of the last change. */
    public ObjectAttributes withAccessed(@Nullable Instant time) {
        return Objects.equals(time, accessed)
                ? this
                : new ObjectAttributes(kind, permissions, uid, gid, modified, time, target, device, extended);
    }

    /** @param value null to remove it */
    public ObjectAttributes withExtended(String name, byte @Nullable [] value) {
        SortedMap<String, byte[]> others = new TreeMap<>(extended);
        if (value == null) {
            others.remove(name);
        } else {
            others.put(name, value.clone());
        }
        return new ObjectAttributes(kind, permissions, uid, gid, modified, accessed, target, device, others);
    }
}

package io.penstock.filesystem.files;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.penstock.core.ObjectVersion;
import io.penstock.metadata.Directory;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The times of files and directories that were written, touched or changed here. The store's time of an object is the
 * time of its upload, in whole seconds, and cannot be set. Kept in memory for the most recent changes. Thread-safe.
 */
public final class ModifiedTimes {
    /** Some 300 bytes each. An evicted file shows the store's time again. */
    private static final int REMEMBERED = 200_000;

    /**
     * The times of one version, or of a directory, which has no version.
     *
     * @param modified null if it is kept elsewhere
     */
    private record Stamp(String identity, @Nullable Instant modified, Instant changed) {}

    private final Cache<String, Stamp> stamps = Caffeine.newBuilder()
            .maximumSize(REMEMBERED)
            .executor(Runnable::run)
            .build();

    private @Nullable Stamp stamp(ObjectVersion version) {
        Stamp stamp = stamps.getIfPresent(version.key());
        return stamp != null && stamp.identity.equals(version.identity()) ? stamp : null;
    }

    /** mtime. */
    public Instant of(ObjectVersion version) {
        Stamp stamp = stamp(version);
        return stamp == null || stamp.modified == null ? version.lastModified() : stamp.modified;
    }

    /** ctime. */
    public Instant changed(ObjectVersion version) {
        Stamp stamp = stamp(version);
        return stamp == null ? version.lastModified() : stamp.changed;
    }

    public void set(ObjectVersion version, Instant modified, Instant changed) {
        stamps.put(version.key(), new Stamp(version.identity(), modified, changed));
    }

    /** When an entry was last created in the directory or removed from it, by this mount; null if that is not known. */
    public @Nullable Instant of(Directory directory) {
        Stamp stamp = stamps.getIfPresent(directory.prefix());
        return stamp == null ? null : stamp.modified;
    }

    /** When the directory or its kept attributes were last changed here; null if that is not known. */
    public @Nullable Instant changed(Directory directory) {
        Stamp stamp = stamps.getIfPresent(directory.prefix());
        return stamp == null ? null : stamp.changed;
    }

    /** An entry was created in the directory, or removed from it. */
    public void set(Directory directory, Instant now) {
        stamps.put(directory.prefix(), new Stamp("", now, now)); // no object that is shown has this key
    }

    /** A directory was renamed: moves its times, and those of the directories in it. Drops those of the old target. */
    public void moved(Directory from, Directory to) {
        stamps.asMap().keySet().removeIf(key -> key.endsWith("/") && to.contains(key));
        for (String key : List.copyOf(stamps.asMap().keySet())) {
            Stamp stamp =
                    key.endsWith("/") && from.contains(key) ? stamps.asMap().remove(key) : null;
            if (stamp != null) {
                stamps.put(new Directory(key).moved(from, to).prefix(), stamp);
            }
        }
    }

    /** Forgets the times of the object with this key. */
    void forget(String key) {
        stamps.invalidate(key);
    }

    /**
     * The directory's kept attributes were changed.
     *
     * @param isTime whether its mtime was among them; the kept mtime is then shown from now on
     */
    public void changed(Directory directory, Instant now, boolean isTime) {
        stamps.asMap()
                .compute(
                        directory.prefix(),
                        (_, stamp) -> new Stamp("", isTime || stamp == null ? null : stamp.modified, now));
    }
}

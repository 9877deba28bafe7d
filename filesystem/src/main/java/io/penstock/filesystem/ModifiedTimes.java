package io.penstock.filesystem;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.penstock.core.ObjectVersion;
import io.penstock.metadata.Directory;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * The modification times of what was written or touched here: the store's time of an object is that of its upload, and
 * nobody can set it. Kept in memory, for those that were changed last. Safe for use by any number of threads.
 */
final class ModifiedTimes {
    /** Some 300 bytes each. One that falls out shows the store's time again. */
    private static final int REMEMBERED = 200_000;

    private record Stamp(String identity, Instant modified) {}

    private final Cache<String, Stamp> stamps = Caffeine.newBuilder()
            .maximumSize(REMEMBERED)
            .executor(Runnable::run)
            .build();

    Instant of(ObjectVersion version) {
        Stamp stamp = stamps.getIfPresent(version.key());
        return stamp != null && stamp.identity.equals(version.identity()) ? stamp.modified : version.lastModified();
    }

    /** When something was made in the directory or removed from it, here; null if that is not known. */
    @Nullable
    Instant of(Directory directory) {
        Stamp stamp = stamps.getIfPresent(directory.prefix());
        return stamp == null ? null : stamp.modified;
    }

    void set(Directory directory, Instant modified) {
        stamps.put(directory.prefix(), new Stamp("", modified)); // no object that is shown has this key
    }

    /** The directory's time was set. */
    void forget(Directory directory) {
        stamps.invalidate(directory.prefix());
    }

    void set(ObjectVersion version, Instant modified) {
        stamps.put(version.key(), new Stamp(version.identity(), modified));
    }
}

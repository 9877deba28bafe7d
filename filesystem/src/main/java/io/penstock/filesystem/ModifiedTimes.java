package io.penstock.filesystem;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.penstock.core.ObjectVersion;
import java.time.Instant;

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

    void set(ObjectVersion version, Instant modified) {
        stamps.put(version.key(), new Stamp(version.identity(), modified));
    }
}

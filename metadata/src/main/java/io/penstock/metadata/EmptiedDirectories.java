package io.penstock.metadata;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Directories that something was removed from here: the store may have no key in them any more, and POSIX directories do
 * not vanish with their last file. Each is there, whatever the store has, until the store has shown that it is something,
 * or a listing that was begun {@code metadata.ttl} later has not shown it. Safe for use by any number of threads.
 */
final class EmptiedDirectories {
    /** Names that are remembered at most: some 150 bytes each. One that falls out is what the store has. */
    private static final int REMEMBERED = 100_000;

    private final long ttlNanos;

    /** By parent, with the time of the last removal. Inner maps are only changed within compute, which weighs them. */
    private final Cache<Directory, Map<String, Long>> emptied = Caffeine.newBuilder()
            .maximumWeight(REMEMBERED)
            .weigher((Directory parent, Map<String, Long> names) -> names.size())
            .executor(Runnable::run)
            .build();

    EmptiedDirectories(long ttlNanos) {
        this.ttlNanos = ttlNanos;
    }

    void add(Directory parent, String name, long now) {
        emptied.asMap().compute(parent, (_, known) -> {
            Map<String, Long> names = known == null ? new ConcurrentHashMap<>() : known;
            names.put(name, now);
            return names;
        });
    }

    void remove(Directory parent, String name) {
        emptied.asMap().computeIfPresent(parent, (_, names) -> {
            names.remove(name);
            return names.isEmpty() ? null : names;
        });
    }

    boolean contains(Directory parent, String name) {
        return since(parent, name) != null;
    }

    boolean containsAny(Directory parent) {
        return emptied.getIfPresent(parent) != null;
    }

    private @Nullable Long since(Directory parent, String name) {
        Map<String, Long> names = emptied.getIfPresent(parent);
        return names == null ? null : names.get(name);
    }

    /** The store has something of this name, or had when it was asked. */
    void found(Directory parent, String name, long asOf) {
        Long since = since(parent, name);
        if (since != null && asOf - since >= 0) {
            remove(parent, name);
        }
    }

    /** All pages of a listing are there: what it has not shown is added to it, or is there no more. */
    void complete(Entries entries, long startedAt) {
        Directory parent = entries.directory();
        Map<String, Long> names = emptied.getIfPresent(parent);
        if (names == null) {
            return;
        }
        names.forEach((name, since) -> {
            Listing.Entry listed = entries.get(name);
            if (listed != null) {
                found(parent, name, listed.asOf());
            } else if (startedAt - since < ttlNanos) {
                entries.correct(name, parent.child(name), since);
            } else {
                remove(parent, name);
            }
        });
    }
}

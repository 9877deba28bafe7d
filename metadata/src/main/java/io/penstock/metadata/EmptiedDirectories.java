package io.penstock.metadata;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Directories from which something was removed here. The store may no longer have a key in them, but a POSIX directory
 * does not vanish with its last file. Each exists until the store shows another object or directory of that name, or
 * until a listing that began {@code metadata.ttl} later does not show it and no file below it is being written. Safe
 * for use by any number of threads.
 */
final class EmptiedDirectories {
    /** The maximum number of names: some 150 bytes each. The store's answer is used for a name that was dropped. */
    private static final int REMEMBERED = 100_000;

    private final LongSupplier ttlNanos;
    private final Predicate<Directory> hasWrittenFiles;

    /** By parent, with the time of the last removal. Inner maps only change within compute, which weighs them. */
    private final Cache<Directory, Map<String, Long>> emptied = Caffeine.newBuilder()
            .maximumWeight(REMEMBERED)
            .weigher((Directory parent, Map<String, Long> names) -> names.size())
            .executor(Runnable::run)
            .build();

    /** @param hasWrittenFiles whether a file is being written in the directory, or below it */
    EmptiedDirectories(LongSupplier ttlNanos, Predicate<Directory> hasWrittenFiles) {
        this.ttlNanos = ttlNanos;
        this.hasWrittenFiles = hasWrittenFiles;
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

    /**
     * A directory was renamed. The directories emptied below it move with it, and those that were below its new name
     * are forgotten.
     */
    void move(Directory from, Directory to) {
        emptied.asMap().keySet().removeIf(parent -> parent.isWithin(to));
        for (Directory parent : List.copyOf(emptied.asMap().keySet())) {
            Map<String, Long> names = parent.isWithin(from) ? emptied.asMap().remove(parent) : null;
            if (names != null) {
                names.forEach((name, since) -> add(parent.moved(from, to), name, since));
            }
        }
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

    /** When it was asked, the store had an object or directory of this name. */
    void found(Directory parent, String name, long asOf) {
        Long since = since(parent, name);
        if (since != null && asOf - since >= 0) {
            remove(parent, name);
        }
    }

    /** A listing is complete. A directory that it did not show is added to it, or no longer exists. */
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
            } else if (startedAt - since < ttlNanos.getAsLong() || hasWrittenFiles.test(parent.child(name))) {
                entries.correct(name, parent.child(name), since);
            } else {
                remove(parent, name);
            }
        });
    }
}

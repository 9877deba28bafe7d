package io.penstock.metadata;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.jspecify.annotations.Nullable;

/**
 * Names that refer to something else here than in the store: files being written, and removed names whose object is
 * still needed ({@link Absent}). Safe for use by any number of threads.
 */
final class NameOverlay {
    /** Inner maps only change within compute on the outer map, which drops empty ones. */
    private final ConcurrentMap<Directory, ConcurrentMap<String, Answer>> directories = new ConcurrentHashMap<>();

    /** Null if the name refers to the store's object. */
    @Nullable
    Answer get(Directory directory, String name) {
        Map<String, Answer> names = directories.get(directory);
        return names == null ? null : names.get(name);
    }

    /** A live view of the names of a directory. */
    Map<String, Answer> in(Directory directory) {
        Map<String, Answer> names = directories.get(directory);
        return names == null ? Map.of() : names;
    }

    /** Whether a file is being written in the directory, or below it. */
    boolean hasNodesWithin(Directory directory) {
        return directories.entrySet().stream()
                .anyMatch(each -> each.getKey().isWithin(directory)
                        && each.getValue().values().stream().anyMatch(Node.class::isInstance));
    }

    void put(Directory directory, String name, Answer answer) {
        directories.compute(directory, (_, known) -> {
            ConcurrentMap<String, Answer> names = known == null ? new ConcurrentHashMap<>() : known;
            names.put(name, answer);
            return names;
        });
    }

    /** Does nothing if the name refers to something else now. */
    void remove(Directory directory, String name, Answer answer) {
        directories.computeIfPresent(directory, (_, names) -> {
            names.remove(name, answer);
            return names.isEmpty() ? null : names;
        });
    }
}

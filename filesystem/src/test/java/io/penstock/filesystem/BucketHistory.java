package io.penstock.filesystem;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** The reference model: all past states of a bucket, and the object or directory of each path at any time. */
final class BucketHistory {
    static final String DIRECTORY = "directory";
    static final String ABSENT = "absent";

    /** @param etags by key; a file's value is its ETag */
    private record Snapshot(Instant since, TreeMap<String, String> etags) {
        String at(String path) {
            String below = etags.ceilingKey(path + "/");
            if (below != null && below.startsWith(path + "/")) {
                return DIRECTORY;
            }
            return etags.getOrDefault(path, ABSENT);
        }
    }

    private final List<Snapshot> snapshots = new ArrayList<>();

    BucketHistory(Instant start) {
        snapshots.add(new Snapshot(start, new TreeMap<>()));
    }

    void put(Instant now, String key, String etag) {
        change(now).put(key, etag);
    }

    void delete(Instant now, String key) {
        change(now).remove(key);
    }

    /** The ETag or directory that the path has now. */
    String now(String path) {
        return snapshots.getLast().at(path);
    }

    /** All states of the path within {@code age} before {@code now}: a cache may still return each of them. */
    Set<String> within(Instant now, Duration age, String path) {
        Set<String> seen = new HashSet<>();
        for (int i = snapshots.size() - 1; i >= 0; i--) {
            seen.add(snapshots.get(i).at(path));
            if (!snapshots.get(i).since().isAfter(now.minus(age))) {
                break;
            }
        }
        return seen;
    }

    private Map<String, String> change(Instant now) {
        Snapshot next = new Snapshot(now, new TreeMap<>(snapshots.getLast().etags()));
        snapshots.add(next);
        return next.etags();
    }
}

package io.penstock.prefetch;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.cache.disk.ReadShape;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * How files of a kind were last read; a kind is the files in one directory with the same name extension. A file that
 * was never read is expected to be read like them. Safe for use by any number of threads.
 */
final class SiblingShapes {
    private static final int MOST_KINDS = 1_000;

    @GuardedBy("this")
    private final Map<String, ReadShape> byKind = new LinkedHashMap<>(16, 0.75F, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, ReadShape> eldest) {
            return size() > MOST_KINDS;
        }
    };

    synchronized void note(String key, ReadShape shape) {
        byKind.put(kind(key), shape);
    }

    synchronized ReadShape expected(String key) {
        return byKind.getOrDefault(kind(key), ReadShape.UNKNOWN);
    }

    /** The directory's prefix, and the part of the name after its last dot. */
    private static String kind(String key) {
        int name = key.lastIndexOf('/') + 1;
        int dot = key.lastIndexOf('.');
        return key.substring(0, name) + (dot < name ? "" : key.substring(dot));
    }
}

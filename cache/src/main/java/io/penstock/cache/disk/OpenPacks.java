package io.penstock.cache.disk;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.disk.DataFile;
import java.io.IOException;
import java.util.LinkedHashMap;

/** Bounds the descriptors of packs: the most recently used keep theirs. Safe for use by any number of threads. */
final class OpenPacks {
    /** Each pack has up to two descriptors. */
    private static final int MOST = 256;

    /** In order of use, the most recent last. */
    @GuardedBy("this")
    private final LinkedHashMap<DataFile, Boolean> files = new LinkedHashMap<>(MOST, 0.75F, true);

    /** The pack's file is about to be used. */
    void used(DataFile file) throws IOException {
        DataFile eldest = null;
        synchronized (this) {
            files.put(file, true);
            if (files.size() > MOST) {
                eldest = files.keySet().iterator().next();
                files.remove(eldest);
            }
        }
        if (eldest != null) {
            eldest.rest();
        }
    }

    /** The pack's file is closed. */
    synchronized void closed(DataFile file) {
        files.remove(file);
    }
}

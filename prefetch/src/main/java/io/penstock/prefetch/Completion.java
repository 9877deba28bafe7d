package io.penstock.prefetch;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.core.ObjectVersion;
import java.util.LinkedHashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Fetches the rest of files that were read nearly whole to the cache's disk, one file at a time, so that their next
 * open can be passed through to the kernel. Pages are missing where the disk was slower than the store, or where a
 * program did not read them. Safe for use by any number of threads.
 */
public final class Completion {
    private static final Logger LOG = LoggerFactory.getLogger(Completion.class);

    /** Some 200 bytes of heap each. Other files are completed after their next close. */
    private static final int MOST_WAITING = 1_000;

    private final PageFetcher fetcher;

    @GuardedBy("this")
    private final Set<ObjectVersion> waiting = new LinkedHashSet<>();

    @GuardedBy("this")
    private boolean isRunning;

    public Completion(PageFetcher fetcher) {
        this.fetcher = fetcher;
    }

    /** Completes the file soon. Never waits. */
    public synchronized void add(ObjectVersion version) {
        if (waiting.size() < MOST_WAITING) {
            waiting.add(version);
            isRunning = isRunning || fetcher.start(this::run);
        }
    }

    private void run() {
        try {
            for (ObjectVersion version = next(); version != null; version = next()) {
                try (Warmup warmup = new Warmup(fetcher, new Pace(0, System::nanoTime), Completion::done)) {
                    warmup.bring(version);
                    warmup.finish();
                }
            }
        } catch (InterruptedException e) { // the mount ends
            Thread.currentThread().interrupt();
        }
    }

    private synchronized @Nullable ObjectVersion next() {
        if (waiting.isEmpty()) {
            isRunning = false;
            return null;
        }
        ObjectVersion first = waiting.iterator().next();
        waiting.remove(first);
        return first;
    }

    private static void done(ObjectVersion version, Warmup.Outcome outcome, @Nullable Exception why) {
        LOG.debug("The rest of '{}' in the cache: {}", version.key(), outcome, why);
    }
}

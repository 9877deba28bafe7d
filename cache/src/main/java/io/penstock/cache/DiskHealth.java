package io.penstock.cache;

import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Whether the cache's disk is worth asking.
 *
 * <pre>
 *   WELL ──{@value #MAX_FAILURES} failures in a row──▶ SICK ──a while──▶ one write as a probe ──success──▶ WELL
 *                                       ▲───────────failure──────────┘
 * </pre>
 *
 * <p>While it is sick all its pages count as Missing. Logged when it changes, not for each failure.
 */
final class DiskHealth {
    private static final Logger log = LoggerFactory.getLogger(DiskHealth.class);

    private static final int MAX_FAILURES = 3;
    private static final long REST_NANOS = TimeUnit.SECONDS.toNanos(30);

    private final LongSupplier nanoTime;
    private final Counters counters;

    /** Failures since the last success; guarded by this for writing. */
    private volatile int failures;

    private long probeAt; // guarded by this
    private boolean told; // guarded by this: a failure was logged since the disk was last found sick and well again

    DiskHealth(LongSupplier nanoTime, Counters counters) {
        this.nanoTime = nanoTime;
        this.counters = counters;
    }

    boolean isWell() {
        return failures < MAX_FAILURES;
    }

    /** Whether to write: a sick disk is tried now and then. */
    boolean allowsWrite() {
        if (isWell()) {
            return true;
        }
        synchronized (this) {
            if (nanoTime.getAsLong() - probeAt < 0) {
                return false;
            }
            probeAt = nanoTime.getAsLong() + REST_NANOS;
            return true;
        }
    }

    void succeeded() {
        if (failures > 0) {
            recover();
        }
    }

    private synchronized void recover() {
        if (!isWell()) {
            log.info("The cache's disk works again and is used from now on.");
            told = false;
        }
        failures = 0;
    }

    synchronized void failed(String what, IOException cause) {
        counters.diskErrors.increment();
        failures++;
        if (failures == MAX_FAILURES) {
            log.warn(
                    "The cache's disk keeps failing, last to {}: {}. Going on without it; it is tried again every {}"
                            + " s.",
                    what,
                    cause.toString(),
                    TimeUnit.NANOSECONDS.toSeconds(REST_NANOS));
        } else if (!told) {
            log.warn(
                    "The cache's disk failed to {}: {}. What was to be read comes from the store.",
                    what,
                    cause.toString());
        } else {
            log.debug("The cache's disk failed to {}", what, cause);
        }
        told = true;
        if (failures >= MAX_FAILURES) {
            probeAt = nanoTime.getAsLong() + REST_NANOS;
        }
    }
}

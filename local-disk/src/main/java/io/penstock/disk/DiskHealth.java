package io.penstock.disk;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Whether a disk is fit for use.
 *
 * <pre>
 *          ┌── space was freed, or a second ──┐
 *          ▼                                  │
 *   WELL ───────────── no space ───────────▶ FULL
 *    │ ▲
 *    │ └─── 30 s, then a success ───┐
 *    └─ too many failures in a row ▶ SICK
 * </pre>
 *
 * <p>Logs changes, not each failure. Safe for use by any number of threads.
 */
public final class DiskHealth {
    private static final Logger log = LoggerFactory.getLogger(DiskHealth.class);

    private static final long FULL_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final long SICK_NANOS = TimeUnit.SECONDS.toNanos(30);

    private final Disk disk;
    private final LongSupplier nanoTime;
    private final LongAdder errors = new LongAdder();

    /** Failures since the last success. Written under the monitor. */
    private volatile int failures;

    /** Whether the disk is left alone until {@link #restsUntil}. Written under the monitor. */
    private volatile boolean resting;

    @GuardedBy("this")
    private long restsUntil;

    /** Whether a failure was logged since the disk last recovered from being sick. */
    @GuardedBy("this")
    private boolean told;

    /**
     * @param name of the disk in messages: {@code "The cache's disk"}
     * @param mostFailures this many failures in a row make it sick
     * @param consequence of a sick disk, for the message: {@code "Going on without it"}
     * @param isFull called after a failure: whether the cause was lack of space
     */
    public record Disk(String name, int mostFailures, String consequence, Predicate<IOException> isFull) {}

    public DiskHealth(Disk disk, LongSupplier nanoTime) {
        this.disk = disk;
        this.nanoTime = nanoTime;
    }

    /** Whether the disk is not sick. It may be full. Takes no lock. */
    public boolean isWell() {
        return failures < disk.mostFailures();
    }

    /** Whether to write: the disk is healthy and has space, or has been left alone for long enough. */
    public boolean allowsWrite() {
        return !resting || isRested();
    }

    private synchronized boolean isRested() {
        if (nanoTime.getAsLong() - restsUntil >= 0) {
            resting = false;
        }
        return !resting;
    }

    public void succeeded() {
        if (failures > 0) {
            recover();
        }
    }

    private synchronized void recover() {
        if (!isWell()) {
            log.info("{} works again and is used from now on.", disk.name());
            told = false;
            resting = false;
        }
        failures = 0;
    }

    /** Ends the rest of a full disk. */
    public synchronized void spaceFreed() {
        if (isWell()) {
            resting = false;
        }
    }

    /** @param what the action that failed: {@code "write a page"} */
    public void failed(String what, IOException cause) {
        errors.increment();
        boolean full = disk.isFull().test(cause);
        synchronized (this) {
            if (full) {
                log.debug("{} is full", disk.name(), cause);
                rest(FULL_NANOS);
            } else {
                failures++;
                tell(what, cause);
                if (!isWell()) {
                    rest(SICK_NANOS);
                }
            }
        }
    }

    /** The number of failures, including those because the disk was full. */
    public long errors() {
        return errors.sum();
    }

    @GuardedBy("this")
    private void rest(long nanos) {
        resting = true;
        restsUntil = nanoTime.getAsLong() + nanos;
    }

    @GuardedBy("this")
    private void tell(String what, IOException cause) {
        if (failures == disk.mostFailures()) {
            log.warn(
                    "{} {} {}: {}. {}. It is tried again every {} s.",
                    disk.name(),
                    failures == 1 ? "failed to" : "keeps failing, last to",
                    what,
                    cause.toString(),
                    disk.consequence(),
                    TimeUnit.NANOSECONDS.toSeconds(SICK_NANOS));
        } else if (!told) {
            log.warn("{} failed to {}: {}", disk.name(), what, cause.toString());
        } else {
            log.debug("{} failed to {}", disk.name(), what, cause);
        }
        told = true;
    }
}

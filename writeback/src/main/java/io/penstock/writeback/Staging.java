package io.penstock.writeback;

import io.penstock.disk.DataFolder;
import java.io.IOException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The staging disk: what is on it, and whether it is worth asking.
 *
 * <pre>
 *          ┌──── space was freed, or a while ────┐
 *          ▼                                     │
 *   USABLE ──────────── no space ──────────▶ FULL
 *      │ ▲
 *      │ └── a while, then a write that succeeds ──┐
 *      └──────────── any other error ──────────▶ BROKEN
 * </pre>
 *
 * <p>While it is not usable nothing is staged: content stays in memory until it is committed.
 */
final class Staging implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Staging.class);

    private static final long FULL_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final long BROKEN_NANOS = TimeUnit.SECONDS.toNanos(30);

    /** For so long after something was staged more is expected: blocks follow each other within milliseconds. */
    static final long BUSY_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    /** Less than this free, and a write that failed did so for want of space. */
    private static final long NO_SPACE_BYTES = 2L * Writeback.BLOCK_SIZE;

    /** Null if the folder cannot be used at all. */
    private final @Nullable DataFolder files;

    private final String namespace;
    private final LongSupplier limitBytes;
    private final LongSupplier nanoTime;

    // Guarded by this.
    private long usedBytes;
    private boolean resting;
    private long restsUntil;
    private boolean broken;

    private volatile long stagedLast;

    Staging(@Nullable DataFolder files, String namespace, LongSupplier limitBytes, LongSupplier nanoTime) {
        this.files = files;
        this.namespace = namespace;
        this.limitBytes = limitBytes;
        this.nanoTime = nanoTime;
        this.broken = files == null;
        this.stagedLast = nanoTime.getAsLong() - BUSY_NANOS;
    }

    /** What keeps keys of different buckets apart. */
    String namespace() {
        return namespace;
    }

    /** Nothing of it is used any more. */
    @Override
    public void close() {
        try {
            if (files != null) {
                files.close();
            }
        } catch (IOException e) {
            log.debug("The staging folder is not closed", e);
        }
    }

    /** A place for one file's content; nothing is made on disk yet. */
    StagedFile newFile() {
        return new StagedFile(
                this, String.format("%016x", ThreadLocalRandom.current().nextLong()));
    }

    DataFolder files() throws IOException {
        if (files == null) {
            throw new IOException("there is no staging folder that can be written");
        }
        return files;
    }

    /** Whether to write to it now. */
    synchronized boolean isUsable() {
        if (files == null) {
            return false;
        }
        if (resting && nanoTime.getAsLong() - restsUntil >= 0) {
            resting = false; // try it
        }
        return !resting;
    }

    /** Whether it has failed for another reason than that it is full. */
    synchronized boolean isBroken() {
        return broken;
    }

    /** Takes space before it is written to. False if there is none. */
    synchronized boolean take(long bytes) {
        if (!isUsable() || usedBytes + bytes > limitBytes.getAsLong()) {
            return false;
        }
        usedBytes += bytes;
        return true;
    }

    /** Space that an earlier run has taken. */
    synchronized void found(long bytes) {
        usedBytes += bytes;
    }

    synchronized void free(long bytes) {
        usedBytes -= bytes;
        if (!broken) {
            resting = false;
        }
    }

    synchronized long usedBytes() {
        return usedBytes;
    }

    /** Whether something is being staged: programs write, or wait for that. */
    boolean isBusy() {
        return nanoTime.getAsLong() - stagedLast < BUSY_NANOS;
    }

    /** A write has succeeded. */
    synchronized void succeeded() {
        stagedLast = nanoTime.getAsLong();
        if (broken) {
            broken = false;
            log.info("The staging disk works again and is used from now on.");
        }
    }

    void failed(String what, IOException cause) {
        boolean full = isFull();
        synchronized (this) {
            resting = true;
            restsUntil = nanoTime.getAsLong() + (full ? FULL_NANOS : BROKEN_NANOS);
            if (full) {
                log.debug("The staging disk is full", cause);
            } else if (!broken) {
                broken = true;
                log.warn(
                        "The staging disk failed to {}: {}. Writing goes on in memory; fsync waits until files are"
                                + " visible. It is tried again every {} s.",
                        what,
                        cause.toString(),
                        TimeUnit.NANOSECONDS.toSeconds(BROKEN_NANOS));
            }
        }
    }

    private boolean isFull() {
        try {
            return files().usableBytes() < NO_SPACE_BYTES;
        } catch (IOException e) {
            return false;
        }
    }
}

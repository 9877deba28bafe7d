package io.penstock.writeback.staging;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.core.NoSpace;
import io.penstock.disk.DataFolder;
import io.penstock.disk.DiskHealth;
import io.penstock.writeback.content.Block;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The staging disk: the space taken on it, and whether it is worth using. While it is not, nothing is staged: content
 * stays in memory until it is committed.
 */
public final class Staging implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Staging.class);

    /** How long after staging something more is expected: blocks follow each other within milliseconds. */
    static final long BUSY_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    /** If less than this is free, a failed write counts as a lack of space. */
    private static final long NO_SPACE_BYTES = 2L * Block.BLOCK_SIZE;

    /** Null if the folder cannot be used at all. */
    private final @Nullable DataFolder files;

    private final String namespace;

    private final LongSupplier limitBytes;
    private final LongSupplier nanoTime;

    private final DiskHealth health;

    @GuardedBy("this")
    private long usedBytes;

    private volatile long stagedLast;

    public Staging(@Nullable DataFolder files, String namespace, LongSupplier limitBytes, LongSupplier nanoTime) {
        this.files = files;
        this.namespace = namespace;
        this.limitBytes = limitBytes;
        this.nanoTime = nanoTime;
        this.health = new DiskHealth(
                new DiskHealth.Disk(
                        "The staging disk",
                        1,
                        "Writing continues in memory; fsync waits until files are in the bucket",
                        this::isFull),
                nanoTime);
        this.stagedLast = nanoTime.getAsLong() - BUSY_NANOS;
    }

    /** Keeps keys of different buckets apart. */
    public String namespace() {
        return namespace;
    }

    /** The folder is no longer used. */
    @Override
    public void close() {
        try {
            if (files != null) {
                files.close();
            }
        } catch (IOException e) {
            log.debug("The staging folder cannot be closed", e);
        }
    }

    public boolean hasFolder() {
        return files != null;
    }

    public DataFolder files() throws IOException {
        if (files == null) {
            throw new IOException("there is no writable staging folder");
        }
        return files;
    }

    /** Whether to write to it now. */
    public boolean isUsable() {
        return hasFolder() && health.allowsWrite();
    }

    /** Whether it has failed for a reason other than lack of space. */
    public boolean isBroken() {
        return !hasFolder() || !health.isWell();
    }

    /** Reserves space before it is written. False if there is none. */
    public synchronized boolean take(long bytes) {
        if (!isUsable() || usedBytes + bytes > limitBytes.getAsLong()) {
            return false;
        }
        usedBytes += bytes;
        return true;
    }

    /** Counts space taken by an earlier run. */
    public synchronized void found(long bytes) {
        usedBytes += bytes;
    }

    public synchronized void free(long bytes) {
        usedBytes -= bytes;
        health.spaceFreed();
    }

    public synchronized long usedBytes() {
        return usedBytes;
    }

    /** Whether something is being staged: programs are writing or waiting for staging. */
    public boolean isBusy() {
        return nanoTime.getAsLong() - stagedLast < BUSY_NANOS;
    }

    /** A write has succeeded. */
    public void succeeded() {
        stagedLast = nanoTime.getAsLong();
        health.succeeded();
    }

    public void failed(String what, IOException cause) {
        health.failed(what, cause);
    }

    /** The free space alone does not say it: what else uses the disk may have freed some since. */
    private boolean isFull(IOException cause) {
        try {
            return NoSpace.isSaidBy(String.valueOf(cause.getMessage())) || files().usableBytes() < NO_SPACE_BYTES;
        } catch (IOException e) {
            return false;
        }
    }
}

package io.penstock.cache.disk;

import io.penstock.disk.DiskHealth;
import java.io.IOException;
import java.time.Duration;
import java.util.Collection;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Fits the extents on disk to their bounds: at the start, periodically, and at the end. */
public final class DiskUpkeep {
    private static final Logger log = LoggerFactory.getLogger(DiskUpkeep.class);

    private static final long DRAIN_SECONDS = 20;

    private final DataFiles files;
    private final PageIndex index;
    private final DiskSpace space;
    private final DiskHealth health;
    private final DiskTasks tasks;
    private final ObjectTable table;
    private final Pins pins;

    /** Other programs may fill the disk while nothing is written here. */
    private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().daemon().name("penstock-free-space").factory());

    public DiskUpkeep(
            DataFiles files,
            PageIndex index,
            DiskSpace space,
            DiskHealth health,
            DiskTasks tasks,
            ObjectTable table,
            Pins pins) {
        this.files = files;
        this.index = index;
        this.space = space;
        this.health = health;
        this.tasks = tasks;
        this.table = table;
        this.pins = pins;
    }

    /** Takes over the extents of an earlier run, fits them to the bounds, and removes files of no object. */
    public void start(Collection<ObjectExtents> found, Duration freeSpaceInterval) {
        for (ObjectExtents object : found) {
            files.setKnown(object);
            object.stored().extents().forEach(space::add);
        }
        fit();
        long nanos = freeSpaceInterval.toNanos();
        var _ = timer.scheduleWithFixedDelay(this::look, nanos, nanos, TimeUnit.NANOSECONDS);
        tasks.execute("remove unknown files", files::removeUnknown);
    }

    private void look() {
        tasks.execute("measure the free space", space::fit);
        tasks.execute("end pins", () -> pins.end(System.currentTimeMillis()));
    }

    /** The bounds have changed. */
    public void fit() {
        tasks.execute("evict", space::fit);
    }

    /** Waits until all pending tasks, and those that they create, are done. */
    public void awaitIdle() throws InterruptedException {
        tasks.awaitIdle();
    }

    /** Writes the waiting pages, for a bounded time. */
    public void close() {
        try {
            timer.shutdownNow();
            if (!tasks.close(DRAIN_SECONDS)) {
                log.warn(
                        "The cache's disk is slow: pages that it did not write within {} s are not stored.",
                        DRAIN_SECONDS);
                return;
            }
            index.compact();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (IOException e) {
            health.failed("write the index", e);
        } finally {
            closePacks();
        }
    }

    /** Other files are closed by their readers. */
    private void closePacks() {
        for (ObjectExtents object : table.all()) {
            if (object.isPack()) {
                files.closePack(object);
            }
        }
    }
}

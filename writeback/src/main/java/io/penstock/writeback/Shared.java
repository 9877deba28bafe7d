package io.penstock.writeback;

import io.penstock.core.ObjectVersion;
import io.penstock.writeback.Writeback.Listener;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.jspecify.annotations.Nullable;

/** What all written files of a mount share. Safe for use by any number of threads. */
final class Shared {
    private final WritebackConfig config;
    private final WritebackLimits limits;
    private final BaseContent base;
    private final BlockMemory memory;
    private final Upload.Factory uploads;
    private final InstantSource clock;
    private final Set<WrittenFile> files = ConcurrentHashMap.newKeySet();

    private final ExecutorService commits = Executors.newThreadPerTaskExecutor(
            Thread.ofVirtual().name("commit-", 0).factory());

    private volatile @Nullable Listener listener;
    private volatile boolean closed;

    Shared(
            WritebackConfig config,
            WritebackLimits limits,
            BaseContent base,
            Upload.Factory uploads,
            InstantSource clock) {
        this.config = config;
        this.limits = limits;
        this.base = base;
        this.uploads = uploads;
        this.clock = clock;
        this.memory = new BlockMemory(() -> limits.get().dirtyBytes(), () -> {});
    }

    WritebackConfig config() {
        return config;
    }

    WritebackLimits limits() {
        return limits;
    }

    BaseContent base() {
        return base;
    }

    BlockMemory memory() {
        return memory;
    }

    Upload.Factory uploads() {
        return uploads;
    }

    ExecutorService commits() {
        return commits;
    }

    Instant now() {
        return clock.instant();
    }

    Set<WrittenFile> files() {
        return files;
    }

    WrittenFile add(WrittenFile file) {
        files.add(file);
        return file;
    }

    void listen(Listener told) {
        listener = told;
    }

    void committed(WrittenFile file, ObjectVersion version) {
        Listener told = listener;
        if (told != null) {
            told.committed(file, version);
        }
    }

    /** The file is gone. */
    void ended(WrittenFile file, boolean givenUp) {
        files.remove(file);
        Listener told = listener;
        if (givenUp && told != null) {
            told.givenUp(file);
        }
        synchronized (files) {
            files.notifyAll();
        }
    }

    /** Waits until no file is left without a handle. */
    void drain() throws InterruptedException {
        synchronized (files) {
            while (files.stream().anyMatch(WrittenFile::isBehind)) {
                files.wait();
            }
        }
    }

    boolean isClosed() {
        return closed;
    }

    void close() {
        closed = true;
        commits.shutdownNow();
        boolean interrupted = false;
        while (!commits.isTerminated()) {
            try {
                var _ = commits.awaitTermination(1, java.util.concurrent.TimeUnit.HOURS);
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}

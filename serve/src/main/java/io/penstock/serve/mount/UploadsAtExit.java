package io.penstock.serve.mount;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.settings.ByteSizes;
import io.penstock.writeback.Writeback;
import io.penstock.writeback.WritebackStatistics;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Closed files that are not uploaded yet. Unmounting waits for them, however long it takes. A process that must exit
 * writes data that is only in memory to the staging disk, waits briefly, and leaves the rest in staging for the next
 * mount. Thread-safe.
 */
final class UploadsAtExit {
    private static final Logger log = LoggerFactory.getLogger(UploadsAtExit.class);

    /** How long the staging disk may take for the data in memory. */
    private static final Duration STAGING_PATIENCE = Duration.ofSeconds(20);

    /** Less than {@link StopSignal} allows for the whole end of the process; after that it calls {@link #leave}. */
    private static final Duration HURRIED_PATIENCE = Duration.ofSeconds(20);

    /** Usually there is nothing to report. */
    private static final Duration BEFORE_REPORTS = Duration.ofMillis(100);

    private static final Duration BETWEEN_REPORTS = Duration.ofSeconds(1);

    /** The number of reports for each log line. */
    private static final int REPORTS_A_LOG_LINE = 30;

    private final Supplier<WritebackStatistics> statistics;
    private final Drain drain;
    private final Leave leave;
    private final Duration patience;
    private volatile Listener listener = (left, failed) -> {};

    private volatile @Nullable Thread watch;
    private final CountDownLatch hurried = new CountDownLatch(1);

    @GuardedBy("this")
    private boolean hasLeft;

    UploadsAtExit(Writeback writeback) {
        this(
                writeback::statistics,
                writeback::drain,
                new Leave() {
                    @Override
                    public void stage() {
                        writeback.stage();
                    }

                    @Override
                    public List<String> end() {
                        return writeback.leave();
                    }
                },
                HURRIED_PATIENCE);
    }

    /** @param patience how long to wait for uploads once the process must exit */
    UploadsAtExit(Supplier<WritebackStatistics> statistics, Drain drain, Leave leave, Duration patience) {
        this.statistics = statistics;
        this.patience = patience;
        this.drain = drain;
        this.leave = leave;
    }

    /** Receives the backlog. */
    @FunctionalInterface
    interface Listener {
        /**
         * @param left the files and bytes left to upload, in words; empty if there are none
         * @param failed the number of files that could not be uploaded, including those of earlier mounts
         */
        void tell(String left, int failed);
    }

    /** Waits until everything is uploaded. */
    interface Drain {
        void await() throws InterruptedException;
    }

    /**
     * The actions of a process that exits before everything is uploaded. An interrupt ends each of them and leaves the
     * interrupt flag set.
     */
    interface Leave {
        /** Stages the data that is only in memory. */
        void stage();

        /** The same, and stops the uploads. @return the keys of lost files */
        List<String> end();
    }

    /**
     * Reports each change of the backlog within about a second, as an empty text if there is none, until it is
     * {@linkplain #await waited for}. Call once.
     */
    void watch(Listener progress) {
        watch = Thread.ofVirtual().name("backlog watch").start(() -> {
            String told = "";
            int toldFailed = 0;
            try {
                while (true) {
                    Thread.sleep(BETWEEN_REPORTS);
                    String left = statistics.get().backlogFiles() == 0 ? "" : left();
                    int failed = failed();
                    if (!left.equals(told) || failed != toldFailed) {
                        progress.tell(left, failed);
                        told = left;
                        toldFailed = failed;
                    }
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
    }

    /** Sets the listener that receives the backlog about once a second while it is waited for. */
    void tell(Listener progress) {
        listener = progress;
    }

    /** The process must exit and may be killed first: data that is only in memory is staged in the background. */
    void hurry() {
        hurried.countDown();
        var _ = Thread.ofVirtual().name("leave").start(leave::stage);
    }

    /** The process exits now. Logs unfinished and lost files; a second call waits for the first. */
    void leave() {
        Thread leaving = Thread.ofVirtual().name("leave").start(this::endAndTell);
        try {
            if (!leaving.join(STAGING_PATIENCE)) { // the disk hangs
                log.error("Not all data in memory was staged within {} s", STAGING_PATIENCE.toSeconds());
                leaving.interrupt();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private synchronized void endAndTell() {
        if (hasLeft) {
            return;
        }
        hasLeft = true;
        List<String> lost = leave.end();
        if (statistics.get().backlogFiles() > lost.size()) {
            log.warn("Exiting with uploads left: {}; the next mount continues them", left());
        }
        for (String key : lost) {
            log.error(
                    "'{}' was not uploaded, and data written since the last upload or fsync is LOST: this"
                            + " process must exit, and the staging disk cannot store it",
                    key);
        }
    }

    /** Waits for the uploads. An interrupt ends the wait and leaves the interrupt flag set. */
    void await() {
        CountDownLatch drained = new CountDownLatch(1);
        Thread draining = Thread.ofVirtual().name("backlog").start(() -> {
            try {
                drain.await();
                drained.countDown();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        try {
            endWatch();
            if (!awaitWhileTelling(drained)) {
                leave();
            }
            listener.tell("", failed());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            draining.interrupt();
        }
    }

    private void endWatch() throws InterruptedException {
        Thread watching = watch;
        if (watching != null) {
            watching.interrupt();
            watching.join();
        }
    }

    /** @return whether everything is uploaded */
    private boolean awaitWhileTelling(CountDownLatch drained) throws InterruptedException {
        Duration pause = BEFORE_REPORTS;
        for (int reports = 0; hurried.getCount() > 0; reports++) {
            if (drained.await(pause.toMillis(), TimeUnit.MILLISECONDS)) {
                return true;
            }
            pause = BETWEEN_REPORTS;
            String left = left();
            listener.tell(left, failed());
            if (reports % REPORTS_A_LOG_LINE == 0) {
                log.info("Unmounted; still uploading: {}", left);
            }
        }
        return drained.await(patience.toMillis(), TimeUnit.MILLISECONDS);
    }

    long files() {
        return statistics.get().backlogFiles();
    }

    long bytes() {
        return statistics.get().backlogBytes();
    }

    private int failed() {
        return statistics.get().failedFiles();
    }

    private String left() {
        WritebackStatistics now = statistics.get();
        return now.backlogFiles()
                + (now.backlogFiles() == 1 ? " file, " : " files, ")
                + ByteSizes.print(rounded(now.backlogBytes()));
    }

    /** Rounds down to the largest unit, up to MiB, of which there is at least one. */
    private static long rounded(long bytes) {
        long unit = bytes >= 1 << 20 ? 1 << 20 : bytes >= 1 << 10 ? 1 << 10 : 1;
        return bytes / unit * unit;
    }
}

package io.penstock.filesystem.names;

import io.penstock.core.Printable;
import io.penstock.filesystem.names.MovingDirectories.Move;
import io.penstock.filesystem.names.RunningRename.Step;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The progress of the running renames of directories: for the log, every few seconds, and for the statistics.
 * Thread-safe.
 */
final class RenameProgress {
    private static final Logger LOG = LoggerFactory.getLogger(RenameProgress.class);

    static final long INTERVAL_NANOS = TimeUnit.SECONDS.toNanos(5);

    private final Consumer<String> log;
    private final LongSupplier nanoTime;
    private final Set<Running> running = ConcurrentHashMap.newKeySet();

    RenameProgress() {
        this(LOG::info, System::nanoTime);
    }

    RenameProgress(Consumer<String> log, LongSupplier nanoTime) {
        this.log = log;
        this.nanoTime = nanoTime;
    }

    /** Begins a step of a rename. The result must be closed. */
    Running begin(Move move, Step step, int all) {
        Running begun = new Running(move, step, all);
        running.add(begun);
        return begun;
    }

    /** The running renames, sorted by their old names. */
    List<RunningRename> now() {
        return running.stream()
                .map(Running::now)
                .sorted(Comparator.comparing(RunningRename::from))
                .toList();
    }

    /** A step of one rename. */
    final class Running implements AutoCloseable {
        private final Move move;
        private final Step step;
        private final int all;
        private final AtomicInteger done = new AtomicInteger();
        private final AtomicLong reportedAt = new AtomicLong(nanoTime.getAsLong());

        private Running(Move move, Step step, int all) {
            this.move = move;
            this.step = step;
            this.all = all;
        }

        void done(int more) {
            int now = done.addAndGet(more);
            long reported = reportedAt.get();
            long time = nanoTime.getAsLong();
            if (time - reported >= INTERVAL_NANOS && reportedAt.compareAndSet(reported, time)) {
                log.accept("Renaming '%s' to '%s': %d of %d objects %s"
                        .formatted(
                                Printable.text(move.from().prefix()),
                                Printable.text(move.to().prefix()),
                                now,
                                all,
                                step.participle()));
            }
        }

        private RunningRename now() {
            return new RunningRename(move.from().prefix(), move.to().prefix(), step, done.get(), all);
        }

        @Override
        public void close() {
            running.remove(this);
        }
    }
}

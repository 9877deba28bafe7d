package io.penstock.filesystem;

import io.penstock.core.Printable;
import io.penstock.filesystem.MovingDirectories.Move;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Tells the log how far a rename has come, every few seconds. Safe for use by any number of threads. */
final class RenameProgress {
    private static final Logger LOG = LoggerFactory.getLogger(RenameProgress.class);

    private static final long INTERVAL_NANOS = TimeUnit.SECONDS.toNanos(5);

    private final Move move;
    private final String what;
    private final int all;
    private final AtomicInteger done = new AtomicInteger();
    private final AtomicLong toldAt = new AtomicLong(System.nanoTime());

    /** @param what is done to each of {@code all} objects: a participle */
    RenameProgress(Move move, String what, int all) {
        this.move = move;
        this.what = what;
        this.all = all;
    }

    void done(int more) {
        int now = done.addAndGet(more);
        long told = toldAt.get();
        long time = System.nanoTime();
        if (time - told >= INTERVAL_NANOS && toldAt.compareAndSet(told, time)) {
            LOG.info(
                    "Renaming '{}' to '{}': {} of {} objects {}",
                    Printable.text(move.from().prefix()),
                    Printable.text(move.to().prefix()),
                    now,
                    all,
                    what);
        }
    }
}

package io.penstock.writeback;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.writeback.bytes.BaseLayer;
import io.penstock.writeback.upload.FileUpload;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The handles of one written file, and its end: after the last handle is released, uncommitted content is committed,
 * and everything is freed. Safe for use by any number of threads.
 */
final class FileHandles {
    private static final Logger log = LoggerFactory.getLogger(FileHandles.class);

    private final MountContext context;
    private final FileState state;
    private final FileCommits commits;
    private final FileSync sync;
    private final Consumer<Ending> ended;

    /** The content's lock. */
    private final ReentrantLock lock;

    @GuardedBy("lock")
    private int handles;

    /** How a file ends. */
    enum Ending {
        /** Everything is committed, or the name is gone. */
        DONE,
        /** An earlier run removed or replaced its name just before the crash. */
        SUPERSEDED,
        /** Its commit failed. Its content waits for {@code penstock recover}. */
        KEPT
    }

    /**
     * @param handles initial number: 0 for a file of an earlier run
     * @param ended called once the file has ended and everything is freed; not called if the mount ends first
     */
    FileHandles(FileCommits commits, FileSync sync, int handles, Consumer<Ending> ended) {
        this.context = commits.context();
        this.state = commits.state();
        this.commits = commits;
        this.sync = sync;
        this.lock = commits.bytes().lock();
        this.handles = handles;
        this.ended = ended;
    }

    /** Whether there is no handle. Caller holds the lock. */
    @SuppressWarnings("GuardedBy") // the caller holds it
    boolean isNone() {
        return handles == 0;
    }

    /** Caller holds the lock. @throws IllegalStateException if no order of calls may lead to this */
    @SuppressWarnings("GuardedBy") // the caller holds it
    void checkInvariants() {
        if (handles < 0) {
            throw new IllegalStateException("released " + -handles + " times too often: " + state);
        }
        if (state.isEnded() && handles > 0 && !context.isClosed()) {
            throw new IllegalStateException("ended with " + handles + " handles: " + state);
        }
    }

    /** Adds a handle. False if the file has ended. */
    boolean retain() {
        lock.lock();
        try {
            handles += state.isEnded() ? 0 : 1;
            return !state.isEnded();
        } finally {
            lock.unlock();
        }
    }

    /** Removes a handle. Never waits. */
    void release() {
        boolean last;
        lock.lock();
        try {
            handles--;
            last = handles == 0;
        } finally {
            lock.unlock();
        }
        if (last) {
            context.background().run(() -> endIfDone(null));
        }
    }

    /** Bytes still to upload if the file is committed in the background, else -1. */
    long backlogBytes() {
        lock.lock();
        try {
            Commit running = state.running();
            boolean inBackground = handles == 0 || (running != null && running.isInBackground());
            if (state.isEnded() || !state.isDirty() || !inBackground) {
                return -1;
            }
            return Math.max(
                    0, commits.bytes().content().size() - commits.object().uploadedBytes());
        } finally {
            lock.unlock();
        }
    }

    /**
     * If no handle is left and no commit runs, commits the rest; frees everything if none is left or that is futile.
     *
     * @param failure of the last commit; null if it succeeded
     */
    void endIfDone(@Nullable Exception failure) {
        Ending ending;
        lock.lock();
        try {
            if (handles > 0 || state.isUndecided() || state.isEnded() || context.isClosed()) {
                return; // the end of the mount stops the remaining files
            }
            if (state.isDirty() && (failure == null || Commit.outlook(failure) == Commit.Outlook.PASSES)) {
                commits.beginInBackground();
                return;
            }
            if (!state.isDirty()) {
                ending = Ending.DONE;
            } else if (failure == null || commits.isSuperseded()) {
                ending = Ending.SUPERSEDED;
            } else {
                ending = Ending.KEPT;
                commits.error().setForGood(failure); // callers that waited for the commit may not have read it yet
            }
            state.end();
        } finally {
            lock.unlock();
        }
        if (ending == Ending.KEPT && failure != null) {
            sync.keep(failure);
        } else if (ending == Ending.SUPERSEDED) {
            log.info("'{}' was removed or replaced just before the crash", commits.key());
        }
        free(ending == Ending.KEPT);
        ended.accept(ending);
    }

    /** The mount ends: closes everything, and leaves the staged files for another run. */
    void stop() {
        boolean keep;
        lock.lock();
        try {
            if (state.isEnded()) {
                return;
            }
            keep = state.isFoundAgain();
            state.end();
        } finally {
            lock.unlock();
        }
        free(keep);
    }

    private void free(boolean keep) {
        FileUpload left;
        BaseLayer base;
        lock.lock();
        try {
            left = commits.object().takeUpload();
            commits.bytes().content().drop();
            base = commits.bytes().layer();
        } finally {
            lock.unlock();
        }
        if (keep) {
            base.staged().uncount();
        } else {
            base.staged().remove();
        }
        base.release();
        if (left != null && keep) {
            left.stop();
        } else if (left != null) {
            left.abandon();
        }
    }
}

package io.penstock.writeback;

import io.penstock.writeback.bytes.FileBytes;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Has a file's commit make way for staging: while one runs, the data file is that of the version to be (ADR 15). For one
 * caller at a time, with the file's lock held but for {@link #end}.
 */
final class StagingTurn {
    /** How often the time for which a commit is left alone doubles: to eight seconds. */
    private static final int MOST_DOUBLED = 3;

    private final FileCommits commits;
    private final FileState state;
    private final FileBytes bytes;
    private final ReentrantLock lock;
    private final Condition progress;

    StagingTurn(FileCommits commits) {
        this.commits = commits;
        this.state = commits.state();
        this.bytes = commits.bytes();
        this.lock = bytes.lock();
        this.progress = bytes.progress();
    }

    /** Whether the file cannot be staged yet: a commit has a snapshot of it, or is about to report its outcome. */
    boolean isToCome() {
        Commit running = state.running();
        return bytes.committing() != null || (running != null && !running.isLeft());
    }

    /**
     * Waits for the commit that runs as long as it may soon be done, the longer the more have made way that got on, so that
     * one succeeds at last. After that it is ended, and the next begins once the file is staged; but the request that decides
     * goes on, and the file is staged over it.
     */
    void await() throws InterruptedException {
        while (isToCome()) {
            Commit commit = state.running();
            long nanos = commit == null ? Long.MAX_VALUE : nanosToWait(commit);
            if (commit == null || nanos > 0) {
                long _ = progress.awaitNanos(nanos);
                continue;
            }
            state.makeWay(commit);
            if (commit.leave()) {
                bytes.leave();
            }
        }
    }

    private long nanosToWait(Commit commit) {
        if (!commits.inDoubt().isHarmless()) {
            commit.awaited(commits.context().deadline());
            return Long.MAX_VALUE; // data that is staged now might stand on a version that is gone
        }
        int doubled = Math.min(state.madeWayAlthoughGettingOn(), MOST_DOUBLED);
        return commit.nanosToWait(commits.context().pacing().patience() << doubled);
    }

    /** The caller that stages is done. Without the lock. */
    void end() {
        lock.lock();
        try {
            if (!state.staged()) {
                return;
            }
            commits.beginNext();
        } finally {
            lock.unlock();
        }
        commits.idle();
    }
}

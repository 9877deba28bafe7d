package io.penstock.writeback;

import io.penstock.writeback.bytes.FileBytes;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Lets a file's commit yield to staging: while one runs, the data file belongs to the version being committed (ADR 15).
 * For one caller at a time, which holds the file's lock except in {@link #end}.
 */
final class StagingTurn {
    /** How often a commit's undisturbed time doubles: up to eight seconds. */
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

    /** Whether the file cannot be staged yet: a commit has a snapshot of it or is about to report its outcome. */
    boolean isToCome() {
        Commit running = state.running();
        return bytes.committing() != null || (running != null && !running.isLeft());
    }

    /**
     * Waits while the running commit may end soon, longer if earlier ones yielded despite progress, so that one finally
     * succeeds. Then the commit is ended, and the next begins once the file is staged. A deciding request in flight
     * continues, and the file is staged over it.
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
            return Long.MAX_VALUE; // data staged now might be based on a version that is gone
        }
        int doubled = Math.min(state.madeWayAlthoughGettingOn(), MOST_DOUBLED);
        return commit.nanosToWait(commits.context().pacing().patience() << doubled);
    }

    /** The caller has finished staging. Called without the lock. */
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

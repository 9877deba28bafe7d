package io.penstock.writeback;

import io.penstock.objectstore.Deadline;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.WriteCondition;
import java.io.IOException;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/**
 * Callers that wait until their writes are visible. An interrupt ends the wait, not the commit. Safe for use by any
 * number of threads.
 */
final class CommitWaits {
    private final FileCommits commits;
    private final FileState state;
    private final ReentrantLock lock;
    private final Condition progress;

    CommitWaits(FileCommits commits) {
        this.commits = commits;
        this.state = commits.state();
        this.lock = commits.bytes().lock();
        this.progress = commits.bytes().progress();
    }

    /** Returns once all earlier writes are visible. */
    void commit() throws ObjectStoreException, IOException, InterruptedException {
        commit(commits.object()::condition, true);
    }

    /** The same, whatever the object is now. */
    void commitOver() throws ObjectStoreException, IOException, InterruptedException {
        commit(() -> WriteCondition.ALWAYS, true);
    }

    /** {@link #commit} in the background: no program receives an error. */
    void commitInBackground() throws ObjectStoreException, IOException, InterruptedException {
        commit(commits.object()::condition, false);
    }

    private void commit(Supplier<WriteCondition> condition, boolean forProgram)
            throws ObjectStoreException, IOException, InterruptedException {
        lock.lockInterruptibly();
        try {
            Wait wait = new Wait(condition);
            while (!wait.isOver(forProgram)) {
                if (state.isHeld()) {
                    commits.beginInBackground();
                    progress.await();
                    wait.deadline.restart(); // this wait was not for the store
                } else if (wait.beginsCommit()) {
                    progress.await();
                }
            }
        } finally {
            lock.unlock();
        }
    }

    /** Returns once all earlier writes are visible and no commit runs. None begins until {@link FileCommits#resume}. */
    void hold() throws ObjectStoreException, IOException, InterruptedException {
        lock.lockInterruptibly();
        try {
            while (state.isHeld()) {
                progress.await();
            }
            state.hold();
            boolean done = false;
            try {
                Wait wait = new Wait(commits.object()::condition);
                while (!wait.isOver(true) || state.running() != null) {
                    if (wait.beginsCommit()) {
                        progress.await();
                    }
                }
                done = true;
            } finally {
                if (!done) {
                    commits.resume();
                }
            }
        } finally {
            lock.unlock();
        }
    }

    /**
     * {@link #hold} without a commit, for a file that the store does not know. Ends a running commit, which begins
     * again when the file is resumed.
     *
     * @return false, and nothing is held, if the store has or may have some of the file, or part of an upload
     */
    boolean holdUncommitted() throws InterruptedException {
        lock.lockInterruptibly();
        try {
            while (state.isHeld()) {
                progress.await();
            }
            state.hold();
            boolean held = false;
            try {
                held = commits.isUnknownToTheStore() && endsCommit() && commits.isUnknownToTheStore();
            } finally {
                if (!held) {
                    commits.resume();
                }
            }
            return held;
        } finally {
            lock.unlock();
        }
    }

    /** Ends the running commit. False if it is too late for that. */
    private boolean endsCommit() throws InterruptedException {
        for (Commit running = state.running(); running != null; running = state.running()) {
            if (!running.leaveUnlessDeciding()) {
                return false;
            }
            progress.await();
        }
        return true;
    }

    /** One caller's wait. Caller holds the lock. */
    private final class Wait {
        private final Supplier<WriteCondition> condition;
        private final Deadline deadline = commits.context().deadline();
        private final long wanted = state.changes();
        private long announced = state.announced();
        private int waits;

        /** @param condition of a commit; evaluated when the commit begins */
        Wait(Supplier<WriteCondition> condition) {
            this.condition = condition;
        }

        /** @param forProgram whether a program receives an error */
        boolean isOver(boolean forProgram) throws ObjectStoreException, IOException {
            commits.error().report(forProgram);
            boolean isNameless = !state.hasName() && state.running() == null; // the removal may be interrupted
            if (isNameless || state.announced() >= wanted) {
                return true;
            }
            if (state.announced() > announced) { // the full time for the next commit
                announced = state.announced();
                deadline.restart();
            } else if (waits > 0 && state.running() == null && deadline.isOver()) { // all yielded to staging
                throw deadline.overdue("'" + state.key() + "' is not committed");
            }
            return false;
        }

        /** Begins a commit if none runs. @return whether one runs that the caller can wait for */
        boolean beginsCommit() {
            commits.awaited(deadline);
            if (state.running() == null) {
                commits.begin(Commit.Mode.AWAITED, commits.context().pacing().atOnce(), deadline, condition.get());
            }
            waits++;
            return state.running() != null;
        }
    }
}

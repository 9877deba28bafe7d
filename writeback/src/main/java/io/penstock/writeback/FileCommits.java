package io.penstock.writeback;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.Deadline;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.OperationId;
import io.penstock.objectstore.StoredObject;
import io.penstock.objectstore.WriteCondition;
import io.penstock.writeback.CommitTiming.RetrySchedule;
import io.penstock.writeback.bytes.BaseLayer;
import io.penstock.writeback.bytes.FileBytes;
import io.penstock.writeback.content.Block;
import io.penstock.writeback.content.BlockMap;
import io.penstock.writeback.journal.JournalRecord;
import io.penstock.writeback.staging.Recovery;
import io.penstock.writeback.survivors.FileRecord;
import io.penstock.writeback.upload.FileUpload;
import io.penstock.writeback.upload.JournalledUpload;
import java.io.IOException;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Makes one file's content visible: its commits, one at a time, and the callers that wait for them. {@link FileState}
 * has the states; this class waits for transitions and carries out what they require. Safe for use by any number of
 * threads, except methods said to be called with the lock, and {@code state}, {@code error} and {@code object}, which
 * the lock guards.
 *
 * <p>A failure sticks until one of the file's callers has received it. An interrupt ends a caller's wait, not the
 * commit.
 */
final class FileCommits {
    final MountContext context;

    /** Its lock is the file's. */
    final FileBytes bytes;

    final FileState state;
    final StickyError error;
    final FileObject object;
    final InDoubt inDoubt;

    private final Consumer<StoredObject> onCommitted;
    private final Consumer<@Nullable Exception> onIdle;

    /** Of the next commit, if it is the first of a new file; null for a random one. Guarded by the file's lock. */
    private @Nullable OperationId firstOperation;

    /** When a shortage of memory may begin a commit again, after a failure not reported yet: by System.nanoTime(). */
    @GuardedBy("bytes.lock()")
    private long commitForMemoryAgain;

    /**
     * @param onCommitted called when the object has a new version
     * @param onIdle called when no commit runs and nothing may be left to do; with the failure of the last commit, or
     *     null if it succeeded or yielded. Neither is called with the lock, except while the mount ends, when it
     *     does nothing
     */
    FileCommits(
            MountContext context,
            FileState state,
            BlockMap content,
            BaseLayer layer,
            FileRecord record,
            Consumer<StoredObject> onCommitted,
            Consumer<@Nullable Exception> onIdle) {
        this.context = context;
        this.state = state;
        this.error = new StickyError(state);
        this.bytes = new FileBytes(context.resources(), this::commitToFreeMemory, content, layer, record);
        this.object = new FileObject(context, state, bytes);
        this.inDoubt = new InDoubt(context.store(), bytes);
        this.onCommitted = onCommitted;
        this.onIdle = onIdle;
    }

    /** Takes over a file of an earlier run, before other threads can use it. */
    void found(Recovery.Found found) {
        Recovery.Survived survived = found.survived();
        if (survived == null || survived.file().header().isChanged()) {
            state.created(found.opened().replaced());
        }
        if (survived != null
                && survived.journalled() != null
                && survived.file().header().isChanged()) {
            object.setJournalled(survived.journalled());
            state.durable(state.changes());
            state.changed(found.written().modified()); // newer than what is durable
        }
        if (found.opened().renamed()) {
            object.replaceWhole(found.opened().replaced());
        }
        if (survived == null || found.state().isInDoubt()) {
            inDoubt.recovered(found, state.changes());
        }
        JournalledUpload earlier = found.state().upload();
        if (earlier != null) {
            bytes.locked(() -> object.resume(earlier));
        }
    }

    /** Its first commit makes the object by this operation, which created the file. */
    void createdBy(@Nullable OperationId operation) {
        bytes.locked(() -> {
            firstOperation = operation;
        });
    }

    String key() {
        return bytes.locked(state::key);
    }

    // ---- changes; caller holds the lock

    /** The bytes in this range change. */
    void changed(ByteRange range) {
        changed();
        object.changed(range);
    }

    /** Something other than the content must be committed. */
    void changed() {
        state.changed(context.now());
    }

    /** The block with this index has become whole: it is staged, and parts that it completes may be sent. */
    void whole(long block) {
        bytes.stage(block);
        if (state.running() == null && state.hasName() && !object.isTemporary()) {
            object.upload().ready(new ByteRange(block * Block.BLOCK_SIZE, Block.BLOCK_SIZE));
        }
    }

    // ---- beginning commits; caller holds the lock

    /** Commits may begin again after a hold. */
    void resume() {
        state.resume();
        beginNext();
        bytes.progress().signalAll();
    }

    /** Begins the commit that was requested while none could begin. */
    void beginNext() {
        RetrySchedule next = state.takeNext();
        if (next != null && state.isDirty() && !context.isClosed()) {
            beginInBackground(next);
        }
    }

    /** {@link #beginInBackground} for a file that was just closed: a new one may be about to be renamed. */
    void beginAfterClose() {
        beginInBackground(
                object.isNew()
                        ? context.timing().afterDelay()
                        : context.timing().immediate());
    }

    /** Begins a commit in the background, unless one is running. If none may begin now, it begins once one may. */
    void beginInBackground() {
        beginInBackground(context.timing().immediate());
    }

    private void beginInBackground(RetrySchedule schedule) {
        if (state.want(schedule)) {
            begin(Commit.Mode.BACKGROUND, schedule, context.retries().forWriting(), object.condition());
        }
    }

    /** Begins a commit; none runs. */
    private void begin(Commit.Mode mode, RetrySchedule schedule, Deadline deadline, WriteCondition condition) {
        OperationId operation = firstOperation == null ? OperationId.random() : firstOperation;
        firstOperation = null;
        Commit commit = new Commit(
                this,
                operation,
                state.key(),
                object.beginCommit(),
                bytes.takeSnapshot(),
                state.changes(),
                condition,
                mode,
                schedule,
                deadline);
        state.begin(commit);
        try {
            context.background().execute(commit);
        } catch (RejectedExecutionException e) {
            ended(commit, new IOException("'" + state.key() + "' was not committed: the mount is ending", e));
        }
    }

    /** Begins a commit that frees memory. False if there is nothing to commit or a commit has just failed. */
    private boolean commitToFreeMemory() {
        bytes.lock().lock();
        try {
            boolean inVain = error.isSet() && System.nanoTime() - commitForMemoryAgain < 0;
            if (state.running() == null && state.isDirty() && !inVain && !context.isClosed()) {
                beginInBackground();
            }
            return state.isCommitUnderWay();
        } finally {
            bytes.lock().unlock();
        }
    }

    // ---- waiting for commits

    /** A caller waits for the running commit, if any: it fails instead of being retried. Caller holds the lock. */
    void join() {
        join(context.deadline());
    }

    private void join(Deadline deadline) {
        Commit running = state.running();
        if (running != null) {
            running.join(deadline);
        }
    }

    /** Returns once all earlier writes are visible. */
    void commit() throws ObjectStoreException, IOException, InterruptedException {
        commit(object::condition, true);
    }

    /** The same, whatever the object is now. */
    void commitOver() throws ObjectStoreException, IOException, InterruptedException {
        commit(() -> WriteCondition.ALWAYS, true);
    }

    /** {@link #commit} in the background: no program receives an error. */
    void commitInBackground() throws ObjectStoreException, IOException, InterruptedException {
        commit(object::condition, false);
    }

    private void commit(Supplier<WriteCondition> condition, boolean forProgram)
            throws ObjectStoreException, IOException, InterruptedException {
        bytes.lock().lockInterruptibly();
        try {
            Wait wait = new Wait(condition);
            while (!wait.isOver(forProgram)) {
                if (state.isHeld()) {
                    beginInBackground();
                    bytes.progress().await();
                    wait.deadline.restart(); // this wait was not for the store
                } else if (wait.beginsCommit()) {
                    bytes.progress().await();
                }
            }
        } finally {
            bytes.lock().unlock();
        }
    }

    /** Returns once all earlier writes are visible and no commit runs. None begins until {@link #resume}. */
    void hold() throws ObjectStoreException, IOException, InterruptedException {
        bytes.lock().lockInterruptibly();
        try {
            awaitResumed();
            state.hold();
            boolean done = false;
            try {
                Wait wait = new Wait(object::condition);
                while (!wait.isOver(true) || state.running() != null) {
                    if (wait.beginsCommit()) {
                        bytes.progress().await();
                    }
                }
                done = true;
            } finally {
                if (!done) {
                    resume();
                }
            }
        } finally {
            bytes.lock().unlock();
        }
    }

    /**
     * {@link #hold} without a commit, for a file that the store does not know. Ends a running commit, which begins
     * again when the file is resumed.
     *
     * @return false, and nothing is held, if the store has or may have some of the file, or part of an upload
     */
    boolean holdUncommitted() throws InterruptedException {
        bytes.lock().lockInterruptibly();
        try {
            awaitResumed();
            state.hold();
            boolean held = false;
            try {
                held = isUnknownToStore() && endsCommit() && isUnknownToStore();
            } finally {
                if (!held) {
                    resume();
                }
            }
            return held;
        } finally {
            bytes.lock().unlock();
        }
    }

    /** Waits until no other caller holds the file. */
    private void awaitResumed() throws InterruptedException {
        while (state.isHeld()) {
            bytes.progress().await();
        }
    }

    /** Whether nothing of it has or may have reached the store, and no object has its key. */
    private boolean isUnknownToStore() {
        return state.hasName()
                && object.isNew()
                && object.uploadedBytes() == 0
                && !object.isCopied()
                && !inDoubt.isAny();
    }

    /** Ends the running commit. False if it is too late for that. */
    private boolean endsCommit() throws InterruptedException {
        for (Commit running = state.running(); running != null; running = state.running()) {
            if (!running.leaveUnlessDeciding()) {
                return false;
            }
            bytes.progress().await();
        }
        return true;
    }

    /** One caller's wait. Caller holds the lock. */
    private final class Wait {
        private final Supplier<WriteCondition> condition;
        private final Deadline deadline = context.deadline();
        private final long wanted = state.changes();
        private long announced = state.announced();
        private int waits;

        /** @param condition of a commit; evaluated when the commit begins */
        Wait(Supplier<WriteCondition> condition) {
            this.condition = condition;
        }

        /** @param forProgram whether a program receives an error */
        boolean isOver(boolean forProgram) throws ObjectStoreException, IOException {
            error.report(forProgram);
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
            join(deadline);
            if (state.running() == null) {
                begin(Commit.Mode.AWAITED, context.timing().immediate(), deadline, condition.get());
            }
            waits++;
            return state.running() != null;
        }
    }

    // ---- calls by the running commit

    /** The commit waits for its next attempt. Its callers need not wait for it. */
    void pausing() {
        bytes.locked(() -> bytes.progress().signalAll());
    }

    /**
     * The deciding request is about to be sent. After a crash, the next run finds its record.
     *
     * @return whether no equal request is in doubt
     */
    boolean deciding(Commit commit, JournalRecord.Sent sent) {
        boolean isNew = inDoubt.sends(commit.changes(), sent);
        if (isNew) {
            boolean _ = object.journal().amend(sent);
        }
        return isNew;
    }

    /**
     * The object is now at this version.
     *
     * @param hasHeaders whether it is known to have the headers set for the object; if not, another commit sets them
     * @throws ObjectStoreException.PreconditionFailed if its size differs from that of the committed content, because
     *     an earlier run sent more, and the file was changed since
     */
    void succeeded(Commit commit, ObjectVersion version, boolean hasHeaders)
            throws ObjectStoreException.PreconditionFailed {
        BaseLayer old;
        bytes.lock().lock();
        try {
            boolean changed = state.changes() != commit.changes();
            if (changed && version.size() != commit.size()) {
                throw new ObjectStoreException.PreconditionFailed(
                        "'" + state.key() + "' was changed after the commit that a crash interrupted", null);
            }
            old = bytes.rebase(version, changed);
            succeeded(version, commit.changes());
            if (!hasHeaders && !object.headers().isEmpty()) {
                changed();
                beginInBackground();
            }
        } finally {
            bytes.lock().unlock();
        }
        old.staged().remove(); // no other journal begins while this commit runs
        old.release();
        old.release();
        onCommitted.accept(object.stored(version));
    }

    /** {@link #succeeded} for a commit that the file did not wait for: the staged data stays in use. */
    void succeededLeft(Commit commit, ObjectVersion version) {
        bytes.locked(() -> {
            bytes.overLeft(version);
            succeeded(version, commit.changes());
        });
        onCommitted.accept(object.stored(version));
    }

    private void succeeded(ObjectVersion version, long changes) {
        endUpload();
        state.committed(changes, version.lastModified());
    }

    /** A request in doubt gave the object this version, an earlier content of the file. */
    void landed(ObjectVersion version) {
        bytes.locked(() -> {
            boolean copied = object.isCopied();
            endUpload();
            if (copied) {
                state.setReplaced(version); // the base version belongs to the copied object
            } else {
                bytes.layer().moved(version);
            }
        });
        onCommitted.accept(object.stored(version));
    }

    private void endUpload() {
        FileUpload _ = object.takeUpload(); // it has ended
        state.setReplaced(null);
        state.succeeded();
        inDoubt.committed();
    }

    /** The object is now at this version, and the data file is about to be given to the cache. */
    void made(ObjectVersion version) {
        bytes.made(version);
    }

    /** The commit has ended completely. The failure is null if it succeeded. */
    void ended(Commit commit, @Nullable Exception failure) {
        boolean isInBackground;
        bytes.releaseSnapshot();
        bytes.lock().lock();
        try {
            isInBackground = state.isInBackground(); // first: a handle that receives the failure may be released
            boolean again = commit.isLeft();
            state.announce();
            RetrySchedule schedule = failure == null ? context.timing().immediate() : commit.nextSchedule();
            state.ended(again ? schedule : null);
            if (failure != null) {
                object.commitFailed(commit.upload());
                if (!again) {
                    failed(commit, failure);
                }
            }
            bytes.progress().signalAll();
            beginNext();
        } finally {
            bytes.lock().unlock();
        }
        if (isInBackground) {
            onIdle.accept(failure);
        }
    }

    @GuardedBy("bytes.lock()")
    private void failed(Commit commit, Exception failure) {
        if (failure instanceof ObjectStoreException.PreconditionFailed) {
            inDoubt.conflict();
        }
        boolean isFinal = Commit.outlook(failure) == Commit.Outlook.PERMANENT;
        commitForMemoryAgain =
                System.nanoTime() + (isFinal ? Long.MAX_VALUE : context.timing().longestPause());
        if (state.hasName() && !(commit.isInBackground() && context.isClosed())) {
            error.set(failure);
        }
    }

    // ---- the end of a preemption, and of the name

    /** The file is staged: the commit that yielded may begin again. */
    void endPreemption() {
        boolean yielded = bytes.locked(() -> {
            boolean had = state.staged();
            if (had) {
                beginNext();
            }
            return had;
        });
        if (yielded) {
            onIdle.accept(null);
        }
    }

    /**
     * Once this has returned, nothing more is committed. Ends a running commit, but waits for a deciding request in
     * flight: its outcome would stay unknown. An interrupt ends that wait.
     */
    void withdraw() throws InterruptedException {
        bytes.lock().lock();
        try {
            endCommits();
            while (state.running() != null) {
                bytes.progress().await();
            }
        } finally {
            bytes.lock().unlock();
        }
    }

    /** The same without interruption, for a name that is gone. */
    void detach() {
        bytes.locked(() -> {
            endCommits();
            while (state.running() != null) { // begun by a handle that was opened while the name was removed
                bytes.progress().awaitUninterruptibly();
            }
        });
    }

    private void endCommits() {
        state.withdraw();
        Commit running = state.running();
        if (running != null) {
            running.withdraw();
        }
    }
}

package io.penstock.writeback;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.Deadline;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.StoredObject;
import io.penstock.objectstore.WriteCondition;
import io.penstock.writeback.Pacing.Pace;
import io.penstock.writeback.bytes.BaseLayer;
import io.penstock.writeback.bytes.FileBytes;
import io.penstock.writeback.content.Block;
import io.penstock.writeback.content.BlockMap;
import io.penstock.writeback.content.Ranges;
import io.penstock.writeback.staging.JournalRecord;
import io.penstock.writeback.staging.Recovery;
import io.penstock.writeback.upload.FileUpload;
import io.penstock.writeback.upload.JournalledUpload;
import java.io.IOException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Makes one file's content visible: its upload and its commits, one at a time. {@link FileState} has the states; this
 * class waits for transitions and carries out what they require. It is long because it connects the bytes, the commits
 * and the name of a file.
 *
 * <p>A failure sticks until one of the file's callers has received it.
 */
final class FileCommits {
    private final MountContext context;
    private final Listener listener;
    private final FileBytes bytes;

    /** The content's lock, which also guards state, object and error. */
    private final ReentrantLock lock;

    private final Condition progress;
    private final FileState state;
    private final StickyError error;
    private final InDoubt inDoubt;
    private final FileObject object;

    /** The ranges changed since the running commit began. The upload is notified of them if the commit fails. */
    @GuardedBy("lock")
    private Ranges changedSince = new Ranges();

    /** When a shortage of memory may begin a commit again, after a failure not reported yet: by System.nanoTime(). */
    @GuardedBy("lock")
    private long commitForMemoryAgain;

    /** The file's reactions to a commit. */
    public interface Listener {
        /** This many changes are committed. Caller holds the lock. */
        void committed(long changes);

        /** The object is now at this version. */
        void committed(StoredObject object);

        /** No commit runs, and nothing may be left to do. Null if the last one succeeded or yielded. */
        void idle(@Nullable Exception failure);

        /** Whether no handle is left: then {@link #idle} follows. Caller holds the lock. */
        boolean isInBackground();
    }

    FileCommits(MountContext context, Listener listener, FileState state, BlockMap content, BaseLayer layer) {
        this.context = context;
        this.listener = listener;
        this.state = state;
        this.error = new StickyError(state);
        this.bytes = new FileBytes(context.resources(), this::commitToFreeMemory, content, layer);
        this.lock = bytes.lock();
        this.progress = bytes.progress();
        this.object = new FileObject(context, state, bytes);
        this.inDoubt = new InDoubt(context.store(), bytes);
    }

    MountContext context() {
        return context;
    }

    FileBytes bytes() {
        return bytes;
    }

    FileObject object() {
        return object;
    }

    /** Takes over a file of an earlier run, before other threads can use it. */
    void found(Recovery.Found found) {
        state.created(found.opened().replaced());
        if (found.opened().renamed()) {
            object.replaceWhole(found.opened().replaced());
        }
        inDoubt.recovered(found, state.changes());
        JournalledUpload earlier = found.state().upload();
        if (earlier != null) {
            object.resume(earlier);
        }
    }

    /** Takes the lock. */
    String key() {
        return bytes.locked(state::key);
    }

    // ---- state; caller holds the lock

    FileState state() {
        return state;
    }

    InDoubt inDoubt() {
        return inDoubt;
    }

    StickyError error() {
        return error;
    }

    /**
     * Whether a file of an earlier run was not committed because its name was removed or replaced just before the
     * crash.
     */
    boolean isSuperseded() {
        boolean asFound = state.changes() == 1;
        return inDoubt.isSuperseded() && asFound;
    }

    /** Whether nothing of it has or may have reached the store, and no object has its key. */
    boolean isUnknownToTheStore() {
        return state.hasName()
                && object.isNew()
                && object.uploadedBytes() == 0
                && !object.isCopied()
                && !inDoubt.isAny();
    }

    // ---- changes; caller holds the lock

    /** The bytes in this range change. */
    @SuppressWarnings("GuardedBy") // the caller holds it
    void changed(ByteRange range) {
        changed();
        if (state.running() != null) {
            changedSince.add(range.offset(), range.end());
        } else {
            object.changed(range);
        }
    }

    /** Something other than the content must be committed. */
    void changed() {
        state.changed(context.now());
    }

    /** The block with this index has become whole: parts that it completes may be sent. */
    void whole(long block) {
        if (state.running() == null && state.hasName() && !object.isTemporary()) {
            object.upload().ready(new ByteRange(block * Block.BLOCK_SIZE, Block.BLOCK_SIZE));
        }
    }

    /** Begins a commit that frees memory. False if there is nothing to commit or a commit has just failed. */
    private boolean commitToFreeMemory() {
        lock.lock();
        try {
            boolean inVain = error.isSet() && System.nanoTime() - commitForMemoryAgain < 0;
            if (state.running() == null && state.isDirty() && !inVain && !context.isClosed()) {
                beginInBackground();
            }
            return state.isCommitUnderWay();
        } finally {
            lock.unlock();
        }
    }

    // ---- waiting for commits

    /** A caller waits for the running commit, if any: it fails instead of being retried. Caller holds the lock. */
    void awaited() {
        awaited(context.deadline());
    }

    /** The same, until this deadline. */
    void awaited(Deadline deadline) {
        Commit running = state.running();
        if (running != null) {
            running.awaited(deadline);
        }
    }

    // ---- beginning commits; caller holds the lock

    void resume() {
        state.resume();
        beginNext();
        progress.signalAll();
    }

    /** Begins the commit that was requested while none could begin. */
    void beginNext() {
        Pace next = state.takeNext();
        if (next != null && state.isDirty() && !context.isClosed()) {
            beginInBackground(next);
        }
    }

    /** {@link #beginInBackground} for a file that was just closed: a new one may be about to be renamed. */
    void beginAfterClose() {
        beginInBackground(
                object.isNew()
                        ? context.pacing().onceSettled()
                        : context.pacing().atOnce());
    }

    /** Begins a commit that no caller waits for, unless one runs; once possible, if none may begin now. */
    void beginInBackground() {
        beginInBackground(context.pacing().atOnce());
    }

    private void beginInBackground(Pace pace) {
        if (state.want(pace)) {
            begin(Commit.Mode.BACKGROUND, pace, context.retries().forWriting(), object.condition());
        }
    }

    /** Begins a commit; none runs. */
    @SuppressWarnings("GuardedBy") // the caller holds it
    void begin(Commit.Mode mode, Pace pace, Deadline deadline, WriteCondition condition) {
        changedSince = new Ranges();
        Commit commit = new Commit(
                this,
                state.key(),
                object.upload(),
                bytes.takeSnapshot(),
                state.changes(),
                condition,
                mode,
                pace,
                deadline);
        state.begin(commit);
        try {
            context.background().execute(commit);
        } catch (RejectedExecutionException e) {
            ended(commit, new IOException("'" + state.key() + "' is not committed: the mount ends", e));
        }
    }

    /** No commit runs, and nothing may be left to do. Called without the lock. */
    void idle() {
        listener.idle(null);
    }

    // ---- calls by the running commit

    /** The commit waits for its next attempt. Its callers need not wait for it. */
    void pausing() {
        bytes.locked(progress::signalAll);
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
        lock.lock();
        try {
            boolean changed = state.changes() != commit.changes();
            if (changed && version.size() != commit.size()) {
                throw new ObjectStoreException.PreconditionFailed(
                        "'" + state.key() + "' was changed again just before a crash, and since", null);
            }
            old = bytes.rebase(version, changed);
            succeeded(version, commit.changes());
            if (!hasHeaders && !object.kept().isEmpty()) {
                changed();
                beginInBackground();
            }
        } finally {
            lock.unlock();
        }
        old.staged().remove(); // no other journal begins while this commit runs
        old.release();
        old.release();
        listener.committed(object.stored(version));
    }

    /** {@link #succeeded} for a commit that the file did not wait for: the staged data stays in use. */
    void succeededLeft(Commit commit, ObjectVersion version) {
        lock.lock();
        try {
            bytes.overLeft(version);
            succeeded(version, commit.changes());
        } finally {
            lock.unlock();
        }
        listener.committed(object.stored(version));
    }

    private void succeeded(ObjectVersion version, long changes) {
        goesOn();
        state.committed(changes, version.lastModified());
        listener.committed(changes);
    }

    /** A request in doubt gave the object this version, an earlier content of the file. */
    void landed(ObjectVersion version) {
        lock.lock();
        try {
            boolean copied = object.isCopied();
            goesOn();
            if (copied) {
                state.setReplaced(version); // the base version belongs to the copied object
            } else {
                bytes.layer().moved(version);
            }
        } finally {
            lock.unlock();
        }
        listener.committed(object.stored(version));
    }

    private void goesOn() {
        FileUpload _ = object.takeUpload(); // it has ended
        state.setReplaced(null);
        state.gotThrough();
        inDoubt.committed();
    }

    /** The commit has ended completely. The failure is null if it succeeded. */
    void ended(Commit commit, @Nullable Exception failure) {
        boolean isInBackground;
        bytes.releaseSnapshot();
        lock.lock();
        try {
            isInBackground = listener.isInBackground(); // first: a handle that receives the failure may be released
            boolean again = commit.isLeft();
            state.announce();
            Pace pace = failure == null ? context.pacing().atOnce() : commit.nextPace();
            state.ended(again ? pace : null);
            if (failure != null) {
                changedSince.toList().forEach(commit.upload()::changed);
                if (!again) {
                    failed(commit, failure);
                }
            }
            progress.signalAll();
            beginNext();
        } finally {
            lock.unlock();
        }
        if (isInBackground) {
            listener.idle(failure);
        }
    }

    @GuardedBy("lock")
    private void failed(Commit commit, Exception failure) {
        if (failure instanceof ObjectStoreException.PreconditionFailed) {
            inDoubt.conflict();
        }
        boolean isFinal = Commit.outlook(failure) == Commit.Outlook.FINAL;
        commitForMemoryAgain =
                System.nanoTime() + (isFinal ? Long.MAX_VALUE : context.pacing().longestPause());
        if (state.hasName() && !(commit.isInBackground() && context.isClosed())) {
            error.set(failure);
        }
    }

    // ---- the name

    /**
     * Once this has returned, nothing is committed any more. Ends a running commit, but waits for a deciding request in
     * flight: its outcome would stay unknown. An interrupt ends that wait.
     */
    void withdraw() throws InterruptedException {
        lock.lock();
        try {
            endCommits();
            while (state.running() != null) {
                progress.await();
            }
        } finally {
            lock.unlock();
        }
    }

    /** The same without interruption, for a name that is gone. */
    void detach() {
        lock.lock();
        try {
            endCommits();
            while (state.running() != null) { // begun by a handle that was opened while the name was removed
                progress.awaitUninterruptibly();
            }
        } finally {
            lock.unlock();
        }
    }

    private void endCommits() {
        state.withdraw();
        Commit running = state.running();
        if (running != null) {
            running.withdraw();
        }
    }

    /** The content must not become visible, so no caller waits for it. Caller holds the lock. */
    void detached() {
        state.detach();
        error.clear();
    }
}

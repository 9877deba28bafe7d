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
 * How one file's content becomes visible: its upload, and its commits, one at a time. The states are those of
 * {@link FileState}; this class waits for them and does what a transition asks for. It is long because it is what the bytes,
 * the commits and the name of a file have in common.
 *
 * <p>A failure sticks until one of the file's callers has been told.
 */
final class FileCommits implements FileBytes.Owner {
    private final MountContext context;
    private final Listener listener;
    private final FileBytes bytes;

    /** The content's, which guards state, object and the error, too. */
    private final ReentrantLock lock;

    private final Condition progress;
    private final FileState state;
    private final StickyError error;
    private final InDoubt inDoubt;
    private final FileObject object;

    /** The ranges changed since the running commit began; the upload is told of them if that fails. */
    @GuardedBy("lock")
    private Ranges changedSince = new Ranges();

    /** When, after a failure that no caller was told of, memory is a reason to try again: by System.nanoTime(). */
    @GuardedBy("lock")
    private long commitForMemoryAgain;

    /** The file's reactions to a commit. */
    public interface Listener {
        /** So many changes are committed. With the lock held. */
        void committed(long changes);

        /** The object is this now. */
        void committed(StoredObject object);

        /** No commit runs, and nothing may be left to do. Null if the last one succeeded, or has made way. */
        void idle(@Nullable Exception failure);

        /** Whether no handle is left, so that {@link #idle} is to follow. With the lock held. */
        boolean isInBackground();
    }

    FileCommits(MountContext context, Listener listener, FileState state, BlockMap content, BaseLayer layer) {
        this.context = context;
        this.listener = listener;
        this.state = state;
        this.error = new StickyError(state);
        this.bytes = new FileBytes(context.resources(), this, content, layer);
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

    /** Takes over a file of an earlier run. Before other threads have the file. */
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

    // ---- its state; with the lock held

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

    /** Whether nothing of it has reached the store, nor may have, and no object stands in its place. */
    boolean isUnknownToTheStore() {
        return state.hasName()
                && object.isNew()
                && object.uploadedBytes() == 0
                && !object.isCopied()
                && !inDoubt.isAny();
    }

    // ---- calls by the content; with the lock held

    @Override
    public String key() {
        return state.key();
    }

    @SuppressWarnings("GuardedBy") // the caller holds it
    @Override
    public void changes(ByteRange range) {
        state.changed(context.now());
        if (state.running() != null) {
            changedSince.add(range.offset(), range.end());
        } else {
            object.changed(range);
        }
    }

    /** Something beside the content is to be committed. */
    void changed() {
        state.changed(context.now());
    }

    @Override
    public void whole(Block block) {
        if (bytes.committing() == null) {
            context.reclaim().stage(bytes.staging(), block);
            if (state.running() == null && state.hasName() && !object.isTemporary()) {
                object.upload().ready(new ByteRange(block.start(), Block.BLOCK_SIZE));
            }
        }
    }

    @SuppressWarnings("GuardedBy") // the caller holds it
    @Override
    public boolean commitToFreeMemory() {
        boolean inVain = error.isSet() && System.nanoTime() - commitForMemoryAgain < 0;
        if (state.running() == null && state.isDirty() && !inVain && !context.isClosed()) {
            beginInBackground();
        }
        return state.isCommitUnderWay();
    }

    @Override
    public boolean isStuck() {
        return !state.hasName() || error.isSet();
    }

    @Override
    public IOException refusal() {
        return error.refusal(state.key());
    }

    // ---- waiting for commits

    /** A caller waits for the commit that runs, if one does: it fails rather than being tried again. With the lock held. */
    void awaited() {
        awaited(context.deadline());
    }

    /** The same until this deadline. */
    void awaited(Deadline deadline) {
        Commit running = state.running();
        if (running != null) {
            running.awaited(deadline);
        }
    }

    // ---- beginning commits; with the lock held

    void resume() {
        state.resume();
        beginNext();
        progress.signalAll();
    }

    /** Begins the commit that was wanted while none might begin. */
    void beginNext() {
        Pace next = state.takeNext();
        if (next != null && state.isDirty() && !context.isClosed()) {
            beginInBackground(next);
        }
    }

    /** {@link #beginInBackground} of a file that was just closed: a new one may be about to get its name. */
    void beginAfterClose() {
        beginInBackground(
                object.isNew()
                        ? context.pacing().onceSettled()
                        : context.pacing().atOnce());
    }

    /** Begins a commit that no caller waits for, unless one runs; if none may begin now, once one may. */
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
                this, object.upload(), bytes.takeSnapshot(), state.changes(), condition, mode, pace, deadline);
        state.begin(commit);
        try {
            context.background().execute(commit);
        } catch (RejectedExecutionException e) {
            ended(commit, new IOException("'" + state.key() + "' is not committed: the mount ends", e));
        }
    }

    /** No commit runs, and nothing may be left to do. Without the lock. */
    void idle() {
        listener.idle(null);
    }

    // ---- calls by the running commit

    /** The commit waits for its next attempt: its callers need not wait for it. */
    void pausing() {
        bytes.locked(progress::signalAll);
    }

    /**
     * The request is about to be sent that makes the content visible; a crash from now on finds that.
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
     * The object is this version now.
     *
     * @param hasHeaders whether it has the headers to be kept; if that is not known, another commit gives it those
     * @throws ObjectStoreException.PreconditionFailed if its size is not that of the content to be committed,
     *     because an earlier run has sent more, and the file was changed since
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
        old.staged().remove(); // as long as this commit runs nothing begins another journal
        old.release();
        old.release();
        listener.committed(object.stored(version));
    }

    /** {@link #succeeded} of a commit that the file did not wait for: it goes on with the staged data. */
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

    /** A request in doubt has made the object this version, which is an earlier content of the file. */
    void landed(ObjectVersion version) {
        lock.lock();
        try {
            boolean copied = object.isCopied();
            goesOn();
            if (copied) {
                state.setReplaced(version); // the base version is the copied object's
            } else {
                bytes.layer().moved(version);
            }
        } finally {
            lock.unlock();
        }
        listener.committed(object.stored(version));
    }

    private void goesOn() {
        FileUpload _ = object.takeUpload(); // which has ended
        state.setReplaced(null);
        state.gotThrough();
        inDoubt.committed();
    }

    /** Nothing of the commit is done any more; the failure is null if it succeeded. */
    void ended(Commit commit, @Nullable Exception failure) {
        boolean isInBackground;
        bytes.releaseSnapshot();
        lock.lock();
        try {
            isInBackground = listener.isInBackground(); // first: a handle that hears of the failure may be released
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
     * Nothing is committed any more once this has returned. A commit that runs ends, but not the request that decides it,
     * whose outcome would stay unknown: an interrupt ends the waiting for that.
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

    /** The same, uninterrupted, for a name that is gone. */
    void detach() {
        lock.lock();
        try {
            endCommits();
            while (state.running() != null) { // of a handle that was opened while the name was removed
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

    /** The content is not to become visible, so no caller waits for it. With the lock held, as the next. */
    void detached() {
        state.detach();
        error.clear();
    }
}

package io.penstock.writeback;

import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.WriteCondition;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * How one file's content becomes visible: its upload, and its commits, one at a time.
 *
 * <pre>
 *   CLEAN ──changed──▶ DIRTY ──begin──▶ COMMITTING ──succeeded, nothing changed meanwhile──▶ CLEAN
 *                        ▲                  │
 *                        └── failed, or changed meanwhile
 * </pre>
 *
 * <p>What fails sticks until one of the file's callers has been told.
 */
final class FileCommits implements LiveContent.Owner {
    /** How long after a commit has failed another may begin because others need the memory. */
    private static final Duration RELIEF_PAUSE = Duration.ofMinutes(1);

    private final Shared shared;
    private final WrittenFile file;
    private final LiveContent bytes;

    /** The content's, which guards all that follows too. */
    private final ReentrantLock lock;

    private final Condition progress;
    private final StickyError error = new StickyError();
    private final UnheardAnswers unheard;
    private String key;

    /** The object that an empty file was made to replace; null once something of the file is committed. */
    private @Nullable ObjectVersion replaced;

    private @Nullable Upload upload;
    private @Nullable Commit committing;

    /** What was changed since the commit that runs began; the upload is told of it if that fails. */
    private Ranges changedMeanwhile = new Ranges();

    /** Counts changes; the file is dirty while the committed ones are fewer. */
    private long changes;

    private long committedChanges;

    /** The same, but only once the listener has been told. */
    private long announcedChanges;

    /** When, after a failure that nobody has been told of, memory is a reason to try again. */
    private Instant reliefAgain = Instant.MIN;

    private Instant modified;
    private boolean unlinked;

    /** Its name is about to be removed: it is neither committed nor ended until that is done or given up. */
    private boolean withdrawn;

    /** No commit begins, because its name is about to change. */
    private boolean held;

    /** One is to begin as soon as it may. */
    private boolean due;

    /** It is to be committed whatever the object is now. */
    private boolean overwrite;

    FileCommits(Shared shared, WrittenFile file, String key, Content content, Ground ground, Instant modified) {
        this.shared = shared;
        this.file = file;
        this.bytes = new LiveContent(shared, this, content, ground);
        this.lock = bytes.lock();
        this.progress = bytes.progress();
        this.unheard = new UnheardAnswers(shared, lock);
        this.key = key;
        this.modified = modified;
    }

    LiveContent bytes() {
        return bytes;
    }

    // ---- before others have it

    /** There is such a file from now on. */
    void created(@Nullable ObjectVersion of) {
        replaced = of;
        changes = 1;
    }

    void found(Recovery.Found found, UploadJournal journal) {
        created(found.opened().replaced());
        unheard.recovered(found.withdrawn());
        JournalledUpload earlier = found.upload();
        if (earlier != null) {
            upload = shared.uploads().resume(earlier, new UploadedContent(bytes), journal);
        }
    }

    // ---- its state; with the lock held

    @Override
    public String key() {
        return key;
    }

    Instant modified() {
        return modified;
    }

    JournalRecord.Opened identity() {
        return new JournalRecord.Opened(
                shared.staging().namespace(), key, bytes.ground().version(), replaced);
    }

    UnheardAnswers unheard() {
        return unheard;
    }

    StickyError error() {
        return error;
    }

    boolean isDirty() {
        return isChanged() && !unlinked;
    }

    /** Whether the content is not that of the version below. */
    boolean isChanged() {
        return changes > committedChanges;
    }

    boolean isUnlinked() {
        return unlinked;
    }

    boolean isWithdrawn() {
        return withdrawn;
    }

    boolean isHeld() {
        return held;
    }

    boolean isCommitting() {
        return committing != null;
    }

    /** Whether a commit runs that nobody waits for. */
    boolean isCommittingBehind() {
        return committing != null && committing.isBehind();
    }

    /** Whether its commit has failed because its name was removed, or taken by another file, just before a crash. */
    boolean isOver() {
        boolean asFound = changes == 1;
        return unheard.isOver() && asFound;
    }

    long changes() {
        return changes;
    }

    long committedChanges() {
        return committedChanges;
    }

    long uploadedBytes() {
        return upload == null ? 0 : upload.uploadedBytes();
    }

    // ---- what the content tells; with the lock held

    @Override
    public void changes(ByteRange range) {
        changes++;
        modified = shared.now();
        if (committing != null) {
            changedMeanwhile.add(range.offset(), range.end());
        } else if (upload != null) {
            upload.changed(range);
        }
    }

    @Override
    public void whole(Block block) {
        if (committing == null) {
            shared.reclaim().stage(bytes, block);
            if (!unlinked) {
                upload().ready(new ByteRange(block.start(), Writeback.BLOCK_SIZE));
            }
        }
    }

    @Override
    public boolean relieve() {
        boolean inVain = error.isSet() && shared.now().isBefore(reliefAgain);
        if (committing == null && isDirty() && !inVain && !shared.isClosed()) {
            begin(true);
        }
        return committing != null || due;
    }

    @Override
    public boolean isStuck() {
        return unlinked || error.isSet();
    }

    @Override
    public IOException refusal() {
        return error.refusal(key);
    }

    private Upload upload() {
        Upload current = upload;
        if (current == null) {
            FileJournal journal = new FileJournal(bytes.ground().staged(), this::lockedIdentity);
            current = shared.uploads().begin(key, bytes.ground().version(), new UploadedContent(bytes), journal);
            upload = current;
        }
        return current;
    }

    JournalRecord.Opened lockedIdentity() {
        lock.lock();
        try {
            return identity();
        } finally {
            lock.unlock();
        }
    }

    // ---- commits

    /** Somebody waits for the commit that runs, if one does: it fails rather than being tried again. With the lock held. */
    void awaited() {
        if (committing != null) {
            committing.awaited();
        }
    }

    /** Returns once what is written by now is visible. An interrupt ends the waiting, not the commit. */
    void commit() throws ObjectStoreException, IOException, InterruptedException {
        lock.lockInterruptibly();
        try {
            long wanted = changes;
            while (true) {
                error.report();
                if (unlinked || announcedChanges >= wanted) {
                    return;
                }
                begin(false);
                if (committing != null || held) {
                    progress.await();
                }
            }
        } finally {
            lock.unlock();
        }
    }

    /** Returns once what is written by now is visible and no commit runs; none begins until {@link #resume}. */
    void hold() throws ObjectStoreException, IOException, InterruptedException {
        lock.lockInterruptibly();
        try {
            while (held) {
                progress.await();
            }
            held = true;
            boolean done = false;
            try {
                commitHeld();
                done = true;
            } finally {
                if (!done) {
                    resume();
                }
            }
        } finally {
            lock.unlock();
        }
    }

    private void commitHeld() throws ObjectStoreException, IOException, InterruptedException {
        long wanted = changes;
        while (true) {
            error.report();
            if (committing == null && (unlinked || announcedChanges >= wanted)) {
                return;
            }
            beginNow(false);
            if (committing != null) {
                progress.await();
            }
        }
    }

    /** With the lock held. */
    void resume() {
        boolean begins = due && isDirty() && !shared.isClosed();
        held = false;
        due = false;
        if (begins) {
            begin(true);
        }
        progress.signalAll();
    }

    /**
     * Begins a commit of what there is, unless one runs; if they are held, once they are not. With the lock held.
     *
     * @param behind nobody waits for it
     */
    void begin(boolean behind) {
        if (held) {
            due = true;
        } else {
            beginNow(behind);
        }
    }

    private void beginNow(boolean behind) {
        if (!behind) {
            awaited();
        }
        if (committing != null) {
            return;
        }
        changedMeanwhile = new Ranges();
        Commit commit = new Commit(this, upload(), bytes.freeze(), changes, condition(), behind);
        committing = commit;
        try {
            shared.execute(commit);
        } catch (RejectedExecutionException e) {
            ended(commit, new IOException("'" + key + "' is not committed: the mount ends", e));
        }
    }

    private WriteCondition condition() {
        ObjectVersion below = bytes.ground().version();
        ObjectVersion expected = below != null ? below : replaced;
        // What an earlier run has left may be older than what is there.
        boolean lastWins = shared.config().conflict() == WritebackConfig.Conflict.OVERWRITE && !unheard.isRecovered();
        if (overwrite || lastWins) {
            return WriteCondition.ALWAYS;
        }
        return expected == null ? WriteCondition.ABSENT : new WriteCondition.Unchanged(expected.etag());
    }

    /** The object is this version now. */
    void succeeded(Commit commit, ObjectVersion version) {
        lock.lock();
        try {
            Ground old = bytes.rebase(version);
            upload = null;
            replaced = null;
            unheard.committed();
            committedChanges = commit.changes();
            file.committed(committedChanges);
            if (changes == committedChanges) {
                modified = version.lastModified();
            }
            old.staged().remove();
            old.release();
        } finally {
            lock.unlock();
        }
        shared.committed(file, version);
    }

    /** Nothing of the commit is done any more; the failure is null if it succeeded. */
    void ended(Commit commit, @Nullable Exception failure) {
        bytes.thaw();
        lock.lock();
        try {
            committing = null;
            announcedChanges = committedChanges;
            if (failure != null) {
                unheard.failed(failure);
                changedMeanwhile.toList().forEach(commit.upload()::changed);
                reliefAgain =
                        Commit.isFinal(failure) ? Instant.MAX : shared.now().plus(RELIEF_PAUSE);
                if (!unlinked && !(commit.isBehind() && shared.isClosed())) {
                    error.set(failure);
                }
            }
            progress.signalAll();
        } finally {
            lock.unlock();
        }
        file.commitEnded(failure);
    }

    /** Nothing is committed any more once this has returned. */
    void withdraw() {
        lock.lock();
        try {
            unlinked = true;
            withdrawn = true;
            error.clear();
            if (committing != null) {
                committing.withdraw();
            }
            while (committing != null) {
                progress.awaitUninterruptibly();
            }
        } finally {
            lock.unlock();
        }
    }

    /** @param removed whether its name is gone now; else it is committed after all */
    void settled(boolean removed) {
        lock.lock();
        try {
            unlinked = removed;
            withdrawn = false;
        } finally {
            lock.unlock();
        }
    }

    /** With the lock held, as the next. @return the upload under the old name, to be abandoned */
    @Nullable
    Upload moved(ObjectVersion to) {
        key = to.key();
        bytes.ground().moved(to);
        return takeUpload();
    }

    @Nullable
    Upload takeUpload() {
        Upload taken = upload;
        upload = null;
        return taken;
    }

    /** The next commit is made whatever the object is by then. */
    void overwrite() {
        lock.lock();
        try {
            overwrite = true;
        } finally {
            lock.unlock();
        }
    }

    Shared shared() {
        return shared;
    }
}

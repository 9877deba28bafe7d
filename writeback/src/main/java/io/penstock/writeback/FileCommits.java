package io.penstock.writeback;

import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.Deadline;
import io.penstock.objectstore.ObjectProperties;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.StoredObject;
import io.penstock.objectstore.WriteCondition;
import java.io.IOException;
import java.time.Instant;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicReference;
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
    /** How often the time for which a commit is left alone doubles: to eight seconds. */
    private static final int MOST_DOUBLED = 3;

    /** The class of most objects, until a listing tells: of what an earlier run has begun to send nothing was asked. */
    private static final String STANDARD = "STANDARD";

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

    /** How many commits were ended that got on, since the last that succeeded, because the file was to be staged. */
    private int superseded;

    /** What its object is beside its bytes, once that has been asked. */
    private final AtomicReference<@Nullable ObjectProperties> properties = new AtomicReference<>();

    /** What was changed since the commit that runs began; the upload is told of it if that fails. */
    private Ranges changedMeanwhile = new Ranges();

    /** Counts changes; the file is dirty while the committed ones are fewer. */
    private long changes;

    private long committedChanges;

    /** The same, but only once the listener has been told. */
    private long announcedChanges;

    /** When, after a failure that nobody has been told of, memory is a reason to try again: by System.nanoTime(). */
    private long reliefAgain;

    private Instant modified;
    private boolean unlinked;

    /** Its name is about to be removed: it is neither committed nor ended until that is done or given up. */
    private boolean withdrawn;

    /** No commit begins, because its name is about to change. */
    private boolean held;

    /** One has made way for who stages the file now: the next begins after that. */
    private boolean madeWay;

    /** At what pace one is to begin as soon as it may; null if none is. */
    private Pacing.@Nullable Pace due;

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
        unheard.recovered(found, changes);
        JournalledUpload earlier = found.upload();
        if (earlier != null) {
            upload = shared.uploads().resume(earlier, new UploadedContent(bytes), targetProperties(), journal);
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
        return new JournalRecord.Opened(shared.staging().namespace(), key, committed(), replaced);
    }

    /** The version of its own object that the content is written over; null if there is none. */
    @Nullable
    ObjectVersion committed() {
        return isOfAnother() ? null : bytes.ground().version();
    }

    private boolean isOfAnother() {
        ObjectVersion base = bytes.ground().version();
        return base != null && !base.key().equals(key);
    }

    /** Whether some of its bytes are those of another object, and stand and fall with that until they are committed. */
    boolean isCopied() {
        return bytes.content().baseEnd() > 0 && isOfAnother();
    }

    /** The version that the next commit replaces; null if that makes a new object. */
    private @Nullable ObjectVersion expected() {
        ObjectVersion committed = committed();
        return committed == null ? replaced : committed;
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

    /** Whether no commit begins behind for now. */
    boolean isHeld() {
        return held || madeWay;
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
        if (bytes.frozen() == null) {
            shared.reclaim().stage(bytes, block);
            if (committing == null && !unlinked) {
                upload().ready(new ByteRange(block.start(), Writeback.BLOCK_SIZE));
            }
        }
    }

    @Override
    public boolean relieve() {
        boolean inVain = error.isSet() && System.nanoTime() - reliefAgain < 0;
        if (committing == null && isDirty() && !inVain && !shared.isClosed()) {
            beginBehind();
        }
        return committing != null || due != null;
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
            current = shared.uploads()
                    .begin(bytes.ground().version(), new UploadedContent(bytes), targetProperties(), journal());
            upload = current;
        }
        return current;
    }

    private TargetProperties targetProperties() {
        TargetProperties.Over over = expected() == null
                ? TargetProperties.Over.NOTHING
                : bytes.content().baseEnd() == 0 || isCopied()
                        ? TargetProperties.Over.OTHER_CONTENT
                        : TargetProperties.Over.SAME_CONTENT;
        return new TargetProperties(key, over, properties);
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
        Deadline deadline = shared.deadline();
        lock.lockInterruptibly();
        try {
            long wanted = changes;
            long announced = announcedChanges;
            while (true) {
                error.report();
                if (unlinked || announcedChanges >= wanted) {
                    return;
                }
                announced = noteSuccess(deadline, announced);
                if (held) {
                    beginBehind();
                    progress.await();
                    deadline.restart(); // it was not the store that was waited for
                } else {
                    beginAwaited(deadline);
                    if (committing != null) {
                        progress.await();
                    }
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
        Deadline deadline = shared.deadline();
        long wanted = changes;
        long announced = announcedChanges;
        while (true) {
            error.report();
            if (committing == null && (unlinked || announcedChanges >= wanted)) {
                return;
            }
            announced = noteSuccess(deadline, announced);
            beginAwaited(deadline);
            if (committing != null) {
                progress.await();
            }
        }
    }

    /** What follows a commit that succeeds has all of the time anew; what follows one that fails has the rest. */
    private long noteSuccess(Deadline deadline, long announced) {
        if (announcedChanges > announced) {
            deadline.restart();
        }
        return announcedChanges;
    }

    /** With the lock held. */
    void resume() {
        held = false;
        beginDue();
        progress.signalAll();
    }

    private void beginDue() {
        Pacing.Pace pace = due;
        if (pace != null && !isHeld()) {
            due = null;
            if (isDirty() && !shared.isClosed()) {
                beginBehind(pace);
            }
        }
    }

    /**
     * Begins a commit of what there is, for which nobody waits, unless one runs; if they are held, once they are not. With
     * the lock held.
     */
    void beginBehind() {
        beginBehind(shared.pacing().atOnce());
    }

    private void beginBehind(Pacing.Pace pace) {
        if (isHeld()) {
            due = due == null ? pace : due;
        } else if (committing == null) {
            begin(true, pace, shared.deadlineBehind());
        }
    }

    /** The same for who waits for it until the deadline, whoever holds them. */
    private void beginAwaited(Deadline deadline) {
        awaited();
        if (committing == null) {
            begin(false, shared.pacing().atOnce(), deadline);
        }
    }

    private void begin(boolean behind, Pacing.Pace pace, Deadline deadline) {
        changedMeanwhile = new Ranges();
        Commit commit = new Commit(this, upload(), bytes.freeze(), changes, condition(), behind, pace, deadline);
        committing = commit;
        try {
            shared.execute(commit);
        } catch (RejectedExecutionException e) {
            ended(commit, new IOException("'" + key + "' is not committed: the mount ends", e));
        }
    }

    /**
     * The file is to be staged, and a commit keeps its data file as it is: waits for that as long as it may soon be done,
     * the longer the more have been ended that got on, so that one succeeds at last. After that it is ended, and the next
     * begins behind once {@link #wayTaken} says that the file is staged; but the request that decides goes on, over which
     * the file is staged. With the lock held.
     */
    void makeWay() throws InterruptedException {
        while (isInTheWay()) {
            Commit commit = committing;
            long nanos = commit == null ? Long.MAX_VALUE : nanosToWait(commit);
            if (commit == null || nanos > 0) {
                long _ = progress.awaitNanos(nanos);
                continue;
            }
            superseded += commit.isGettingOn() ? 1 : 0;
            madeWay = true;
            if (commit.leave()) {
                bytes.leave();
            }
        }
    }

    /** Whether the file cannot be staged yet: a commit has frozen it, or is about to say what has become of it. */
    boolean isInTheWay() {
        return bytes.frozen() != null || (committing != null && !committing.isLeft());
    }

    private long nanosToWait(Commit commit) {
        if (!unheard.areHarmless()) {
            commit.awaited();
            return Long.MAX_VALUE; // what is staged now might stand on a version that is gone
        }
        return commit.nanosToWait(shared.pacing().patience() << Math.min(superseded, MOST_DOUBLED));
    }

    /** Who has had a commit {@linkplain #makeWay make way} is done. */
    void wayTaken() {
        lock.lock();
        try {
            if (!madeWay) {
                return;
            }
            madeWay = false;
            beginDue();
        } finally {
            lock.unlock();
        }
        file.commitEnded(null);
    }

    /** The commit that runs waits for its next attempt: nobody need wait for it. */
    void pausing() {
        lock.lock();
        try {
            progress.signalAll();
        } finally {
            lock.unlock();
        }
    }

    private WriteCondition condition() {
        if (overwrite) {
            return WriteCondition.ALWAYS;
        }
        ObjectVersion expected = expected();
        return expected == null ? WriteCondition.ABSENT : new WriteCondition.Unchanged(expected.etag());
    }

    /** The request is about to be sent that makes the content visible; a crash from now on finds that. */
    void deciding(Commit commit, long size, OptionalInt crc32c) {
        JournalRecord.Sent sent = unheard.deciding(commit.changes(), size, crc32c);
        if (sent != null) {
            lockedJournal().amend(List.of(sent));
        }
    }

    FileJournal lockedJournal() {
        lock.lock();
        try {
            return journal();
        } finally {
            lock.unlock();
        }
    }

    /** Of what goes on between two commits. With the lock held. */
    FileJournal journal() {
        return new FileJournal(bytes.ground().staged(), this::lockedIdentity);
    }

    /**
     * The object is this version now.
     *
     * @throws ObjectStoreException.PreconditionFailed if that has not the size of what was to be committed, because an
     *     earlier run has sent more, and the file was changed since
     */
    void succeeded(Commit commit, ObjectVersion version) throws ObjectStoreException.PreconditionFailed {
        Ground old;
        lock.lock();
        try {
            boolean changed = changes != commit.changes();
            if (changed && version.size() != commit.size()) {
                throw new ObjectStoreException.PreconditionFailed(
                        "'" + key + "' was changed again just before a crash, and since", null);
            }
            old = bytes.rebase(version, changed);
            upload = null;
            replaced = null;
            superseded = 0;
            unheard.committed();
            committedChanges = commit.changes();
            file.committed(committedChanges);
            if (changes == committedChanges) {
                modified = version.lastModified();
            }
        } finally {
            lock.unlock();
        }
        old.staged().remove(); // as long as this commit runs nothing begins another journal
        old.release();
        old.release();
        shared.committed(file, stored(version));
    }

    /** {@link #succeeded} of a commit that the file did not wait for: it goes on with what is staged. */
    void succeededLeft(Commit commit, ObjectVersion version) {
        lock.lock();
        try {
            bytes.overLeft(version);
            upload = null;
            committedChanges = commit.changes();
            file.committed(committedChanges);
            goesOn();
        } finally {
            lock.unlock();
        }
        shared.committed(file, stored(version));
    }

    private StoredObject stored(ObjectVersion version) {
        ObjectProperties known = properties.get();
        return new StoredObject(version, known == null ? STANDARD : known.storageClass());
    }

    /** The object is this version now, which a request has made of what the file was before. */
    void landed(ObjectVersion version) {
        lock.lock();
        try {
            bytes.ground().moved(version);
            upload = null;
            goesOn();
        } finally {
            lock.unlock();
        }
        shared.committed(file, stored(version));
    }

    private void goesOn() {
        replaced = null;
        superseded = 0;
        unheard.committed();
        file.movedOnto();
    }

    /** Nothing of the commit is done any more; the failure is null if it succeeded. */
    void ended(Commit commit, @Nullable Exception failure) {
        boolean isBehind;
        bytes.thaw();
        lock.lock();
        try {
            committing = null;
            isBehind = file.isBehind(); // who has it open hears of the failure, and may release it before this goes on
            announcedChanges = committedChanges;
            boolean again = commit.isLeft();
            if (failure != null) {
                unheard.failed(failure, !again);
                changedMeanwhile.toList().forEach(commit.upload()::changed);
            }
            if (failure != null && !again) {
                boolean isFinal = Commit.outlook(failure) == Commit.Outlook.FINAL;
                reliefAgain = System.nanoTime()
                        + (isFinal ? Long.MAX_VALUE : shared.pacing().longestPause());
                if (!unlinked && !(commit.isBehind() && shared.isClosed())) {
                    error.set(failure);
                }
            }
            progress.signalAll();
            if (again && isDirty() && !shared.isClosed()) {
                beginBehind(failure == null ? shared.pacing().atOnce() : commit.nextPace());
            }
        } finally {
            lock.unlock();
        }
        if (isBehind) {
            file.commitEnded(failure);
        }
    }

    /**
     * Nothing is committed any more once this has returned. A commit that runs ends, but not the request that decides it,
     * whose outcome nobody would know: an interrupt ends the waiting for that.
     */
    void withdraw() throws InterruptedException {
        lock.lock();
        try {
            endCommits();
            while (committing != null) {
                progress.await();
            }
        } finally {
            lock.unlock();
        }
    }

    /** {@link #withdraw} for good. */
    void unlink() {
        lock.lock();
        try {
            endCommits();
            while (committing != null) { // of who has opened it while it was removed
                progress.awaitUninterruptibly();
            }
        } finally {
            lock.unlock();
        }
    }

    private void endCommits() {
        unlinked = true;
        withdrawn = true;
        if (committing != null) {
            committing.withdraw();
        }
    }

    /** @param removed whether its name is gone now; else it is committed after all */
    void settled(boolean removed) {
        lock.lock();
        try {
            unlinked = removed;
            withdrawn = false;
            if (removed) {
                error.clear(); // nobody waits for what is not to be visible
            }
        } finally {
            lock.unlock();
        }
    }

    /** Waits until no commit runs. With the lock held, as the next three. */
    void awaitNoCommit() throws InterruptedException {
        while (committing != null) {
            progress.await();
        }
    }

    /** The file, empty until now or all of the same source, has these bytes of another object. @return as {@link #moved} */
    @Nullable
    Upload takeOver(ObjectVersion source, ByteRange range) {
        Upload old = takeUpload();
        replaced = expected();
        changes(range);
        bytes.ground().moved(source);
        bytes.content().extendBase(range.end());
        return old;
    }

    /** The bytes that were another object's are the file's own now. */
    void materialised() {
        if (isCopied()) {
            bytes.content().forgetBase();
            bytes.ground().moved(null);
            file.movedOnto();
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

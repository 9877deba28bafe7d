package io.penstock.writeback.upload;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.core.ByteRange;
import io.penstock.objectstore.Deadline;
import io.penstock.objectstore.MultipartUpload;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.UploadedPart;
import io.penstock.writeback.content.Run;
import io.penstock.writeback.upload.CommitPlan.PlannedPart;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends the parts of one file to the store: those at rest while the file is written, and those that a commit needs.
 * Safe for use by any number of threads, of which one at a time commits.
 *
 * <p>A virtual thread sends each part. It acquires a permit of the {@link UploadGate} before it requests the part's
 * bytes, so the gate bounds the memory that they take. One lock guards the parts both while the file is written and
 * while it is committed.
 */
final class PartSender {
    private static final Logger LOG = LoggerFactory.getLogger(PartSender.class);

    /** After a failure, which was already retried until the store's deadline. */
    static final long EARLY_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(10);

    /** The phases of an upload, in order. */
    private enum Phase {
        /** No part has started yet. */
        PLANNED,
        /** A part has started, so the layout is fixed. */
        BEGUN,
        /** Nothing more is sent. */
        ENDED
    }

    private final Uploads uploads;
    private final String key;
    private final TargetProperties properties;
    private final FileContent content;
    private final UploadJournal journal;
    private final UploadGate.FileQueue queue;

    /** Taken under the file's lock; the gate's is taken under it. Never held for calls of store, content or journal. */
    private final ReentrantLock lock = new ReentrantLock();

    /** A part is no longer in flight, or everything has ended. */
    private final Condition progress = lock.newCondition();

    @GuardedBy("lock")
    private final Parts parts;

    @GuardedBy("lock")
    private RemoteUpload remote;

    @GuardedBy("lock")
    private Phase phase;

    /** Whether parts may be sent before they are needed. */
    @GuardedBy("lock")
    private boolean early = true;

    /** When, by the clock of nanoseconds, early sending resumes after a failure. */
    @GuardedBy("lock")
    private long earlyAgain;

    /** Counts commits, and new uploads within a commit. */
    @GuardedBy("lock")
    private int commits;

    /** The running commit; 0 if none runs. */
    @GuardedBy("lock")
    private int committing;

    /** Deadline of the running commit; null if none runs or it has none. */
    @GuardedBy("lock")
    private @Nullable Deadline deadline;

    /** Why the running commit fails. */
    @GuardedBy("lock")
    private @Nullable Exception failure;

    /** Threads that may be interrupted. */
    @GuardedBy("lock")
    private final Set<Thread> senders = new HashSet<>();

    /** Parts in flight: more than senders while the upload is being created. */
    @GuardedBy("lock")
    private int sending;

    PartSender(
            Uploads uploads,
            TargetProperties properties,
            FileContent content,
            UploadJournal journal,
            UploadGate.FileQueue queue,
            PartLayout layout,
            @Nullable JournalledUpload earlier) {
        this.uploads = uploads;
        this.key = properties.key();
        this.properties = properties;
        this.content = content;
        this.journal = journal;
        this.queue = queue;
        this.parts = new Parts(layout);
        this.remote = new RemoteUpload(uploads.store(), properties, journal, earlier);
        this.phase = earlier == null ? Phase.PLANNED : Phase.BEGUN;
    }

    // ---- while the file is written

    public void ready(ByteRange blocks) {
        lock.lock();
        try {
            List<Part> due = parts.ready(blocks);
            if (!early && committing == 0 && uploads.nanoTime() - earlyAgain >= 0) {
                early = true;
                due = parts.allDue();
            }
            enqueueEarly(due);
        } finally {
            lock.unlock();
        }
    }

    public void changed(ByteRange range) {
        lock.lock();
        try {
            enqueueEarly(parts.changed(range));
        } finally {
            lock.unlock();
        }
    }

    /** Bytes at the store that are current. */
    public long uploadedBytes() {
        lock.lock();
        try {
            return parts.uploadedBytes();
        } finally {
            lock.unlock();
        }
    }

    @GuardedBy("lock")
    private void enqueueEarly(List<Part> due) {
        if (early && phase != Phase.ENDED) {
            due.forEach(this::enqueue);
        }
    }

    @GuardedBy("lock")
    private void pauseEarly() {
        early = false;
        earlyAgain = uploads.nanoTime() + EARLY_PAUSE_NANOS;
    }

    private void enqueue(Part part) {
        part.enqueued();
        queue.enqueue(() -> uploads.run(() -> send(part)));
    }

    // ---- one part, on its own thread with a permit

    /** A part's bytes, and the upload to which they are sent. */
    private record Sending(int number, Run run, PartLayout layout, RemoteUpload to, Deadline deadline) {}

    private void send(Part part) {
        try {
            Sending sending = begin(part);
            if (sending != null) {
                finish(part, sending);
            }
        } finally {
            queue.release();
        }
    }

    /** Null if nothing more must be sent. */
    private @Nullable Sending begin(Part part) {
        lock.lock();
        try {
            if (phase == Phase.ENDED || !isDue(part)) {
                part.notSent();
                progress.signalAll();
                return null;
            }
            part.begun(committing);
            phase = Phase.BEGUN;
            sending++;
            Deadline ofCommit = part.isNeededBy(committing) ? deadline : null;
            Deadline until = ofCommit == null ? uploads.store().retries().forWriting() : ofCommit;
            return new Sending(part.number(), part.run(), parts.layout(), remote, until);
        } finally {
            lock.unlock();
        }
    }

    @GuardedBy("lock")
    private boolean isDue(Part part) {
        return part.isNeededBy(committing) || (early && parts.isReady(part));
    }

    private void finish(Part part, Sending sending) {
        try {
            sending.deadline.stoodInLine();
            finished(part, sending.deadline.call(() -> bring(sending)), null);
        } catch (ObjectStoreException | IOException | InterruptedException e) {
            finished(part, null, e);
        } catch (RuntimeException | Error e) {
            LOG.error("Sending part {} of '{}' failed unexpectedly", part.number(), key, e);
            finished(part, null, new IOException("writing '" + key + "' failed: " + e, e));
        }
    }

    private UploadedPart bring(Sending sending) throws ObjectStoreException, IOException, InterruptedException {
        MultipartUpload upload = sending.to.open(sending.layout); // if interrupted, it would leave an unknown upload
        becomeInterruptible();
        return sending.to.bring(upload, sending.number, sending.run, content, uploads);
    }

    private void becomeInterruptible() throws InterruptedException {
        lock.lock();
        try {
            if (phase == Phase.ENDED) {
                throw new InterruptedException();
            }
            senders.add(Thread.currentThread());
        } finally {
            lock.unlock();
        }
    }

    private void finished(Part part, @Nullable UploadedPart sent, @Nullable Exception failed) {
        lock.lock();
        try {
            senders.remove(Thread.currentThread());
            sending--;
            if (sent != null) {
                part.sent(sent);
            } else {
                part.notSent();
                failed(part, failed);
            }
            if (part.isOutdated() && phase != Phase.ENDED && failure == null && isDue(part)) {
                enqueue(part);
            }
            progress.signalAll();
        } finally {
            lock.unlock();
        }
    }

    @GuardedBy("lock")
    private void failed(Part part, @Nullable Exception cause) {
        if (phase == Phase.ENDED) {
            return;
        }
        if (!part.isNeededBy(committing)) {
            pauseEarly();
            LOG.debug("Part {} of '{}' waits for the commit: {}", part.number(), key, cause, cause);
        } else if (part.wasBegunIn(committing)) {
            failure = cause;
        }
    }

    // ---- a commit

    /** @param partsCount whether parts are needed; if not, no more parts begin to be sent */
    void beginCommit(boolean partsCount) throws IOException {
        lock.lock();
        try {
            checkNotEnded();
            committing = ++commits;
            deadline = Deadline.current();
            failure = null;
            early = partsCount;
        } finally {
            lock.unlock();
        }
    }

    void endCommit() {
        lock.lock();
        try {
            committing = 0;
            deadline = null;
            pauseEarly();
        } finally {
            lock.unlock();
        }
    }

    /** The layout of the uploaded parts if content of this size fits, else a new one for it. */
    PartLayout settleLayout(long size) {
        lock.lock();
        try {
            if (phase != Phase.PLANNED && size <= parts.layout().reach()) {
                return parts.layout();
            }
            parts.begin(uploads.planned(size, parts.layout().partBytes()));
            if (phase != Phase.PLANNED) {
                replaceRemote();
            }
            return parts.layout();
        } finally {
            lock.unlock();
        }
    }

    /** The run of the part with this number, if it is uploaded with exactly these bytes; else null. */
    @Nullable
    Run uploadedRun(int number, ByteRange range) {
        lock.lock();
        try {
            return parts.uploadedRun(number, range);
        } finally {
            lock.unlock();
        }
    }

    /** Waits until the store has all parts or one cannot be sent. */
    List<UploadedPart> bring(List<PlannedPart> plan) throws ObjectStoreException, IOException, InterruptedException {
        List<UploadedPart> uploaded = new ArrayList<>(plan.size());
        lock.lockInterruptibly();
        try {
            List<Part> needed = parts.adopt(plan);
            needed.forEach(this::need);
            for (Part part : needed) {
                while (part.uploaded() == null) {
                    checkNotEnded();
                    checkFailure();
                    progress.await();
                }
                uploaded.add(part.uploaded());
            }
            return uploaded;
        } finally {
            lock.unlock();
        }
    }

    @GuardedBy("lock")
    private void need(Part part) {
        part.neededBy(committing);
        if (part.isOutdated()) {
            enqueue(part);
        }
    }

    /** Not a failure of the store: a retry would be futile. */
    @GuardedBy("lock")
    private void checkNotEnded() throws IOException {
        if (phase == Phase.ENDED) {
            throw new IOException("the upload of '" + key + "' was abandoned");
        }
    }

    @GuardedBy("lock")
    private void checkFailure() throws ObjectStoreException, IOException, InterruptedException {
        switch (failure) {
            case null -> {}
            case ObjectStoreException e -> throw e;
            case IOException e -> throw e;
            case InterruptedException e -> throw e;
            default -> throw new IllegalStateException(failure);
        }
    }

    RemoteUpload remote() {
        lock.lock();
        try {
            return remote;
        } finally {
            lock.unlock();
        }
    }

    /**
     * The upload has vanished from the store: continues with a new one, which needs all parts again. Aborts the old one
     * in case it still exists.
     *
     * @return false if there was none
     */
    boolean restart() {
        lock.lock();
        try {
            if (phase == Phase.PLANNED) {
                return false;
            }
            committing = ++commits;
            failure = null;
            replaceRemote();
            parts.changeAll();
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** The store refuses the sizes of the parts: continues with a new upload of equal parts. */
    void beginInEqualParts(long size) {
        lock.lock();
        try {
            committing = ++commits;
            failure = null;
            replaceRemote();
            parts.begin(PartLayout.equal(size, parts.layout().partBytes()));
        } finally {
            lock.unlock();
        }
    }

    @GuardedBy("lock")
    private void replaceRemote() {
        abortInBackground(remote);
        remote = new RemoteUpload(uploads.store(), properties, journal, null);
    }

    // ---- the end

    /** Cancels the parts in flight. Nothing can be committed afterwards. */
    public void end(boolean abort) {
        lock.lock();
        try {
            phase = Phase.ENDED;
            senders.forEach(Thread::interrupt);
            progress.signalAll();
            if (abort) {
                abortInBackground(remote);
            }
        } finally {
            lock.unlock();
        }
    }

    /** Waits for parts in flight: one that arrives after the abort would stay forever. */
    @GuardedBy("lock")
    private void abortInBackground(RemoteUpload upload) {
        if (sending == 0 && !upload.isThere()) {
            return;
        }
        uploads.run(() -> {
            awaitSenders();
            try {
                upload.abort();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
    }

    private void awaitSenders() {
        lock.lock();
        try {
            while (sending > 0) {
                progress.awaitUninterruptibly();
            }
        } finally {
            lock.unlock();
        }
    }
}

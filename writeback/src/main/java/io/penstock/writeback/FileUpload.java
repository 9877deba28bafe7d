package io.penstock.writeback;

import static io.penstock.objectstore.UploadedPart.MAX_NUMBER;
import static io.penstock.objectstore.UploadedPart.MAX_SIZE;

import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.MultipartUpload;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.UploadedPart;
import io.penstock.objectstore.WriteCondition;
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
 * The way of one file's content to the store.
 *
 * <p>While the file is written, parts of its tail go up as soon as all of their blocks are at rest. That is a service:
 * if one fails, the others wait for a while, or for the commit, which sends what is missing and fails only if that
 * fails too. An upload that has vanished from the store is begun anew, once a commit.
 *
 * <p>Each part is sent by a virtual thread that holds a permit of the {@link UploadGate} before it asks for the part's
 * bytes: so the gate bounds the memory that they take.
 */
final class FileUpload implements Upload {
    private static final Logger LOG = LoggerFactory.getLogger(FileUpload.class);

    /** After a failure, which has been retried up to the store's deadline already. */
    static final long EARLY_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(10);

    private final Uploads uploads;
    private final String key;
    private final FileContent content;
    private final UploadJournal journal;
    private final UploadGate.Lane lane;

    /** Taken under the file's lock; the gate's is taken under it. Never held over calls of store, content or journal. */
    private final ReentrantLock lock = new ReentrantLock();

    /** A part is no longer on its way, or this has ended. */
    private final Condition progress = lock.newCondition();

    // All guarded by lock.
    private final Parts parts;
    private RemoteUpload remote;

    /** Whether a part has been begun to be sent, so that the layout is settled. */
    private boolean begun;

    /** Whether parts may go up before they are needed. */
    private boolean early = true;

    /** When, by the clock of nanoseconds, that is tried again if it is off because of a failure. */
    private long earlyAgain;

    /** Counts commits, of which one runs at a time. */
    private int commits;

    /** The commit that runs; 0 if none does. */
    private int committing;

    /** Why the running commit fails. */
    private @Nullable Exception failure;

    /** Threads that may be interrupted. */
    private final Set<Thread> senders = new HashSet<>();

    /** Parts on their way: more than senders, as long as the upload is being created. */
    private int sending;

    private boolean ended;

    FileUpload(
            Uploads uploads,
            String key,
            FileContent content,
            UploadJournal journal,
            PartLayout layout,
            @Nullable JournalledUpload earlier) {
        this.uploads = uploads;
        this.key = key;
        this.content = content;
        this.journal = journal;
        this.lane = uploads.lane();
        this.parts = new Parts(layout);
        this.remote = new RemoteUpload(uploads.store(), key, journal, earlier);
        this.begun = earlier != null;
    }

    // ---- while the file is written

    @Override
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

    @Override
    public void changed(ByteRange range) {
        lock.lock();
        try {
            enqueueEarly(parts.changed(range));
        } finally {
            lock.unlock();
        }
    }

    @Override
    public long uploadedBytes() {
        lock.lock();
        try {
            return parts.uploadedBytes();
        } finally {
            lock.unlock();
        }
    }

    private void enqueueEarly(List<Part> due) {
        if (early && !ended) {
            due.forEach(this::enqueue);
        }
    }

    private void enqueue(Part part) {
        part.enqueued();
        lane.enqueue(() -> uploads.run(() -> send(part)));
    }

    // ---- one part, on a thread of its own that has a permit

    private void send(Part part) {
        try {
            Sending task = begin(part);
            if (task != null) {
                task.run();
            }
        } finally {
            lane.release();
        }
    }

    /** What to send of the part; null if nothing is to be sent any more. */
    private @Nullable Sending begin(Part part) {
        lock.lock();
        try {
            if (ended || !isDue(part)) {
                part.withdrawn();
                progress.signalAll();
                return null;
            }
            part.begun(committing);
            begun = true;
            sending++;
            return new Sending(part, part.run(), parts.layout(), remote);
        } finally {
            lock.unlock();
        }
    }

    private boolean isDue(Part part) {
        return part.isNeededBy(committing) || (early && parts.isReady(part));
    }

    private final class Sending {
        private final Part part;
        private final Run run;
        private final PartLayout layout;
        private final RemoteUpload to;

        Sending(Part part, Run run, PartLayout layout, RemoteUpload to) {
            this.part = part;
            this.run = run;
            this.layout = layout;
            this.to = to;
        }

        void run() {
            try {
                finish(part, transfer(), null);
            } catch (ObjectStoreException | IOException | InterruptedException e) {
                finish(part, null, e);
            } catch (RuntimeException | Error e) {
                LOG.error("Sending part {} of '{}' failed in an unforeseen way", part.number(), key, e);
                finish(part, null, new IOException("writing '" + key + "' failed: " + e, e));
            }
        }

        private UploadedPart transfer() throws ObjectStoreException, IOException, InterruptedException {
            MultipartUpload upload = to.open(layout); // not to be interrupted: the store would keep what we never knew
            enter();
            ObjectVersion source = run.source();
            if (source != null) {
                ByteRange copied = new ByteRange(run.sourceOffset(), run.length());
                return to.copy(upload, part.number(), source, copied, uploads);
            }
            try (FileContent.StillBody body = content.body(run.range())) {
                return to.send(upload, part.number(), body, uploads);
            }
        }
    }

    private void enter() throws InterruptedException {
        lock.lock();
        try {
            if (ended) {
                throw new InterruptedException();
            }
            senders.add(Thread.currentThread());
        } finally {
            lock.unlock();
        }
    }

    private void finish(Part part, @Nullable UploadedPart sent, @Nullable Exception failed) {
        lock.lock();
        try {
            senders.remove(Thread.currentThread());
            sending--;
            if (sent != null) {
                part.sent(sent);
            } else {
                part.failed();
                failed(part, failed);
            }
            if (part.isOutdated() && !ended && failure == null && isDue(part)) {
                enqueue(part);
            }
            progress.signalAll();
        } finally {
            lock.unlock();
        }
    }

    private void failed(Part part, @Nullable Exception cause) {
        if (ended) {
            return;
        }
        if (!part.isNeededBy(committing)) {
            pauseEarly();
            LOG.debug("Part {} of '{}' waits for the commit: {}", part.number(), key, cause, cause);
        } else if (part.wasBegunIn(committing)) {
            failure = cause;
        }
    }

    private void pauseEarly() {
        early = false;
        earlyAgain = uploads.nanoTime() + EARLY_PAUSE_NANOS;
    }

    // ---- commit

    @Override
    public ObjectVersion commit(long size, WriteCondition condition)
            throws ObjectStoreException, IOException, InterruptedException {
        boolean whole = beginCommit(size);
        boolean committed = false;
        try {
            uploads.probeConditions(condition);
            ObjectVersion version = whole ? putWhole(size, condition) : joinParts(size, condition);
            committed = true;
            return version;
        } finally {
            endCommit(committed, whole);
        }
    }

    /** @return whether the content is to be one PUT */
    private boolean beginCommit(long size) throws ObjectStoreException, IOException {
        if (size > MAX_NUMBER * MAX_SIZE) {
            throw new IOException("'" + key + "' has " + size + " bytes: no store takes that much in 10,000 parts");
        }
        lock.lock();
        try {
            checkNotEnded();
            committing = ++commits;
            failure = null;
            boolean whole = size <= parts.layout().partBytes();
            early = !whole;
            return whole;
        } finally {
            lock.unlock();
        }
    }

    private void endCommit(boolean committed, boolean whole) {
        lock.lock();
        try {
            committing = 0;
            pauseEarly();
        } finally {
            lock.unlock();
        }
        if (committed) {
            end(whole);
        }
    }

    private ObjectVersion putWhole(long size, WriteCondition condition)
            throws ObjectStoreException, IOException, InterruptedException {
        lane.acquire();
        try (FileContent.StillBody body = size == 0 ? new EmptyBody() : content.body(new ByteRange(0, size))) {
            ObjectVersion version = uploads.store().put(key, body, condition);
            uploads.uploaded(size);
            return version;
        } finally {
            lane.release();
        }
    }

    private ObjectVersion joinParts(long size, WriteCondition condition)
            throws ObjectStoreException, IOException, InterruptedException {
        try {
            return joinPartsOnce(size, condition);
        } catch (ObjectStoreException.NotFound e) {
            if (!begun()) {
                throw e; // the bucket
            }
            LOG.warn("The upload of '{}' is gone from the store: it begins anew", key);
            journal.abandoned();
            beginAnew(null);
            return joinPartsOnce(size, condition);
        }
    }

    private ObjectVersion joinPartsOnce(long size, WriteCondition condition)
            throws ObjectStoreException, IOException, InterruptedException {
        PartLayout layout = settleLayout(size);
        List<Part> needed = need(plan(size, layout));
        List<UploadedPart> uploaded = await(needed);
        RemoteUpload to = remote();
        return to.complete(to.open(layout), uploaded, condition);
    }

    /** The layout of what is up already, if the content fits; else one that is made for this content. */
    private PartLayout settleLayout(long size) {
        lock.lock();
        try {
            if (begun && size <= parts.layout().reach()) {
                return parts.layout();
            }
            PartLayout planned = PartLayout.planned(size, parts.layout().partBytes());
            if (begun) {
                RemoteUpload old = remote;
                beginAnew(planned);
                abortBehind(old, () -> {});
            } else {
                parts.begin(planned);
            }
            return planned;
        } finally {
            lock.unlock();
        }
    }

    private void beginAnew(@Nullable PartLayout another) {
        lock.lock();
        try {
            failure = null;
            committing = ++commits;
            remote = new RemoteUpload(uploads.store(), key, journal, null);
            if (another != null) {
                parts.begin(another);
            } else {
                parts.changeAll();
            }
        } finally {
            lock.unlock();
        }
    }

    private List<PlannedPart> plan(long size, PartLayout layout) {
        List<PlannedPart> plan = new ArrayList<>();
        long planned = Math.min(size, layout.baseEnd());
        if (planned > 0) {
            List<Run> runs = content.runs(new ByteRange(0, planned));
            plan.addAll(CommitPlan.of(runs, planned == size, layout.partBytes(), layout.baseParts()));
        }
        if (size > layout.baseEnd()) {
            int last = layout.number(size - 1);
            for (int number = layout.baseParts() + 1; number <= last; number++) {
                plan.add(planOfTail(number, layout.range(number), size));
            }
        }
        return plan;
    }

    private PlannedPart planOfTail(int number, ByteRange whole, long size) {
        ByteRange range = new ByteRange(whole.offset(), Math.min(whole.end(), size) - whole.offset());
        Run uploaded = uploadedRun(number, range);
        return uploaded != null
                ? new PlannedPart(number, uploaded)
                : CommitPlan.ofTail(number, range, content.runs(range), range.end() == size);
    }

    private @Nullable Run uploadedRun(int number, ByteRange range) {
        lock.lock();
        try {
            return parts.uploadedRun(number, range);
        } finally {
            lock.unlock();
        }
    }

    private List<Part> need(List<PlannedPart> plan) {
        lock.lock();
        try {
            List<Part> needed = parts.adopt(plan);
            for (Part part : needed) {
                part.neededBy(committing);
                if (part.isOutdated()) {
                    enqueue(part);
                }
            }
            return needed;
        } finally {
            lock.unlock();
        }
    }

    private List<UploadedPart> await(List<Part> needed) throws ObjectStoreException, IOException, InterruptedException {
        List<UploadedPart> uploaded = new ArrayList<>(needed.size());
        lock.lockInterruptibly();
        try {
            for (Part part : needed) {
                while (part.uploaded() == null) {
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

    private void checkFailure() throws ObjectStoreException, IOException, InterruptedException {
        checkNotEnded();
        switch (failure) {
            case null -> {}
            case ObjectStoreException e -> throw e;
            case IOException e -> throw e;
            case InterruptedException e -> throw e;
            default -> throw new IllegalStateException(failure);
        }
    }

    private void checkNotEnded() throws ObjectStoreException {
        if (ended) {
            throw new ObjectStoreException.Unavailable("the upload of '" + key + "' was given up", null);
        }
    }

    private boolean begun() {
        lock.lock();
        try {
            return begun;
        } finally {
            lock.unlock();
        }
    }

    private RemoteUpload remote() {
        lock.lock();
        try {
            return remote;
        } finally {
            lock.unlock();
        }
    }

    // ---- the end

    @Override
    public void abandon() {
        end(true);
    }

    @Override
    public void stop() {
        end(false);
    }

    private void end(boolean abort) {
        lock.lock();
        try {
            ended = true;
            senders.forEach(Thread::interrupt);
            progress.signalAll();
            if (abort) {
                abortBehind(remote, journal::abandoned);
            }
        } finally {
            lock.unlock();
        }
    }

    /** A part that arrives after the abort would stay for ever: so it waits for those on their way. */
    private void abortBehind(RemoteUpload upload, Runnable then) {
        if (sending == 0 && !upload.isThere()) {
            return;
        }
        uploads.run(() -> {
            awaitNoneSending();
            try {
                upload.abort();
                then.run();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
    }

    private void awaitNoneSending() {
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

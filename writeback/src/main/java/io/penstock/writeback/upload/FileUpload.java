package io.penstock.writeback.upload;

import static io.penstock.objectstore.UploadedPart.MAX_NUMBER;
import static io.penstock.objectstore.UploadedPart.MAX_SIZE;

import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.Deadline;
import io.penstock.objectstore.MultipartUpload;
import io.penstock.objectstore.ObjectProperties;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.OperationId;
import io.penstock.objectstore.UploadBody;
import io.penstock.objectstore.UploadedPart;
import io.penstock.objectstore.WriteCondition;
import io.penstock.writeback.content.Block;
import io.penstock.writeback.content.Run;
import io.penstock.writeback.upload.CommitPlan.PlannedPart;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One upload of a file's content to the store: parts sent while it is written, and one successful commit. Then the file
 * begins another upload.
 *
 * <p>{@link #ready} and {@link #changed} are called under the file's lock: they must neither wait nor call the file. No
 * lock may be held during calls of {@link FileContent}.
 *
 * <p>While the file is written, parts of its tail are sent as soon as all their blocks are at rest. This is best
 * effort: if one fails, the others wait for a while or for the commit. The commit sends the missing parts, and fails
 * only if that fails too. Once per commit, a new upload replaces one that has vanished from the store. If the store
 * refuses to complete an upload, one in parts of equal size replaces it, unless its parts were equal already. Content
 * of at most one part is one PUT. Content of another object is one copy by the store. An upload may begin in
 * one of these three ways and end in another.
 */
public final class FileUpload {
    private static final Logger LOG = LoggerFactory.getLogger(FileUpload.class);

    private final Uploads uploads;
    private final String key;
    private final TargetProperties properties;
    private final UploadJournal journal;
    private final FileContent content;
    private final long partBytes;
    private final UploadGate.FileQueue queue;
    private final PartSender sender;

    /** The object made by joining its parts, with its properties at that time; null if none was made. */
    private volatile @Nullable ObjectVersion asJoined;

    /** Controls the last moment at which a commit can be cancelled. */
    public interface Decision {
        /** Of the commit, for a request that does not belong to an upload. */
        OperationId operation();

        /**
         * The request is about to be sent.
         *
         * @param operation of the resulting object
         * @throws InterruptedException if the commit was cancelled
         */
        void begin(OperationId operation) throws InterruptedException;

        /** The store has refused the request: the object is not this operation's. */
        void refused();

        /**
         * Another request will follow the refused one. Until then the commit can be cancelled again.
         *
         * @throws InterruptedException if it was cancelled
         */
        void postpone() throws InterruptedException;
    }

    /** @param earlier the upload that an earlier run left at the store; null if there is none */
    FileUpload(
            Uploads uploads,
            TargetProperties properties,
            FileContent content,
            UploadJournal journal,
            PartLayout layout,
            @Nullable JournalledUpload earlier) {
        this.uploads = uploads;
        this.key = properties.key();
        this.properties = properties;
        this.journal = journal;
        this.content = content;
        this.partBytes = layout.partBytes();
        this.queue = uploads.newQueue();
        this.sender = new PartSender(uploads, properties, content, journal, queue, layout, earlier);
    }

    /** Whether this upload makes an object with these properties. */
    public boolean gives(TargetProperties wanted) {
        return properties.equals(wanted);
    }

    /** The blocks in the range are whole and at rest: parts that they complete may be sent. */
    public void ready(ByteRange blocks) {
        sender.ready(blocks);
    }

    /** Bytes change: parts that contain them, and are uploaded or in flight, must be sent again. */
    public void changed(ByteRange range) {
        sender.changed(range);
    }

    /** Bytes at the store that are current and not committed. */
    public long uploadedBytes() {
        return sender.uploadedBytes();
    }

    /**
     * Makes the content the object with this key. The content must not change before this returns. May be retried after
     * a failure.
     *
     * @param decision begins with the deciding request: if this thread is interrupted from then on, the store's version
     *     is unknown
     */
    public ObjectVersion commit(long size, WriteCondition condition, Decision decision)
            throws ObjectStoreException, IOException, InterruptedException {
        if (size > MAX_NUMBER * MAX_SIZE) {
            throw new IOException("'" + key + "' has " + size + " bytes: more than 10,000 parts can hold");
        }
        ObjectVersion original = original(size);
        boolean whole = original != null || size <= partBytes;
        ObjectVersion version;
        sender.beginCommit(!whole);
        try {
            if (original != null) {
                version = copyWhole(original, condition, decision);
            } else {
                version = whole ? putWhole(size, condition, decision) : joinParts(size, condition, decision);
            }
        } finally {
            sender.endCommit();
        }
        sender.end(whole); // parts from when it was larger are aborted
        return version;
    }

    private ObjectVersion putWhole(long size, WriteCondition condition, Decision decision)
            throws ObjectStoreException, IOException, InterruptedException {
        Deadline.standInLine(queue::acquire);
        try (FileContent.SnapshotBody held = size == 0 ? null : content.body(new ByteRange(0, size))) {
            UploadBody body = held == null ? UploadBody.EMPTY : held;
            ObjectProperties kept = properties.ofNewContent(uploads.store()).sentBy(decision.operation());
            ObjectVersion version =
                    decide(decision.operation(), decision, () -> uploads.store().put(key, body, kept, condition));
            uploads.uploaded(size);
            return version;
        } finally {
            queue.release();
        }
    }

    /** Sends the deciding request. */
    private static <E extends Exception> ObjectVersion decide(
            OperationId operation, Decision decision, Deadline.Work<ObjectVersion, E> request)
            throws ObjectStoreException, InterruptedException, E {
        decision.begin(operation);
        try {
            return request.run();
        } catch (ObjectStoreException e) {
            if (!e.mayBeDone()) {
                decision.refused();
            }
            throw e;
        }
    }

    /** The version, of this or another object, with exactly this content; null if there is none. */
    private @Nullable ObjectVersion original(long size) {
        if (size == 0 || sourceOf(Math.min(size, Block.BLOCK_SIZE), size) == null) {
            return null; // the usual case, found without reading all runs
        }
        return sourceOf(size, size);
    }

    /** The version of this size to which all bytes up to {@code end} belong; null if there is none. */
    private @Nullable ObjectVersion sourceOf(long end, long size) {
        List<Run> runs = CommitPlan.join(content.runs(new ByteRange(0, end)));
        Run first = runs.getFirst();
        ObjectVersion source = first.source();
        if (source == null || source.size() != size) {
            return null;
        }
        return runs.size() == 1 ? source : null;
    }

    private ObjectVersion copyWhole(ObjectVersion original, WriteCondition condition, Decision decision)
            throws ObjectStoreException, InterruptedException {
        Deadline.standInLine(queue::acquire);
        try {
            ObjectProperties copied =
                    original.key().equals(key) ? properties.get(uploads.store()) : propertiesOf(original);
            ObjectProperties sent = copied.sentBy(decision.operation());
            ObjectVersion version = decide(decision.operation(), decision, () -> copy(original, sent, condition));
            uploads.copied(version.size());
            return version;
        } finally {
            queue.release();
        }
    }

    private ObjectVersion copy(ObjectVersion of, ObjectProperties properties, WriteCondition condition)
            throws ObjectStoreException, InterruptedException {
        PartLayout layout = PartLayout.planned(of.size(), partBytes);
        return uploads.store().copy(of, key, properties, condition, journal.copying(layout));
    }

    private ObjectProperties propertiesOf(ObjectVersion original) throws ObjectStoreException, InterruptedException {
        try {
            return properties.ofCopy(uploads.store().properties(original.key()));
        } catch (ObjectStoreException.NotFound e) {
            throw new ObjectStoreException.PreconditionFailed(
                    "'" + original.key() + "' cannot be copied: another client has deleted it", e);
        }
    }

    private ObjectVersion joinParts(long size, WriteCondition condition, Decision decision)
            throws ObjectStoreException, IOException, InterruptedException {
        try {
            return joinPartsOnce(size, condition, decision);
        } catch (ObjectStoreException.NotFound e) {
            if (!sender.restart()) {
                throw e; // the bucket is missing
            }
            LOG.warn("The store no longer has the upload of '{}': it is sent again", key);
            decision.postpone();
            return joinPartsOnce(size, condition, decision);
        }
    }

    private ObjectVersion joinPartsOnce(long size, WriteCondition condition, Decision decision)
            throws ObjectStoreException, IOException, InterruptedException {
        PartLayout layout = sender.settleLayout(size);
        List<UploadedPart> uploaded = sender.bring(plan(size, layout));
        RemoteUpload to = sender.remote();
        MultipartUpload upload = to.open(layout);
        ObjectVersion made = null;
        try {
            made = decide(upload.operation(), decision, () -> to.complete(upload, uploaded, condition));
        } catch (ObjectStoreException.Refused e) {
            if (areEqual(uploaded)) {
                throw e;
            }
            LOG.debug("'{}' is uploaded again, in parts of equal size: {}", key, e.getMessage());
        }
        if (made != null) {
            return withProperties(made, upload, to);
        }
        decision.postpone();
        sender.beginInEqualParts(size);
        ObjectVersion version = joinPartsOnce(size, condition, decision);
        uploads.demandEqualParts();
        return version;
    }

    /** Sets properties that were changed after the upload had begun: its first request gave the earlier ones. */
    private ObjectVersion withProperties(ObjectVersion made, MultipartUpload upload, RemoteUpload by)
            throws ObjectStoreException, InterruptedException {
        asJoined = made;
        ObjectProperties wanted = properties.ofNewContent(uploads.store());
        return by.has(wanted)
                ? made
                : copy(made, wanted.sentBy(upload.operation()), new WriteCondition.Unchanged(made.etag()));
    }

    /** Whether this version may lack properties because a commit failed after its parts were joined. */
    public boolean mayLackProperties(ObjectVersion version) {
        ObjectVersion made = asJoined;
        return made != null && made.etag().equals(version.etag());
    }

    /** Whether all parts except the last have one size, and the last is not larger. */
    private static boolean areEqual(List<UploadedPart> parts) {
        long size = parts.getFirst().size();
        return parts.getLast().size() <= size
                && parts.stream().limit(parts.size() - 1).allMatch(part -> part.size() == size);
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
        Run uploaded = sender.uploadedRun(number, range);
        return uploaded != null
                ? new PlannedPart(number, uploaded)
                : CommitPlan.ofTail(number, range, content.runs(range), range.end() == size);
    }

    /** Cancels the parts in flight, and aborts the multipart upload, if any, in the background. Never waits. */
    public void abandon() {
        sender.end(true);
    }

    /** Cancels the parts in flight. Leaves the uploaded ones at the store for a later run. Never waits. */
    public void stop() {
        sender.end(false);
    }
}

package io.penstock.objectstore.s3;

import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.MultipartUpload;
import io.penstock.objectstore.ObjectProperties;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.RetryPolicy;
import io.penstock.objectstore.UploadBody;
import io.penstock.objectstore.UploadedPart;
import io.penstock.objectstore.WriteCondition;
import io.penstock.objectstore.WriteCondition.Unchanged;
import io.penstock.objectstore.ZeroBody;
import java.io.IOException;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.Semaphore;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes conditional writes in the way that the store supports. A store that honours conditions on one kind of request
 * may ignore them on another: MinIO does on CopyObject, Ceph did on CompleteMultipartUpload. So each kind is probed
 * before its first use, with its own key and a condition that never holds. Safe for use by any number of threads.
 */
final class ConditionalWrites {
    /** The kinds of requests on which S3 honours conditions. */
    enum Kind {
        PUT("PutObject"),
        COMPLETE("CompleteMultipartUpload"),
        COPY("CopyObject"),
        DELETE("DeleteObject"),
        DELETE_MANY("DeleteObjects");

        private final String operation;

        Kind(String operation) {
            this.operation = operation;
        }

        /** S3's name of the request. */
        String operation() {
            return operation;
        }
    }

    /**
     * A write of one kind, with all its attempts.
     *
     * @param <X> {@link IOException} if the write sends a body
     */
    @FunctionalInterface
    interface Write<T, X extends Exception> {
        T make(Precondition precondition) throws ObjectStoreException, InterruptedException, X;
    }

    private static final Logger LOG = LoggerFactory.getLogger(ConditionalWrites.class);

    /** Under the name that no mount shows, {@code .penstock}. */
    private static final String PROBE = ".penstock/probe-";

    /** No object has this ETag: no content with this MD5 is known. */
    private static final String NEVER_MET_ETAG = "\"00000000000000000000000000000000\"";

    /** The smallest part that all stores accept. */
    private static final UploadBody SMALLEST = new ZeroBody(1);

    private static final Precondition NEVER_MET = new Precondition(new Unchanged(NEVER_MET_ETAG), true);

    /** No request can carry this ETag. */
    private static final WriteCondition NO_ETAG = new Unchanged(ResponseValues.NO_ETAG);

    private final RequestExecutor requests;
    private final BucketReader reader;
    private final ObjectWriter writer;
    private final MultipartUploads uploads;
    private final ObjectCopier copier;
    private final BatchDeletions deletions;
    private final String prefix;

    private final ConcurrentMap<Kind, Boolean> honoured = new ConcurrentHashMap<>();

    /** One thread at a time probes a kind: the rename of a directory starts with 64 concurrent requests of one kind. */
    private final ConcurrentMap<Kind, Semaphore> turns = new ConcurrentHashMap<>();

    /** @param prefix of probe keys, in case the credentials allow no others */
    ConditionalWrites(
            RequestExecutor requests,
            BucketReader reader,
            ObjectWriter writer,
            MultipartUploads uploads,
            ObjectCopier copier,
            BatchDeletions deletions,
            String prefix) {
        this.requests = requests;
        this.reader = reader;
        this.writer = writer;
        this.uploads = uploads;
        this.copier = copier;
        this.deletions = deletions;
        this.prefix = prefix;
    }

    /** Makes the write; the store checks its condition, or this process does. */
    <T, X extends Exception> T make(Kind kind, WriteCondition condition, Write<T, X> write)
            throws ObjectStoreException, InterruptedException, X {
        if (condition instanceof WriteCondition.Always) {
            return write.make(Precondition.NONE);
        }
        Precondition looking = new Precondition(condition, false);
        if (condition.equals(NO_ETAG) || !isHonoured(kind)) {
            return write.make(looking);
        }
        try {
            return write.make(new Precondition(condition, true));
        } catch (ObjectStoreException.Refused e) {
            if (!ErrorMapper.isNotImplemented(e)) {
                throw e;
            }
            T done = write.make(looking); // if it fails too, the store lacks something else in the request
            notHonoured(kind, "does not honour");
            return done;
        }
    }

    /** Makes the write with its condition if the store checks it, otherwise unconditionally. */
    <T, X extends Exception> T makeUnchecked(Kind kind, WriteCondition condition, Write<T, X> write)
            throws ObjectStoreException, InterruptedException, X {
        return isHonoured(kind) ? make(kind, condition, write) : write.make(Precondition.NONE);
    }

    /** Whether the store checks conditions on requests of this kind. The first call for a kind probes the store. */
    boolean isHonoured(Kind kind) throws ObjectStoreException, InterruptedException {
        Boolean known = honoured.get(kind);
        if (known != null) {
            return known;
        }
        Semaphore turn = turns.computeIfAbsent(kind, _ -> new Semaphore(1));
        turn.acquire();
        try {
            return findOut(kind);
        } finally {
            turn.release();
        }
    }

    private boolean findOut(Kind kind) throws ObjectStoreException, InterruptedException {
        Boolean known = honoured.get(kind); // another thread may have just found out
        if (known != null) {
            return known;
        }
        try {
            if (probe(kind)) {
                honoured.putIfAbsent(kind, true);
            } else {
                notHonoured(kind, "does not honour");
            }
        } catch (ObjectStoreException.QuotaExceeded | ObjectStoreException.OutOfSpace _) {
            return false; // until there is room for a probe: a deletion frees some
        }
        return Boolean.TRUE.equals(honoured.get(kind));
    }

    private void notHonoured(Kind kind, String how) {
        if (!Boolean.FALSE.equals(honoured.put(kind, false))) {
            LOG.warn(
                    "{} {} conditions on {} (If-Match): a write by another client between our check and our request is"
                            + " lost",
                    requests.errors.bucket(),
                    how,
                    kind.operation);
        }
    }

    private boolean probe(Kind kind) throws ObjectStoreException, InterruptedException {
        String key = prefix + PROBE + UUID.randomUUID();
        try {
            return switch (kind) {
                case PUT -> isWriteRefused(key, () -> put(key, NEVER_MET));
                case COMPLETE -> isCompletionRefused(prefix + PROBE + "complete");
                case COPY -> isCopyRefused(key);
                case DELETE -> isDeletionRefused(kind, key, () -> deleteUnmet(key));
                case DELETE_MANY -> isDeletionRefused(kind, key, () -> deletions.probe(key, NEVER_MET_ETAG));
            };
        } catch (IOException e) {
            throw new IllegalStateException("of a body in memory", e);
        }
    }

    /** @param key the same for all mounts, so that a mount finds the upload of one that was killed */
    private boolean isCompletionRefused(String key) throws ObjectStoreException, IOException, InterruptedException {
        abortLeftovers(key);
        MultipartUpload upload = uploads.create(key, properties(key));
        boolean completed = false;
        try {
            List<UploadedPart> parts = List.of(uploads.send(upload, 1, SMALLEST));
            boolean refused = isWriteRefused(key, () -> uploads.complete(upload, parts, NEVER_MET));
            completed = !refused;
            return refused;
        } finally {
            if (!completed) {
                abort(upload);
            }
        }
    }

    /** Aborts leftover uploads. One attempt is enough, because nothing depends on it. */
    private void abortLeftovers(String key) throws InterruptedException {
        try {
            RetryPolicy.ONE_ATTEMPT.forReading().call(() -> {
                uploads.abortOld(key);
                return null;
            });
        } catch (ObjectStoreException e) {
            LOG.debug("Uploads of earlier probes, if there are any, stay in the bucket", e);
        }
    }

    private boolean isCopyRefused(String key) throws ObjectStoreException, IOException, InterruptedException {
        ObjectVersion source = put(key, Precondition.NONE);
        String target = key + "-copy";
        try {
            return isWriteRefused(target, () -> copyUnmet(source, target));
        } finally {
            remove(key);
        }
    }

    /** Such a copy has no operation id. After a lost response the copy is repeated, until no response is lost. */
    private void copyUnmet(ObjectVersion source, String target) throws ObjectStoreException, InterruptedException {
        try {
            copier.copyOwn(source, target, NEVER_MET);
        } catch (ObjectStoreException.OutcomeUnknown _) {
            copyUnmet(source, target); // each time after a pause, within the deadline
        }
    }

    private boolean isDeletionRefused(Kind kind, String key, Probe deletion)
            throws ObjectStoreException, IOException, InterruptedException {
        try {
            put(key, Precondition.NONE);
        } catch (ObjectStoreException.AccessDenied e) {
            e.throwUnlessNotAllowed();
            // Credentials that may delete but not write cannot probe. The condition is sent and does no harm.
            return true;
        }
        try {
            return isRefused(deletion);
        } catch (ObjectStoreException.AccessDenied e) {
            e.throwUnlessNotAllowed();
            // Credentials that may not delete the probe may delete other objects. A HEAD precedes each deletion.
            notHonoured(kind, "does not let these credentials delete objects below .penstock/, and so may not honour");
            return false;
        } finally {
            remove(key);
        }
    }

    /** If a refusal follows a lost response, the call counts as successful: the object shows whether it is. */
    private void deleteUnmet(String key) throws ObjectStoreException, InterruptedException {
        writer.delete(key, null, NEVER_MET);
        if (reader.currentEtag(key) != null) {
            throw new ObjectStoreException.PreconditionFailed(requests.errors.object(key) + " was not deleted", null);
        }
    }

    private ObjectVersion put(String key, Precondition precondition)
            throws ObjectStoreException, IOException, InterruptedException {
        return writer.put(key, SMALLEST, properties(key), precondition);
    }

    private static ObjectProperties properties(String key) {
        return ObjectProperties.ofNew(key).sent(key);
    }

    /** A request whose condition never holds. */
    @FunctionalInterface
    private interface Probe {
        void make() throws ObjectStoreException, IOException, InterruptedException;
    }

    /** Makes the request. Deletes the object if the store wrote it despite the condition. */
    private boolean isWriteRefused(String key, Probe probe)
            throws ObjectStoreException, IOException, InterruptedException {
        boolean isRefused = isRefused(probe);
        if (!isRefused) {
            remove(key);
        }
        return isRefused;
    }

    private static boolean isRefused(Probe probe) throws ObjectStoreException, IOException, InterruptedException {
        try {
            probe.make();
            return false;
        } catch (ObjectStoreException.PreconditionFailed _) {
            return true;
        } catch (ObjectStoreException.Refused _) {
            return false; // of the condition or of all such requests: the next one without a condition will show
        }
    }

    private void abort(MultipartUpload upload) throws InterruptedException {
        try {
            uploads.abort(upload.key(), upload.id());
        } catch (ObjectStoreException e) {
            LOG.warn(
                    "The upload of {} was a probe and cannot be aborted: {}",
                    requests.errors.object(upload.key()),
                    e.getMessage());
        }
    }

    private void remove(String key) throws InterruptedException {
        try {
            writer.delete(key, null, Precondition.NONE);
        } catch (ObjectStoreException e) {
            LOG.warn("{} was a probe and cannot be deleted: {}", requests.errors.object(key), e.getMessage());
        }
    }
}

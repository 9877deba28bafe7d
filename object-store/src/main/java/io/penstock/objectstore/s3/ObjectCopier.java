package io.penstock.objectstore.s3;

import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.MultipartUpload;
import io.penstock.objectstore.ObjectProperties;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.OperationId;
import io.penstock.objectstore.StoredObject;
import io.penstock.objectstore.UploadListener;
import io.penstock.objectstore.UploadedPart;
import io.penstock.objectstore.WriteCondition;
import io.penstock.objectstore.s3.Gaps.Gap;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.s3.model.CopyObjectRequest;
import software.amazon.awssdk.services.s3.model.CopyObjectResponse;
import software.amazon.awssdk.services.s3.model.CopyObjectResult;
import software.amazon.awssdk.services.s3.model.MetadataDirective;
import software.amazon.awssdk.services.s3.model.StorageClass;
import software.amazon.awssdk.services.s3.model.TaggingDirective;

/** Copies objects within the bucket, inside the store. Safe for use by any number of threads. */
final class ObjectCopier {
    /**
     * The maximum size in bytes of a copy by one request. S3 accepts 5 GiB but responds only after the copy. A server
     * that copies 100 MB a second without sending anything would run into the read timeout.
     */
    private static final long MAX_COPY_BYTES = 256L << 20;

    private static final int PARALLEL_PARTS = 8;

    /** The maximum number of parts that a copy preserves: each is a request. */
    private static final int MAX_KEPT_PARTS = 1_000;

    private final RequestExecutor requests;
    private final BucketReader reader;
    private final MultipartUploads uploads;

    ObjectCopier(RequestExecutor requests, BucketReader reader, MultipartUploads uploads) {
        this.requests = requests;
        this.reader = reader;
        this.uploads = uploads;
    }

    /** Whether one request copies it. */
    static boolean isAtOnce(ObjectVersion source) {
        return source.size() <= MAX_COPY_BYTES;
    }

    /** Copies with one request. */
    ObjectVersion copyAtOnce(ObjectVersion source, String key, ObjectProperties properties, Precondition precondition)
            throws ObjectStoreException, InterruptedException {
        CopyObjectRequest.Builder request = request(source, key, precondition)
                .metadataDirective(MetadataDirective.REPLACE)
                // Without tags at the source, the copy has none either way, and not every server knows the directive.
                .taggingDirective(properties.tags().isEmpty() ? null : TaggingDirective.REPLACE)
                .overrideConfiguration(headers -> PropertyHeaders.of(properties).forEach(headers::putHeader));
        return ifUnchanged(source, key, request, properties.operation(), precondition, precondition);
    }

    /**
     * Copies with one request and the source's properties. S3 copies headers, metadata and tags by default, but not the
     * storage class.
     */
    ObjectVersion duplicateAtOnce(StoredObject source, String key, Precondition precondition)
            throws ObjectStoreException, InterruptedException {
        CopyObjectRequest.Builder request = request(source.version(), key, precondition);
        StorageClass storageClass = StorageClass.fromValue(source.storageClass());
        if (storageClass != StorageClass.STANDARD && storageClass != StorageClass.UNKNOWN_TO_SDK_VERSION) {
            request.storageClass(storageClass);
        }
        // An attempt that follows a lost response would otherwise replace what another client has written there since.
        Precondition again =
                precondition.equals(Precondition.NONE) ? new Precondition(WriteCondition.ABSENT, false) : precondition;
        return ifUnchanged(source.version(), key, request, null, precondition, again);
    }

    /** Copies a source that no other client writes. */
    ObjectVersion copyOwn(ObjectVersion source, String key, Precondition precondition)
            throws ObjectStoreException, InterruptedException {
        return copy(source, key, request(source, key, precondition).build(), null, precondition, precondition);
    }

    private ObjectVersion ifUnchanged(
            ObjectVersion source,
            String key,
            CopyObjectRequest.Builder request,
            @Nullable OperationId operation,
            Precondition precondition,
            Precondition again)
            throws ObjectStoreException, InterruptedException {
        return reader.ifUnchanged(
                source,
                etag -> copy(source, key, request.copySourceIfMatch(etag).build(), operation, precondition, again));
    }

    private CopyObjectRequest.Builder request(ObjectVersion source, String key, Precondition precondition) {
        return CopyObjectRequest.builder()
                .sourceBucket(requests.bucket())
                .sourceKey(source.key())
                .destinationBucket(requests.bucket())
                .destinationKey(key)
                .ifMatch(precondition.ifMatch())
                .ifNoneMatch(precondition.ifNoneMatch())
                .requestPayer(requests.payer);
    }

    private ObjectVersion copy(
            ObjectVersion source,
            String key,
            CopyObjectRequest request,
            @Nullable OperationId operation,
            Precondition precondition,
            Precondition again)
            throws ObjectStoreException, InterruptedException {
        RetryState retryState = operation == null ? new RetryState() : RetryState.ofOperation();
        try {
            CopyObjectResponse response = requests.change(requests.errors.object(source.key()), retryState, () -> {
                (retryState.isInDoubt() ? again : precondition).check(reader, key, requests.errors.object(key));
                return requests.client.copyObject(request);
            });
            CopyObjectResult result = response.copyObjectResult();
            Instant time = result.lastModified() == null ? ResponseValues.timeOf(response) : result.lastModified();
            return new ObjectVersion(key, ResponseValues.etag(result.eTag()), source.size(), time);
        } catch (ObjectStoreException e) {
            ObjectStoreException failure = e instanceof ObjectStoreException.NotFound missing
                    ? requests.errors.explainCopy(source.key(), missing)
                    : e;
            return reader.settle(key, operation, retryState.isInDoubt(), failure);
        }
    }

    /** Makes the completed object visible. */
    @FunctionalInterface
    interface Completion {
        ObjectVersion complete(MultipartUpload upload, List<UploadedPart> parts)
                throws ObjectStoreException, InterruptedException;
    }

    /**
     * The size in bytes of the parts of a copy; 0 if one request makes it. A copy of an object onto itself keeps its
     * parts if possible: S3 derives the ETag from their MD5s, so it stays and other nodes can read on.
     */
    long partSize(ObjectVersion source, String key, ObjectProperties properties)
            throws ObjectStoreException, InterruptedException {
        boolean mayKeep = source.key().equals(key)
                && !requests.gaps.has(Gap.PART_COPIES)
                && !PropertyHeaders.isEncryptedWithKms(properties); // otherwise each copy has another ETag
        long kept = mayKeep ? keptPartSize(source) : 0;
        if (kept > 0 || isAtOnce(source)) {
            return kept;
        }
        return Math.max(MAX_COPY_BYTES, Math.ceilDiv(source.size(), UploadedPart.MAX_NUMBER));
    }

    /** The size of all parts but the last, from that of the first and their number; 0 if a copy cannot keep it. */
    private long keptPartSize(ObjectVersion source) throws ObjectStoreException, InterruptedException {
        int parts = source.parts();
        if (parts == 0 || parts > MAX_KEPT_PARTS) {
            return 0;
        }
        long first = parts == 1 ? source.size() : reader.firstPartSize(source.key());
        boolean isAccepted = first <= MAX_COPY_BYTES && (parts == 1 || first >= UploadedPart.MIN_SIZE);
        boolean isEqual = isAccepted && first * (parts - 1) < source.size() && source.size() <= first * parts;
        return isEqual ? first : 0;
    }

    ObjectVersion copyInParts(
            ObjectVersion source,
            String key,
            ObjectProperties properties,
            long partSize,
            Completion completion,
            UploadListener listener)
            throws ObjectStoreException, InterruptedException {
        MultipartUpload upload = uploads.create(key, properties);
        boolean completed = false;
        try {
            listener.began(upload);
            ObjectVersion copy = completion.complete(upload, copyParts(upload, source, partSize));
            completed = true;
            listener.ended(upload);
            return copy;
        } finally {
            if (!completed) {
                abort(upload, listener);
            }
        }
    }

    private List<UploadedPart> copyParts(MultipartUpload upload, ObjectVersion source, long partSize)
            throws ObjectStoreException, InterruptedException {
        List<ConcurrentRequests.Request<UploadedPart>> copies = new ArrayList<>();
        for (long offset = 0; offset < source.size(); offset += partSize) {
            int number = copies.size() + 1;
            ByteRange range = new ByteRange(offset, Math.min(partSize, source.size() - offset));
            copies.add(() -> uploads.copy(upload, number, source, range));
        }
        return ConcurrentRequests.all(PARALLEL_PARTS, copies);
    }

    /** Aborts if possible: the caller gets the earlier failure. */
    private void abort(MultipartUpload upload, UploadListener listener) {
        boolean interrupted = Thread.interrupted();
        try {
            uploads.abort(upload.key(), upload.id());
            listener.ended(upload);
        } catch (ObjectStoreException _) {
            // The listener knows the upload: a later run aborts it.
        } catch (InterruptedException _) {
            interrupted = true;
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}

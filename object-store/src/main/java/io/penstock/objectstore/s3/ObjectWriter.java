package io.penstock.objectstore.s3;

import static java.util.Objects.requireNonNull;

import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.ObjectProperties;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.UploadBody;
import io.penstock.objectstore.http.ResponseHead;
import java.io.IOException;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.s3.model.DeleteObjectRequest;
import software.amazon.awssdk.services.s3.model.PutObjectRequest;
import software.amazon.awssdk.services.s3.model.PutObjectResponse;

/** Writes and deletes whole objects. Safe for use by any number of threads. */
final class ObjectWriter {
    private final RequestExecutor requests;
    private final BucketReader reader;

    ObjectWriter(RequestExecutor requests, BucketReader reader) {
        this.requests = requests;
        this.reader = reader;
    }

    ObjectVersion put(String key, UploadBody body, ObjectProperties properties, Precondition precondition)
            throws ObjectStoreException, IOException, InterruptedException {
        return SentBody.withChecksum(requests, body, sent -> put(key, body, sent, properties, precondition));
    }

    private ObjectVersion put(
            String key, UploadBody body, SentBody sent, ObjectProperties properties, Precondition precondition)
            throws ObjectStoreException, IOException, InterruptedException {
        String object = requests.errors.object(key);
        RetryState retryState = RetryState.ofOperation();
        DirectRequests direct =
                precondition.isSent() ? requests.direct : null; // otherwise a HEAD precedes each attempt
        ResponseHead head = sent.sendDirectly(direct, retryState, key, Map.of(), headers(properties, precondition));
        if (head != null) {
            requests.progressed();
            return new ObjectVersion(
                    key,
                    ResponseValues.etag(head.header("ETag")),
                    body.length(),
                    ResponseValues.timeOf(head.header("Date")));
        }
        PutObjectRequest request = PutObjectRequest.builder()
                .bucket(requests.bucket())
                .key(key)
                .ifMatch(precondition.ifMatch())
                .ifNoneMatch(precondition.ifNoneMatch())
                .checksumCRC32C(sent.crc32cHeader())
                .contentMD5(sent.md5Header())
                .requestPayer(requests.payer)
                .overrideConfiguration(headers -> PropertyHeaders.of(properties).forEach(headers::putHeader))
                .build();
        try {
            PutObjectResponse response = sent.send(requests, retryState, object, content -> {
                precondition.check(reader, key, object);
                return requests.client.putObject(request, content);
            });
            boolean isNamed = ResponseValues.isWhole(response.eTag());
            ObjectVersion version = new ObjectVersion(
                    key,
                    ResponseValues.etag(isNamed ? response.eTag() : null),
                    body.length(),
                    ResponseValues.timeOf(response));
            return isNamed
                    ? version
                    : reader.named(version, requireNonNull(properties.operation()), precondition.unmet(object, null));
        } catch (ObjectStoreException e) {
            return reader.settle(key, properties.operation(), retryState.isInDoubt(), precondition.explain(object, e));
        }
    }

    private Map<String, String> headers(ObjectProperties properties, Precondition precondition) {
        Map<String, String> headers = PropertyHeaders.of(properties);
        headers.putAll(precondition.headers());
        return headers;
    }

    /**
     * Deletes the object. With a condition, the object no longer meets it when this returns. If an attempt without a
     * response may have succeeded, an object written since then stays: a HEAD before the next attempt checks for one.
     *
     * @param version of the object; null for any
     */
    void delete(String key, @Nullable ObjectVersion version, Precondition precondition)
            throws ObjectStoreException, InterruptedException {
        String object = requests.errors.object(key);
        DeleteObjectRequest request = DeleteObjectRequest.builder()
                .bucket(requests.bucket())
                .key(key)
                .ifMatch(precondition.ifMatch())
                .requestPayer(requests.payer)
                .build();
        RetryState retryState = RetryState.ofOperation();
        try {
            requests.change(object, retryState, () -> {
                if (retryState.isInDoubt() && isDeleted(key, version)) {
                    return true;
                }
                precondition.check(reader, key, object);
                requests.client.deleteObject(request);
                return true;
            });
        } catch (ObjectStoreException.NotFound e) {
            if (!ErrorMapper.isNoSuchKey(e)) {
                throw e;
            }
        } catch (ObjectStoreException.PreconditionFailed e) {
            if (!retryState.isInDoubt() && reader.currentEtag(key) != null) {
                throw precondition.explain(object, e);
            }
        }
    }

    /** Whether a HEAD shows no object, or one written after this version, possibly with equal content. */
    private boolean isDeleted(String key, @Nullable ObjectVersion version)
            throws ObjectStoreException, InterruptedException {
        ObjectVersion there;
        try {
            there = reader.describe(key).object().version();
        } catch (ObjectStoreException.NotFound _) {
            return true;
        } catch (ObjectStoreException.AccessDenied | ObjectStoreException.Refused _) {
            return false; // deleting may still be allowed
        }
        return version != null
                && (!there.etag().equals(version.etag()) || there.lastModified().isAfter(version.lastModified()));
    }
}

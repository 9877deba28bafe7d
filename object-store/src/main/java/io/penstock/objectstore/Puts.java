package io.penstock.objectstore;

import io.penstock.core.ObjectVersion;
import java.io.IOException;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.s3.model.DeleteObjectRequest;
import software.amazon.awssdk.services.s3.model.PutObjectRequest;
import software.amazon.awssdk.services.s3.model.PutObjectResponse;

/** Whole objects, written and removed. Safe for use by any number of threads. */
final class Puts {
    private final Requests requests;
    private final Reads reads;
    private final Conditions conditions;

    Puts(Requests requests, Reads reads, Conditions conditions) {
        this.requests = requests;
        this.reads = reads;
        this.conditions = conditions;
    }

    ObjectVersion put(String key, UploadBody body, ObjectProperties properties, WriteCondition condition)
            throws ObjectStoreException, IOException, InterruptedException {
        conditions.check(key, condition);
        SentBody sent = new SentBody(body, requests.config.uploadChecksums());
        Persistence persistence = new Persistence();
        ResponseHead answer =
                sent.sendDirectly(requests.direct, persistence, key, Map.of(), headers(properties, condition));
        if (answer != null) {
            requests.progressed();
            return new ObjectVersion(
                    key, Reads.etag(answer.header("ETag")), body.length(), Requests.time(answer.header("Date")));
        }
        PutObjectRequest request = PutObjectRequest.builder()
                .bucket(requests.bucket())
                .key(key)
                .ifMatch(conditions.ifMatch(condition))
                .ifNoneMatch(conditions.ifNoneMatch(condition))
                .checksumCRC32C(sent.crc32cHeader())
                .contentMD5(sent.md5Header())
                .requestPayer(requests.payer)
                .overrideConfiguration(headers -> PropertyHeaders.of(properties).forEach(headers::putHeader))
                .build();
        try {
            PutObjectResponse response = sent.send(
                    requests,
                    persistence,
                    requests.failures.object(key),
                    content -> requests.client.putObject(request, content));
            return new ObjectVersion(key, Reads.etag(response.eTag()), body.length(), Requests.timeOf(response));
        } catch (ObjectStoreException.PreconditionFailed | ObjectStoreException.NotFound e) {
            ObjectStoreException failure = conditions.explain(key, condition, e);
            boolean perhapsDone = failure instanceof ObjectStoreException.PreconditionFailed && persistence.isInDoubt();
            ObjectVersion done = perhapsDone ? find(key, body, sent) : null;
            if (done == null) {
                throw failure;
            }
            return done;
        }
    }

    private Map<String, String> headers(ObjectProperties properties, WriteCondition condition) {
        Map<String, String> headers = PropertyHeaders.of(properties);
        headers.putAll(conditions.headers(condition));
        return headers;
    }

    void delete(String key) throws ObjectStoreException, InterruptedException {
        DeleteObjectRequest request = DeleteObjectRequest.builder()
                .bucket(requests.bucket())
                .key(key)
                .requestPayer(requests.payer)
                .build();
        try {
            requests.change(requests.failures.object(key), () -> requests.client.deleteObject(request));
        } catch (ObjectStoreException.NotFound e) {
            if (!Failures.isNoSuchKey(e)) {
                throw e;
            }
        }
    }

    /** An earlier attempt whose answer was lost may make the next one's condition fail: the object there is ours then. */
    private @Nullable ObjectVersion find(String key, UploadBody body, SentBody sent)
            throws ObjectStoreException, IOException, InterruptedException {
        return reads.find(key, Fingerprint.ofWhole(body.length(), SentBody.md5(body), sent.crc32c()));
    }
}

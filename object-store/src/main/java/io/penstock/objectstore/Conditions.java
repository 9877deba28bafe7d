package io.penstock.objectstore;

import io.penstock.core.ObjectVersion;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import software.amazon.awssdk.awscore.exception.AwsServiceException;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.services.s3.model.PutObjectRequest;

/**
 * The conditions of writes: as headers where the store honours them, else, as well as it can be done, by looking
 * before. Safe for use by any number of threads.
 */
final class Conditions {
    private static final Logger LOG = LoggerFactory.getLogger(Conditions.class);

    /** No object's: it is the MD5 of nothing that anybody knows. */
    private static final String MADE_UP_ETAG = "\"00000000000000000000000000000000\"";

    private static final int NOT_IMPLEMENTED = 501;

    private final Requests requests;
    private final Reads reads;
    /** Null until somebody asks; until then it counts as true. Racy on purpose: two threads may both ask the store. */
    private volatile @Nullable Boolean honoured;

    Conditions(Requests requests, Reads reads) {
        this.requests = requests;
        this.reads = reads;
    }

    /** Whether the store honours them. */
    boolean honoured(String prefix) throws ObjectStoreException, InterruptedException {
        Boolean known = honoured;
        if (known == null) {
            known = probe(prefix);
            honoured = known;
        }
        return known;
    }

    /** The header's value; null for none. */
    @Nullable
    String ifMatch(WriteCondition condition) {
        return condition instanceof WriteCondition.Unchanged(String etag) && areSent() ? etag : null;
    }

    /** The header's value; null for none. */
    @Nullable
    String ifNoneMatch(WriteCondition condition) {
        return condition instanceof WriteCondition.Absent && areSent() ? "*" : null;
    }

    /** Both, by the headers' names. */
    Map<String, String> headers(WriteCondition condition) {
        String match = ifMatch(condition);
        String noneMatch = ifNoneMatch(condition);
        return match != null
                ? Map.of("If-Match", match)
                : noneMatch != null ? Map.of("If-None-Match", noneMatch) : Map.of();
    }

    /** Looks whether the condition holds, where the store would not. */
    void check(String key, WriteCondition condition) throws ObjectStoreException, InterruptedException {
        if (!areSent()) {
            look(key, condition);
        }
    }

    /** Looks whether the condition holds now, whatever the store would do. */
    void look(String key, WriteCondition condition) throws ObjectStoreException, InterruptedException {
        if (condition instanceof WriteCondition.Always) {
            return;
        }
        ObjectVersion there;
        try {
            there = reads.head(key).version();
        } catch (ObjectStoreException.NotFound _) {
            there = null;
        }
        boolean holds = switch (condition) {
            case WriteCondition.Always() -> true;
            case WriteCondition.Absent() -> there == null;
            case WriteCondition.Unchanged(String etag) ->
                there != null && there.etag().equals(etag);
        };
        if (!holds) {
            throw unmet(key, condition, null);
        }
    }

    /**
     * What a write's 404 means: the same as 412 where an object should have been there, unless bucket or upload are what
     * is gone.
     */
    ObjectStoreException explain(String key, WriteCondition condition, ObjectStoreException failure) {
        return switch (failure) {
            case ObjectStoreException.PreconditionFailed e -> unmet(key, condition, e);
            case ObjectStoreException.NotFound e
            when condition instanceof WriteCondition.Unchanged && Failures.isNoSuchKey(e) -> unmet(key, condition, e);
            default -> failure;
        };
    }

    private ObjectStoreException unmet(String key, WriteCondition condition, @Nullable Throwable cause) {
        String object = requests.failures.object(key);
        return new ObjectStoreException.PreconditionFailed(
                switch (condition) {
                    case WriteCondition.Absent() -> object + " was created by somebody else meanwhile";
                    case WriteCondition.Always(), WriteCondition.Unchanged _ ->
                        object + " was changed or deleted by somebody else meanwhile";
                },
                cause);
    }

    private boolean areSent() {
        return !Boolean.FALSE.equals(honoured);
    }

    private boolean probe(String prefix) throws ObjectStoreException, InterruptedException {
        String key = prefix + ".penstock-probe-" + UUID.randomUUID();
        PutObjectRequest request = PutObjectRequest.builder()
                .bucket(requests.bucket())
                .key(key)
                .ifMatch(MADE_UP_ETAG)
                .requestPayer(requests.payer)
                .build();
        boolean honoured = requests.change(requests.failures.object(key), () -> isRefused(request));
        if (!honoured) {
            LOG.warn(
                    "{} ignores conditions on writes (If-Match): what somebody else writes to a file between our look"
                            + " and our write is lost",
                    requests.failures.bucket());
            requests.change(
                    requests.failures.object(key),
                    () -> requests.client.deleteObject(
                            delete -> delete.bucket(requests.bucket()).key(key).requestPayer(requests.payer)));
        }
        return honoured;
    }

    private boolean isRefused(PutObjectRequest request) {
        try {
            requests.client.putObject(request, RequestBody.empty());
            return false;
        } catch (AwsServiceException answer) {
            return switch (answer.statusCode()) {
                case 404, 412 -> {
                    if (Failures.code(answer).equals("NoSuchBucket")) {
                        throw answer;
                    }
                    yield true;
                }
                case NOT_IMPLEMENTED -> false;
                default -> throw answer;
            };
        }
    }
}

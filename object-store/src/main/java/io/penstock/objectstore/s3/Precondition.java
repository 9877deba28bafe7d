package io.penstock.objectstore.s3;

import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.WriteCondition;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The condition of one write. The store checks it if it is sent in a header. Otherwise a HEAD before each attempt
 * checks it, which leaves a gap between the HEAD and the attempt.
 *
 * @param isSent whether the store checks it
 */
record Precondition(WriteCondition condition, boolean isSent) {
    /** No condition. */
    static final Precondition NONE = new Precondition(WriteCondition.ALWAYS, true);

    /** The header's value; null for none. */
    @Nullable
    String ifMatch() {
        return isSent && condition instanceof WriteCondition.Unchanged(String etag) ? etag : null;
    }

    /** The header's value; null for none. */
    @Nullable
    String ifNoneMatch() {
        return isSent && condition instanceof WriteCondition.Absent ? "*" : null;
    }

    /** Both headers by name. */
    Map<String, String> headers() {
        String match = ifMatch();
        String noneMatch = ifNoneMatch();
        return match != null
                ? Map.of("If-Match", match)
                : noneMatch != null ? Map.of("If-None-Match", noneMatch) : Map.of();
    }

    /**
     * Checks the condition by HEAD if the store does not check it. Must be called before each attempt: another client
     * may have written between two attempts.
     *
     * @param object the name of the key's object in messages
     */
    void check(BucketReader reader, String key, String object) throws ObjectStoreException, InterruptedException {
        if (isSent) {
            return;
        }
        String there = reader.currentEtag(key);
        boolean holds = switch (condition) {
            case WriteCondition.Always() -> true;
            case WriteCondition.Absent() -> there == null;
            case WriteCondition.Unchanged(String etag) -> etag.equals(there);
        };
        if (!holds) {
            throw unmet(object, null);
        }
    }

    /**
     * Explains a write's 404. It means the same as 412 if the condition requires an object, but not if the bucket or
     * the upload is gone.
     */
    ObjectStoreException explain(String object, ObjectStoreException failure) {
        return switch (failure) {
            case ObjectStoreException.PreconditionFailed e -> unmet(object, e);
            case ObjectStoreException.NotFound e
            when condition instanceof WriteCondition.Unchanged && ErrorMapper.isNoSuchKey(e) -> unmet(object, e);
            default -> failure;
        };
    }

    /** The failure that reports a write by another client. */
    ObjectStoreException unmet(String object, @Nullable Throwable cause) {
        return new ObjectStoreException.PreconditionFailed(
                switch (condition) {
                    case WriteCondition.Absent() -> object + " was created by another client";
                    case WriteCondition.Always(), WriteCondition.Unchanged _ ->
                        object + " was changed or deleted by another client";
                },
                cause);
    }
}

package io.penstock.objectstore;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The condition of one write, and how it is kept: by the store, which is sent it in a header, or by a look before each
 * attempt, which leaves the gap between the look and the attempt.
 *
 * @param isSent whether the store keeps it
 */
record Precondition(WriteCondition condition, boolean isSent) {
    /** Nothing has to hold. */
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

    /** Both, by the headers' names. */
    Map<String, String> headers() {
        String match = ifMatch();
        String noneMatch = ifNoneMatch();
        return match != null
                ? Map.of("If-Match", match)
                : noneMatch != null ? Map.of("If-None-Match", noneMatch) : Map.of();
    }

    /**
     * Looks whether it holds, where the store would not. To be called before each attempt: who repeats a write after a
     * while may find that somebody else has come in between.
     *
     * @param object the key's, for messages
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
     * What a write's 404 means: the same as 412 where an object should have been there, unless bucket or upload are what
     * is gone.
     */
    ObjectStoreException explain(String object, ObjectStoreException failure) {
        return switch (failure) {
            case ObjectStoreException.PreconditionFailed e -> unmet(object, e);
            case ObjectStoreException.NotFound e
            when condition instanceof WriteCondition.Unchanged && ErrorMapper.isNoSuchKey(e) -> unmet(object, e);
            default -> failure;
        };
    }

    private ObjectStoreException unmet(String object, @Nullable Throwable cause) {
        return new ObjectStoreException.PreconditionFailed(
                switch (condition) {
                    case WriteCondition.Absent() -> object + " was created by somebody else meanwhile";
                    case WriteCondition.Always(), WriteCondition.Unchanged _ ->
                        object + " was changed or deleted by somebody else meanwhile";
                },
                cause);
    }
}

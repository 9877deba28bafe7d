package io.penstock.objectstore;

import io.penstock.core.ByteRange;

/** One call of an object store, as passed to {@link ForwardingObjectStore#around}. */
public sealed interface Call {
    /** A range GET of one version. */
    record Get(String key, ByteRange range, String etag) implements Call {}

    /** A HEAD. */
    record Head(String key) implements Call {}

    /** A HEAD for an object's headers. */
    record Describe(String key) implements Call {}

    /** A HEAD for an object's checksums. */
    record Checksums(String key) implements Call {}

    /** A request for an object's properties. */
    record Properties(String key) implements Call {}

    /** One page of a listing. */
    record List(ListRequest request) implements Call {}

    /** A PUT of a whole object. */
    record Put(String key, long size, WriteCondition condition) implements Call {}

    /** The start of a multipart upload. */
    record CreateUpload(String key) implements Call {}

    /** The upload of a part. */
    record UploadPart(String key, int number, long size) implements Call {}

    /** The copy of a part, made by the store. */
    record CopyPart(String key, int number, String source, ByteRange range) implements Call {}

    /** The completion of a multipart upload with the parts of these numbers. */
    record Complete(String key, java.util.List<Integer> parts, WriteCondition condition) implements Call {}

    /** The abort of a multipart upload. */
    record Abort(String key) implements Call {}

    /** A request for the parts of a multipart upload. */
    record ListParts(String key) implements Call {}

    /** The copy of an object, made by the store. */
    record Copy(String source, String key, WriteCondition condition) implements Call {}

    /** The deletion of an object. */
    record Delete(String key) implements Call {}

    /** Whether this is a GET of this key; a predicate to hold and fail calls. */
    default boolean isGetOf(String key) {
        return this instanceof Get get && get.key().equals(key);
    }

    /** Whether this sends bytes or copies them within the store: the calls that limits on uploads count. */
    default boolean isUpload() {
        return this instanceof Put || this instanceof UploadPart || this instanceof CopyPart || this instanceof Copy;
    }

    /** Whether this changes something in the store. */
    default boolean isWrite() {
        return switch (this) {
            case Get _, Head _, Describe _, Checksums _, Properties _, List _, ListParts _ -> false;
            case Put _, CreateUpload _, UploadPart _, CopyPart _, Complete _, Abort _, Copy _, Delete _ -> true;
        };
    }
}

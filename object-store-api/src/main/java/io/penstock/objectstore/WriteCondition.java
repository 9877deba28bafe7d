package io.penstock.objectstore;

/** The condition on which the store carries out a write: RFC 9110, section 13.1. */
public sealed interface WriteCondition {
    /** No condition: the last writer wins. */
    record Always() implements WriteCondition {}

    /** No object has this key (If-None-Match: *). */
    record Absent() implements WriteCondition {}

    /**
     * The object is still this version (If-Match).
     *
     * @param etag with its quotes
     */
    record Unchanged(String etag) implements WriteCondition {}

    WriteCondition ALWAYS = new Always();

    WriteCondition ABSENT = new Absent();
}

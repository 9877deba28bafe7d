package io.penstock.objectstore;

/** What must hold of a key for a write to it to be made: RFC 9110, section 13.1. */
public sealed interface WriteCondition {
    /** Nothing: the last writer wins. */
    record Always() implements WriteCondition {}

    /** There is no object with this key (If-None-Match: *). */
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

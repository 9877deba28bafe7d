package io.penstock.objectstore;

import java.util.UUID;

/**
 * Identifies one operation that writes an object, over all its attempts: a random id that its requests carry in the object's
 * user metadata, and that no listing, attribute or later version shows. It decides whether an object is the operation's own
 * after a response was lost ({@link ObjectDescription#madeBy}); equal content decides nothing, as others may write the same.
 * See docs/adr/0033-operation-ids.md.
 *
 * @param text hexadecimal digits
 */
public record OperationId(String text) {
    /** The header that has it in requests, and in the response to a HEAD. */
    public static final String HEADER = ObjectProperties.USER_METADATA + "penstock-operation";

    private static final int DIGITS = 32;

    /** The bytes that S3 counts as user metadata: its name and its text. */
    public static final int BYTES = HEADER.length() - ObjectProperties.USER_METADATA.length() + DIGITS;

    /** The id of an operation that begins. */
    public static OperationId random() {
        return new OperationId(UUID.randomUUID().toString().replace("-", ""));
    }
}

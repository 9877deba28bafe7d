package io.penstock.objectstore;

import java.util.UUID;

/**
 * Identifies one operation that writes an object, over all its attempts: a random id that its requests carry in the
 * object's user metadata and that no listing, attribute or later version shows. After a lost response, only the id
 * decides whether an object is the operation's own ({@link ObjectDescription#madeBy}). Equal content proves nothing,
 * because others may write the same. See docs/adr/0033-operation-ids.md.
 *
 * @param text hexadecimal digits
 */
public record OperationId(String text) {
    /** The header that carries it in requests and in the response to a HEAD. */
    public static final String HEADER = ObjectProperties.USER_METADATA + "penstock-operation";

    private static final int DIGITS = 32;

    /** Its size in bytes as S3 counts user metadata: name and text. */
    public static final int BYTES = HEADER.length() - ObjectProperties.USER_METADATA.length() + DIGITS;

    /** A new id, for an operation that begins. */
    public static OperationId random() {
        return new OperationId(UUID.randomUUID().toString().replace("-", ""));
    }
}

package io.penstock.objectstore;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.penstock.core.KernelRequest;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Identifies one operation that writes an object, over all its attempts: an id that its requests carry in the
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
        return of(UUID.randomUUID());
    }

    /** The id of an operation that begins on this object. It is the same if the kernel sends its request again. */
    public static OperationId of(String key) {
        OperationId ofRequest = ofRequest(key);
        return ofRequest == null ? random() : ofRequest;
    }

    /** The id with which {@link KernelRequest#current} writes this object; null if there is no such request. */
    public static @Nullable OperationId ofRequest(String key) {
        KernelRequest request = KernelRequest.current();
        return request == null
                ? null
                : of(UUID.nameUUIDFromBytes((request.mount() + " " + request.number() + " " + key).getBytes(UTF_8)));
    }

    private static OperationId of(UUID id) {
        return new OperationId(id.toString().replace("-", ""));
    }
}

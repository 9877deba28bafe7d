package io.penstock.objectstore;

import io.penstock.core.ObjectVersion;
import java.time.Instant;
import java.util.SortedMap;
import org.jspecify.annotations.Nullable;

/**
 * An object without its bytes, as one HEAD shows it.
 *
 * @param date the time of the response by the store's clock, in whole seconds; by this machine's clock if the store
 *     sends no date
 * @param headers as in {@link ObjectProperties#headers}
 * @param operation that made it, or that made the object that it is a copy of; null if another program did
 */
public record ObjectDescription(
        StoredObject object,
        Instant date,
        SortedMap<String, String> headers,
        @Nullable OperationId operation) {
    /** The version if this operation made it, else null. Nothing else identifies an object as an operation's own. */
    public @Nullable ObjectVersion madeBy(OperationId wanted) {
        return wanted.equals(operation) ? object.version() : null;
    }
}

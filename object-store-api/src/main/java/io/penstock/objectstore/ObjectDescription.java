package io.penstock.objectstore;

import java.time.Instant;
import java.util.SortedMap;

/**
 * An object without its bytes, as one HEAD shows it.
 *
 * @param date when the store made the response, by its own clock, in whole seconds; by this machine's clock if the store sends
 *     no date
 * @param headers as {@link ObjectProperties#headers} has them
 */
public record ObjectDescription(StoredObject object, Instant date, SortedMap<String, String> headers) {}

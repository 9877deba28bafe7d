package io.penstock.objectstore;

import java.util.SortedMap;

/**
 * An object without its bytes, as one HEAD shows it.
 *
 * @param headers as {@link ObjectProperties#headers} has them
 */
public record ObjectDescription(StoredObject object, SortedMap<String, String> headers) {}

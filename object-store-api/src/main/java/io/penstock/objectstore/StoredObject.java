package io.penstock.objectstore;

import io.penstock.core.ObjectVersion;

/**
 * An object as a listing or a HEAD shows it.
 *
 * @param version key, ETag, size and time
 * @param storageClass S3's name of the class, such as {@code STANDARD} or {@code GLACIER}
 */
public record StoredObject(ObjectVersion version, String storageClass) {}

package io.penstock.metadata;

import io.penstock.objectstore.StoredObject;

/** A file: one object. */
public record FileEntry(StoredObject object) implements Node {}

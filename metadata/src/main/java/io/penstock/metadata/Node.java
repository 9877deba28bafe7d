package io.penstock.metadata;

/** Something that has a name in the tree. An immutable value: what the store said at one moment. */
public sealed interface Node extends Answer permits Directory, FileEntry {}

package io.penstock.metadata;

/** Something that has a name in the tree: what the store said at one moment, or a file that is being written here. */
public sealed interface Node extends Answer permits Directory, FileEntry, LiveFile {}

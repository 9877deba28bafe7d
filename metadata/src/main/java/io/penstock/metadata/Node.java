package io.penstock.metadata;

/** A name's file or directory: the store's at one moment, or a file being written here. */
public sealed interface Node extends Answer permits Directory, FileEntry, LiveFile {}

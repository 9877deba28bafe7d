package io.penstock.metadata;

/** What a name in a directory refers to. */
public sealed interface Answer permits Node, Absent {}

package io.penstock.metadata;

/** What a name in a directory stands for. */
public sealed interface Answer permits Node, Absent {}

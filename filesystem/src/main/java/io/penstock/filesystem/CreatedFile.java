package io.penstock.filesystem;

/** A new file, looked up once and open. */
public record CreatedFile(Attributes attributes, OpenFile open) {}

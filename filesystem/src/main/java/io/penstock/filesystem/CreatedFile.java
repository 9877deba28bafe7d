package io.penstock.filesystem;

import io.penstock.filesystem.kernel.OpenFile;

/** A new file, looked up once and open. */
public record CreatedFile(Attributes attributes, OpenFile open) {}

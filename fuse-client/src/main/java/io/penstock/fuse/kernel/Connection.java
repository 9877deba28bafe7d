package io.penstock.fuse.kernel;

import io.penstock.filesystem.BackingFiles;
import org.jspecify.annotations.Nullable;

/**
 * A mount after its handshake, as whoever answers its requests sees it.
 *
 * @param backingFiles null if the kernel reads no files by itself here
 */
record Connection(
        Device device, Agreement agreement, @Nullable BackingFiles backingFiles) {}

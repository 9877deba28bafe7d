package io.penstock.fuse.kernel;

import io.penstock.filesystem.kernel.BackingFiles;
import org.jspecify.annotations.Nullable;

/**
 * A mount after its handshake, for the operations that serve its requests.
 *
 * @param backingFiles null if there is no passthrough
 * @param inheritedFiles closes what a former process has passed through, also if there is no passthrough now
 * @param readahead how far the kernel reads ahead
 * @param longestValid the maximum time for which the kernel caches names and attributes
 * @param survival how the mount survives this process
 */
record KernelConnection(
        NegotiatedInit negotiated,
        @Nullable BackingFiles backingFiles,
        BackingFiles inheritedFiles,
        Readahead readahead,
        Descriptors descriptors,
        CachingLimit longestValid,
        Survival survival) {}

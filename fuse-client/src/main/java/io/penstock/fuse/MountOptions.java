package io.penstock.fuse;

import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How to mount.
 *
 * @param mountPoint an existing, empty directory
 * @param source what mount tables show as the device: {@code s3://bucket/prefix}
 * @param readOnly mounted {@code ro}
 * @param allowOther other users than the mounting one may use it
 * @param attributeTimeout how long the kernel believes names and attributes without asking, at most: no longer than the
 *     file system says either, where the binding can tell
 * @param readaheadBytes the kernel's own readahead for files of this mount; 0 leaves the kernel's default
 * @param threads how many requests are served at once where a waiting request holds a thread; 1 or more
 * @param backingFolder where the files are that the kernel may read by itself, if it can; null for none
 * @param writebackCache whether the kernel collects what is written and sends it later, in large pieces; it reads no file
 *     by itself then
 */
public record MountOptions(
        Path mountPoint,
        String source,
        boolean readOnly,
        boolean allowOther,
        Duration attributeTimeout,
        long readaheadBytes,
        int threads,
        @Nullable Path backingFolder,
        boolean writebackCache) {
    public MountOptions {
        if (attributeTimeout.isNegative()) {
            throw new IllegalArgumentException(
                    "the attribute timeout must not be negative, but is " + attributeTimeout);
        }
        if (readaheadBytes < 0) {
            throw new IllegalArgumentException("the kernel's readahead must be 0 or more, but is " + readaheadBytes);
        }
        if (writebackCache && backingFolder != null) {
            throw new IllegalArgumentException("the kernel passes no file through where it has a writeback cache");
        }
        if (threads < 1) {
            throw new IllegalArgumentException("serving a mount takes at least 1 thread, not " + threads);
        }
    }

    /** Where the kernel reads no files by itself, and sends what is written at once. */
    public MountOptions(
            Path mountPoint,
            String source,
            boolean readOnly,
            boolean allowOther,
            Duration attributeTimeout,
            long readaheadBytes,
            int threads) {
        this(mountPoint, source, readOnly, allowOther, attributeTimeout, readaheadBytes, threads, null, false);
    }
}

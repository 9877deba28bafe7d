package io.penstock.fuse;

import java.nio.file.Path;
import java.time.Duration;

/**
 * How to mount.
 *
 * @param mountPoint an existing, empty directory
 * @param source what mount tables show as the device: {@code s3://bucket/prefix}
 * @param readOnly mounted {@code ro}
 * @param allowOther other users than the mounting one may use it
 * @param attributeTimeout how long the kernel believes names and attributes without asking
 * @param readaheadBytes the kernel's own readahead for files of this mount; 0 leaves the kernel's default
 * @param threads how many requests are served at once where a waiting request holds a thread
 */
public record MountOptions(
        Path mountPoint,
        String source,
        boolean readOnly,
        boolean allowOther,
        Duration attributeTimeout,
        long readaheadBytes,
        int threads) {}

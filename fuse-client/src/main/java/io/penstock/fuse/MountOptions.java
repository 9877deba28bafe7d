package io.penstock.fuse;

import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Options of a mount.
 *
 * @param mountPoint an existing, empty directory
 * @param source the device in mount tables: {@code s3://bucket/prefix}
 * @param readOnly whether it is mounted {@code ro}
 * @param noExec whether its programs cannot be run
 * @param allowOther whether users other than the mounting one may use it
 * @param attributeTimeout maximum time for which the kernel caches names and attributes, until
 *     {@link Mount#limitCaching} sets another; the file system's own time is shorter where the binding can pass it on
 * @param readaheadBytes the kernel's readahead for files of this mount; 0 leaves the kernel's default
 * @param threads the number of concurrent requests where a waiting request holds a thread; 1 or more
 * @param backingFolder the folder of the files that the kernel may read itself (passthrough); null for none
 * @param writebackCache whether the kernel collects written data and sends it later, in large pieces; excludes
 *     passthrough
 */
public record MountOptions(
        Path mountPoint,
        String source,
        boolean readOnly,
        boolean noExec,
        boolean allowOther,
        Duration attributeTimeout,
        long readaheadBytes,
        int threads,
        @Nullable Path backingFolder,
        boolean writebackCache) {
    /**
     * Readahead and writeback requests that the kernel sends without waiting for replies. Its default of 12 is too low
     * for S3.
     */
    public static final int MAX_BACKGROUND = 64;

    /** Above this number the kernel skips readahead: 3/4, the proportion of its default (9 of 12). */
    public static final int CONGESTION_THRESHOLD = MAX_BACKGROUND * 3 / 4;

    public MountOptions {
        if (attributeTimeout.isNegative()) {
            throw new IllegalArgumentException(
                    "the attribute timeout must not be negative, but is " + attributeTimeout);
        }
        if (readaheadBytes < 0) {
            throw new IllegalArgumentException("the kernel's readahead must be 0 or more, but is " + readaheadBytes);
        }
        if (writebackCache && backingFolder != null) {
            throw new IllegalArgumentException("passthrough and the kernel's writeback cache exclude each other");
        }
        if (threads < 1) {
            throw new IllegalArgumentException("a mount needs at least 1 thread, not " + threads);
        }
    }
}

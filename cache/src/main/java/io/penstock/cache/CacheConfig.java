package io.penstock.cache;

import io.penstock.cache.disk.CacheFolder.Audience;
import io.penstock.cache.disk.PageGeometry;
import java.nio.file.Path;

/**
 * Bounds of a page cache.
 *
 * @param directory the cache folder, on NVMe; created with mode 0700 if it does not exist
 * @param sizeBytes maximum bytes on disk; at least one page
 * @param minFreeBytes bytes to leave free on the folder's file system, whatever {@code sizeBytes} allows; 0 or more
 * @param memoryBytes maximum bytes of pages in memory (in flight, being written to disk, or kept because there is
 *     room), rounded down to whole pages; at least two pages, so that one can arrive while another is being written. It
 *     is direct memory, so the JVM's {@code -XX:MaxDirectMemorySize} must allow it
 * @param audience the users that may read the folder's content
 */
public record CacheConfig(Path directory, long sizeBytes, long minFreeBytes, long memoryBytes, Audience audience) {
    /** For {@link Audience.Anyone}. */
    public CacheConfig(Path directory, long sizeBytes, long minFreeBytes, long memoryBytes) {
        this(directory, sizeBytes, minFreeBytes, memoryBytes, new Audience.Anyone());
    }

    public CacheConfig withAudience(Audience other) {
        return new CacheConfig(directory, sizeBytes, minFreeBytes, memoryBytes, other);
    }

    public CacheConfig {
        if (sizeBytes < PageGeometry.PAGE_SIZE) {
            throw new IllegalArgumentException("the cache's size must be at least 1 MiB (one page), not " + sizeBytes);
        }
        if (minFreeBytes < 0) {
            throw new IllegalArgumentException("the space to leave free must not be negative: " + minFreeBytes);
        }
        if (memoryBytes < 2L * PageGeometry.PAGE_SIZE) {
            throw new IllegalArgumentException(
                    "the cache's memory must be at least 2 MiB (two pages), not " + memoryBytes);
        }
    }
}

package io.penstock.cache;

import java.nio.file.Path;

/**
 * Bounds of a page cache.
 *
 * @param directory the cache folder, on NVMe; made with mode 0700 if it is not there
 * @param sizeBytes most bytes on disk; at least one page
 * @param minFreeBytes bytes that stay free on the folder's file system, whatever {@code sizeBytes} allows; 0 or more
 * @param memoryBytes most bytes of pages in memory (in flight, being written to disk, or kept because there is room)
 */
public record CacheConfig(Path directory, long sizeBytes, long minFreeBytes, long memoryBytes) {}

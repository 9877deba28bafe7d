package io.penstock.prefetch;

import io.penstock.cache.disk.ReadShape;

/**
 * How a version is being read at this moment.
 *
 * @param readers the number of readers that have it open
 * @param streams the number of sequential streams, each with readahead
 * @param shape how it was read when a reader of it last closed
 * @param rangeBytes the most bytes of it that one GET requests
 * @param lastReads those of the last readers, unless it was closed too long ago
 */
public record ReadState(int readers, int streams, ReadShape shape, long rangeBytes, LastReads lastReads) {}

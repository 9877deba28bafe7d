package io.penstock.prefetch;

import io.penstock.cache.disk.ReadShape;

/**
 * How a version is read at this moment.
 *
 * @param readers that have it open
 * @param streams that are read in sequence, each with readahead
 * @param shape how it was read when a reader of it last closed
 * @param rangeBytes the most bytes of it that one GET is for
 * @param lastReads those of the last readers, if it was not closed too long ago
 */
public record ReadState(int readers, int streams, ReadShape shape, long rangeBytes, LastReads lastReads) {}

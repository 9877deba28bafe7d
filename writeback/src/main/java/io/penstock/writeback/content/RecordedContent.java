package io.penstock.writeback.content;

import java.util.List;

/**
 * The content of a file for a record.
 *
 * @param baseEnd as in {@link BlockMap}, like the zeros
 * @param blocks those whose bytes count
 */
public record RecordedContent(long size, long baseEnd, Ranges zeros, List<Block> blocks) {}

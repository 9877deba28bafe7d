package io.penstock.writeback.content;

import org.jspecify.annotations.Nullable;

/**
 * Where a run of a file's bytes is.
 *
 * @param end of the run, after its last byte
 * @param block with the bytes of a run in memory or in the staging file; null for other runs
 */
public record Segment(Source source, long end, @Nullable Block block) {
    public enum Source {
        /** In a block's memory. */
        MEMORY,
        /** In the staging file. */
        STAGED,
        /** In the base version. */
        BASE,
        /** Nowhere: zeros. */
        HOLE
    }
}

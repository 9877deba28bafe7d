package io.penstock.writeback;

import org.jspecify.annotations.Nullable;

/**
 * Where a run of a file's bytes is.
 *
 * @param end of the run, behind its last byte
 * @param block that has them; the file's first place for what is in memory or staged
 * @param copied that they are copied with; null if they are not
 */
record Segment(
        Source source,
        long end,
        @Nullable Block block,
        @Nullable Run copied) {
    enum Source {
        /** In a block's memory. */
        MEMORY,
        /** In the staging file. */
        STAGED,
        /** In the version below. */
        BASE,
        /** In another object's version. */
        COPIED,
        /** Nowhere: zeros. */
        HOLE
    }

    Segment(Source source, long end, @Nullable Block block) {
        this(source, end, block, null);
    }
}

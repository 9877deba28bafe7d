package io.penstock.filesystem;

import io.penstock.metadata.Names;

/**
 * The figures shown by statfs(2). A bucket has no bounds: they are large enough for programs that check for free space.
 *
 * @param blockSize bytes in a block
 * @param blocks the total number of blocks
 * @param freeBlocks the number of free blocks
 * @param nameMax bytes in the longest name
 */
public record Statfs(int blockSize, long blocks, long freeBlocks, int nameMax) {
    /** A pebibyte, all of it free: programs check for free space before they write. */
    static final Statfs OF_A_BUCKET = new Statfs(4096, 1L << 38, 1L << 38, Names.MAX_NAME_BYTES);
}

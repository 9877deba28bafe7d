package io.penstock.filesystem;

import io.penstock.metadata.Names;

/**
 * What statfs(2) shows. A bucket has no bounds: the numbers are large enough for programs that look for room.
 *
 * @param blockSize bytes in a block
 * @param blocks blocks in all
 * @param freeBlocks blocks free
 * @param nameMax bytes in the longest name
 */
public record Statfs(int blockSize, long blocks, long freeBlocks, int nameMax) {
    /** A pebibyte, all of it free: programs look for room before they write. */
    static final Statfs OF_A_BUCKET = new Statfs(4096, 1L << 38, 1L << 38, Names.MAX_NAME_BYTES);
}

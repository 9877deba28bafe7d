package io.penstock.filesystem;

/**
 * What statfs(2) shows. A bucket has no bounds: the numbers are large enough for programs that look for room.
 *
 * @param blockSize bytes in a block
 * @param blocks blocks in all
 * @param freeBlocks blocks free
 * @param nameMax bytes in the longest name
 */
public record Statfs(int blockSize, long blocks, long freeBlocks, int nameMax) {}

package io.penstock.writeback;

import java.nio.ByteBuffer;

/**
 * One block's worth of memory, with a count of those who need it: the blocks that share it (a block held still and the
 * copy that is written), and those who read from it without their file's lock. Whoever drops the last gives it back.
 */
final class Piece {
    private final BlockMemory memory;
    private final ByteBuffer bytes;

    // Guarded by the file's lock.
    private int blocks = 1;
    private int pins;

    /** @param bytes as {@link BlockMemory#acquire} gives it */
    Piece(BlockMemory memory, ByteBuffer bytes) {
        this.memory = memory;
        this.bytes = bytes;
    }

    ByteBuffer bytes() {
        return bytes;
    }

    /** Whether another block has it too: then it must not be written. */
    boolean isShared() {
        return blocks > 1;
    }

    boolean isPinned() {
        return pins > 0;
    }

    Piece share() {
        blocks++;
        return this;
    }

    void unshare() {
        blocks--;
        freeIfUnused();
    }

    void pin() {
        pins++;
    }

    void unpin() {
        pins--;
        freeIfUnused();
    }

    private void freeIfUnused() {
        if (blocks == 0 && pins == 0) {
            memory.release(bytes);
        }
    }
}

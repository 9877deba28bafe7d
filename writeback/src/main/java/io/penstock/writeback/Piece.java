package io.penstock.writeback;

import java.nio.ByteBuffer;

/**
 * One block's worth of memory, with a count of those who need it: the blocks that share it (a block held still and the
 * copy that is written), and those who read from it without their file's lock. Whoever drops the last gives it back.
 */
final class Piece {
    private final Reclaim reclaim;
    private final LiveContent file;
    private final long block;
    private final ByteBuffer bytes;

    // Guarded by the file's lock.
    private int blocks = 1;
    private int pins;

    /** @param bytes as {@link BlockMemory#acquire} gives it */
    Piece(Reclaim reclaim, LiveContent file, long block, ByteBuffer bytes) {
        this.reclaim = reclaim;
        this.file = file;
        this.block = block;
        this.bytes = bytes;
        reclaim.added(this);
    }

    LiveContent file() {
        return file;
    }

    /** Index of the block that it was taken for. */
    long block() {
        return block;
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
            reclaim.freed(this);
        }
    }
}

package io.penstock.writeback.content;

import java.nio.ByteBuffer;
import java.util.function.Consumer;

/**
 * One block's worth of memory, with a count of its users: the blocks that share it (one in a snapshot and its copy that
 * is written), and readers without their file's lock. The last user gives it back.
 */
public final class BlockBuffer {
    private final ByteBuffer bytes;
    private final int number;
    private final Consumer<BlockBuffer> unused;

    // Guarded by the file's lock.
    private int blocks = 1;
    private int pins;

    /**
     * @param number of the memory: {@link BlockSource#number}
     * @param unused takes it back after its last use
     */
    public BlockBuffer(ByteBuffer bytes, int number, Consumer<BlockBuffer> unused) {
        this.bytes = bytes;
        this.number = number;
        this.unused = unused;
    }

    public ByteBuffer bytes() {
        return bytes;
    }

    public int number() {
        return number;
    }

    /** Whether several blocks share this buffer: then it must not be written to. */
    boolean isShared() {
        return blocks > 1;
    }

    boolean isPinned() {
        return pins > 0;
    }

    public BlockBuffer share() {
        blocks++;
        return this;
    }

    void unshare() {
        blocks--;
        freeIfUnused();
    }

    public void pin() {
        pins++;
    }

    public void unpin() {
        pins--;
        freeIfUnused();
    }

    private void freeIfUnused() {
        if (blocks == 0 && pins == 0) {
            unused.accept(this);
        }
    }
}

package io.penstock.fuse.kernel;

import io.penstock.fuse.kernel.Layouts.OutHeader;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Memory in which an answer is made, header and body in one piece, so that one write sends it. The body starts on a
 * page, and the header stands before it: the kernel copies page by page, and twice as often where they do not match
 * (fuse_copy_fill in fs/fuse/dev.c). Reused; for one thread at a time.
 */
final class Reply {
    private static final int PAGE = 4096;
    private static final int HEADER = PAGE - OutHeader.SIZE;

    /** One page, and the body's. In the machine's byte order. */
    private final ByteBuffer memory;

    /** {@link #memory} again, whose position and limit are the body's user's. */
    private final ByteBuffer window;

    private final long address;

    /** @param capacity bytes of the longest body */
    Reply(int capacity) {
        int pages = Math.ceilDiv(capacity, PAGE);
        memory = aligned((pages + 1) * PAGE);
        window = memory.duplicate().order(ByteOrder.nativeOrder());
        address = MemorySegment.ofBuffer(memory).address() + HEADER;
    }

    /**
     * Memory outside the heap that starts on a page.
     *
     * @param bytes whole pages
     */
    static ByteBuffer aligned(int bytes) {
        // alignedSlice leaves out what would not fill a page at the end.
        return ByteBuffer.allocateDirect(bytes + PAGE - 1).alignedSlice(PAGE).order(ByteOrder.nativeOrder());
    }

    /** Bytes that a body may have. */
    int capacity() {
        return memory.capacity() - PAGE;
    }

    /**
     * The body's first bytes, for somebody else to fill. The same object each time.
     *
     * @param length at most {@link #capacity}
     */
    ByteBuffer body(int length) {
        return window.limit(PAGE + length).position(PAGE);
    }

    /** Makes the body's first bytes zero, as fields that are not set must be. */
    Reply clear(int length) {
        for (int i = 0; i < length; i += Long.BYTES) {
            memory.putLong(PAGE + i, 0); // may run over the length, not over the page
        }
        return this;
    }

    void u16(int offset, int value) {
        memory.putShort(PAGE + offset, (short) value);
    }

    void u32(int offset, int value) {
        memory.putInt(PAGE + offset, value);
    }

    void u64(int offset, long value) {
        memory.putLong(PAGE + offset, value);
    }

    void bytes(int offset, byte[] bytes) {
        memory.put(PAGE + offset, bytes);
    }

    /**
     * Writes the header.
     *
     * @param result the body's length, or an error number negated
     * @return the length of the whole
     */
    int seal(long unique, int result) {
        int length = OutHeader.SIZE + Math.max(0, result);
        memory.putInt(HEADER + OutHeader.LEN, length);
        memory.putInt(HEADER + OutHeader.ERROR, Math.min(0, result));
        memory.putLong(HEADER + OutHeader.UNIQUE, unique);
        return length;
    }

    /** Where the sealed answer starts. */
    long address() {
        return address;
    }
}

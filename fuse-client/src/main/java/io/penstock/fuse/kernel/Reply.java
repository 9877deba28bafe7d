package io.penstock.fuse.kernel;

import io.penstock.core.LentBytes;
import io.penstock.core.NativeMemory;
import io.penstock.core.NativeMemory.Share;
import io.penstock.fuse.kernel.Layouts.Iovec;
import io.penstock.fuse.kernel.Layouts.OutHeader;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Memory for a reply, header and body in one piece, so that one write sends it. With lent parts of the body it takes
 * one writev(2), and only the kernel copies them. The body starts at a page boundary, right after the header: the
 * kernel copies page by page, and twice as often if pages do not match (fuse_copy_fill in fs/fuse/dev.c). Reused;
 * confined to one thread at a time.
 */
final class Reply {
    /** The kernel's smallest page. Larger pages need so few copies that alignment does not matter. */
    private static final int PAGE = 4096;

    private static final int HEADER = PAGE - OutHeader.SIZE;

    /** Maximum bytes lent in one piece: a page of the cache. */
    private static final int LENT_PAGE = 1 << 20;

    /** One page, then the body's pages. In the machine's byte order. */
    private final ByteBuffer memory;

    /** A view of {@link #memory}, with position and limit for the user of the body. */
    private final ByteBuffer window;

    private final long address;
    private final LentBytes loans;

    /** The elements for writev(2). */
    private final ByteBuffer vector;

    private final long vectorAddress;

    /** @param capacity bytes of the longest body */
    Reply(int capacity) {
        int pages = Math.ceilDiv(capacity, PAGE);
        memory = aligned(Share.REPLIES, (pages + 1) * PAGE);
        window = memory.duplicate().order(ByteOrder.nativeOrder());
        address = MemorySegment.ofBuffer(memory).address() + HEADER;
        int mostLoans = capacity / LENT_PAGE + 2; // a body that starts and ends within pages touches one more
        loans = new LentBytes(mostLoans);
        vector = NativeMemory.allocate(Share.REPLIES, (2 * mostLoans + 1) * Iovec.SIZE, 1)
                .order(ByteOrder.nativeOrder());
        vectorAddress = MemorySegment.ofBuffer(vector).address();
    }

    /**
     * Memory outside the heap that starts at a page boundary.
     *
     * @param bytes whole pages
     */
    static ByteBuffer aligned(Share share, int bytes) {
        return NativeMemory.allocate(share, bytes, PAGE).order(ByteOrder.nativeOrder());
    }

    /** Maximum bytes of a body. */
    int capacity() {
        return memory.capacity() - PAGE;
    }

    /**
     * The body's first bytes, which the caller may fill or {@linkplain #loans lend}. The same object each time.
     *
     * @param length at most {@link #capacity}
     */
    ByteBuffer body(int length) {
        return window.limit(PAGE + length).position(PAGE);
    }

    /** Zeroes the body's first bytes, as the protocol requires for unset fields. */
    Reply clear(int length) {
        for (int i = 0; i < length; i += Long.BYTES) {
            memory.putLong(PAGE + i, 0); // may exceed the length, but not the page
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

    int u32(int offset) {
        return memory.getInt(PAGE + offset);
    }

    long u64(int offset) {
        return memory.getLong(PAGE + offset);
    }

    void bytes(int offset, byte[] bytes) {
        memory.put(PAGE + offset, bytes);
    }

    void copy(int offset, byte[] to) {
        memory.get(PAGE + offset, to);
    }

    /**
     * Writes the header.
     *
     * @param result the body's length, or an error number negated
     * @return the length of header and body
     */
    int seal(long unique, int result) {
        int length = OutHeader.SIZE + Math.max(0, result);
        memory.putInt(HEADER + OutHeader.LEN, length);
        memory.putInt(HEADER + OutHeader.ERROR, Math.min(0, result));
        memory.putLong(HEADER + OutHeader.UNIQUE, unique);
        return length;
    }

    /** Loans of the {@linkplain #body body}; returned when the reply is sent. */
    LentBytes loans() {
        return loans;
    }

    /**
     * Sends the reply, and returns all loans.
     *
     * @param result the body's length, or an error number negated
     * @return 0, or an error number negated
     */
    int send(Device device, long unique, int result) {
        try {
            int length = seal(unique, result);
            return result <= 0 || loans.count() == 0
                    ? device.write(address, length)
                    : device.writev(vectorAddress, gather(length));
        } finally {
            loans.giveBack();
        }
    }

    /** @return the number of elements */
    private int gather(int length) {
        int count = 0;
        int from = HEADER;
        for (int i = 0; i < loans.count(); i++) {
            if (loans.at(i) > from) {
                element(count++, address + from - HEADER, loans.at(i) - from);
            }
            element(count++, loans.address(i), loans.length(i));
            from = loans.at(i) + loans.length(i);
        }
        if (from < HEADER + length) {
            element(count++, address + from - HEADER, HEADER + length - from);
        }
        return count;
    }

    private void element(int index, long start, long bytes) {
        vector.putLong(index * Iovec.SIZE + Iovec.BASE, start);
        vector.putLong(index * Iovec.SIZE + Iovec.LENGTH, bytes);
    }

    /**
     * Writes the header of a notice, which replies to no request.
     *
     * @return the length of header and body
     */
    int sealNotice(int code, int body) {
        int length = OutHeader.SIZE + body;
        memory.putInt(HEADER + OutHeader.LEN, length);
        memory.putInt(HEADER + OutHeader.ERROR, code);
        memory.putLong(HEADER + OutHeader.UNIQUE, 0);
        return length;
    }

    /** The address of the sealed reply. */
    long address() {
        return address;
    }
}

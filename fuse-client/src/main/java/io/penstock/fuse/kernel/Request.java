package io.penstock.fuse.kernel;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.penstock.core.Errno;
import io.penstock.core.ErrnoException;
import io.penstock.fuse.kernel.Layouts.InHeader;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.CharacterCodingException;
import org.jspecify.annotations.Nullable;

/**
 * One request of the kernel's, looked at where it was read: nothing is copied, and nothing is read that the kernel has
 * not written, whatever lengths it names. A reader uses the same object for one request after another. Not safe for use
 * by two threads at a time.
 */
final class Request {
    /** Longer ones carry a program's bytes. All others are copied to the heap when they outlive their turn in the reader. */
    private static final int COPIED = 16 << 10;

    private ByteBuffer memory;

    /** Where the memory starts; of no meaning for a copy, which is in the heap. */
    private long address;

    /** Where the body ends: extensions, which follow it, are not looked at. */
    private int end;

    private @Nullable Opcode opcode;

    /** @param memory as large as requests may be; from its start it is read into */
    Request(ByteBuffer memory) {
        use(memory);
    }

    private void use(ByteBuffer memory) {
        this.memory = memory.order(ByteOrder.nativeOrder());
        this.address = MemorySegment.ofBuffer(memory).address();
    }

    /** Where the next request is to be read to, and where this one is. */
    ByteBuffer memory() {
        return memory;
    }

    /** {@link #memory}'s start. */
    long address() {
        return address;
    }

    /** How long it may be. */
    int capacity() {
        return memory.capacity();
    }

    /**
     * Takes note of what was read into the memory.
     *
     * @return whether it can be a request: its header is whole and tells the truth about its length
     */
    boolean received(int bytes) {
        end = 0;
        opcode = null;
        if (bytes < InHeader.SIZE || memory.getInt(InHeader.LEN) != bytes) {
            return false;
        }
        int extensions = Short.toUnsignedInt(memory.getShort(InHeader.TOTAL_EXTLEN)) * Long.BYTES;
        if (extensions > bytes - InHeader.SIZE) {
            return false;
        }
        end = bytes - extensions;
        opcode = Opcode.of(memory.getInt(InHeader.OPCODE));
        return true;
    }

    /** @return null if it is none that is served */
    @Nullable
    Opcode opcode() {
        return opcode;
    }

    int opcodeNumber() {
        return memory.getInt(InHeader.OPCODE);
    }

    /** Names the request in its answer. */
    long unique() {
        return memory.getLong(InHeader.UNIQUE);
    }

    /** The inode that it is about. */
    long node() {
        return memory.getLong(InHeader.NODEID);
    }

    int uid() {
        return memory.getInt(InHeader.UID);
    }

    int gid() {
        return memory.getInt(InHeader.GID);
    }

    /** The thread that waits for the answer, in the PID namespace of the mounter; 0 if it has no number there. */
    int pid() {
        return memory.getInt(InHeader.PID);
    }

    /** A 32-bit field of the body. */
    int u32(int offset) throws ErrnoException {
        return memory.getInt(at(offset, Integer.BYTES));
    }

    /** A 64-bit field of the body. */
    long u64(int offset) throws ErrnoException {
        return memory.getLong(at(offset, Long.BYTES));
    }

    /** A 32-bit field that counts bytes. */
    int size(int offset) throws ErrnoException {
        int size = u32(offset);
        if (size < 0) {
            throw malformed("size " + Integer.toUnsignedString(size));
        }
        return size;
    }

    /**
     * Where the string that starts here in the body ends: the offset of its NUL.
     *
     * @throws ErrnoException EINVAL if it does not end in the body
     */
    int endOfString(int offset) throws ErrnoException {
        int at = InHeader.SIZE + offset;
        while (at < end && memory.get(at) != 0) {
            at++;
        }
        if (at >= end) {
            throw malformed("a string without an end");
        }
        return at - InHeader.SIZE;
    }

    /**
     * The string that starts here in the body.
     *
     * @throws ErrnoException EINVAL if it does not end in the body; EILSEQ if its bytes are not UTF-8, as object keys
     *     are: nothing can have such a name
     */
    String string(int offset) throws ErrnoException {
        int length = endOfString(offset) - offset;
        try {
            return UTF_8.newDecoder()
                    .decode(memory.slice(InHeader.SIZE + offset, length))
                    .toString();
        } catch (CharacterCodingException e) {
            throw new ErrnoException(Errno.EILSEQ, "a name that is not UTF-8", e);
        }
    }

    /** Bytes of the body themselves, good as long as the request is. */
    ByteBuffer bytes(int offset, int length) throws ErrnoException {
        return memory.slice(at(offset, length), length);
    }

    /**
     * Makes this request outlive its turn in the reader: returns one with the same content, and leaves this one ready
     * for the next.
     *
     * @param pool replaces the memory that a large request keeps; {@link #giveBack} must follow. A request for which it
     *     has none is copied, as small ones are
     */
    Request detach(RequestPool pool) {
        int length = memory.getInt(InHeader.LEN);
        ByteBuffer next = length <= COPIED ? null : pool.take();
        Request detached;
        if (next == null) {
            detached = new Request(ByteBuffer.allocate(length).put(0, memory, 0, length));
        } else {
            detached = new Request(memory);
            use(next);
        }
        detached.end = end;
        detached.opcode = opcode;
        return detached;
    }

    /** Returns what {@link #detach} took. */
    void giveBack(RequestPool pool) {
        if (memory.isDirect()) {
            pool.giveBack(memory);
        }
    }

    private int at(int offset, int length) throws ErrnoException {
        int at = InHeader.SIZE + offset;
        if (length < 0 || at + (long) length > end) {
            throw malformed("it ends before its content");
        }
        return at;
    }

    private ErrnoException malformed(String what) {
        return new ErrnoException(
                Errno.EINVAL, "malformed request " + opcodeNumber() + " of " + end + " bytes: " + what);
    }
}

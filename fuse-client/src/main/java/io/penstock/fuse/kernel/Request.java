package io.penstock.fuse.kernel;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.penstock.core.Errno;
import io.penstock.core.ErrnoException;
import io.penstock.fuse.calls.KernelCall;
import io.penstock.fuse.calls.ObservedCall;
import io.penstock.fuse.kernel.Layouts.BatchForgetIn;
import io.penstock.fuse.kernel.Layouts.CreateIn;
import io.penstock.fuse.kernel.Layouts.ForgetOne;
import io.penstock.fuse.kernel.Layouts.InHeader;
import io.penstock.fuse.kernel.Layouts.LinkIn;
import io.penstock.fuse.kernel.Layouts.MkdirIn;
import io.penstock.fuse.kernel.Layouts.MknodIn;
import io.penstock.fuse.kernel.Layouts.ReadIn;
import io.penstock.fuse.kernel.Layouts.Rename2In;
import io.penstock.fuse.kernel.Layouts.RenameIn;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One request of the kernel, read in place: nothing is copied, and nothing is read beyond the bytes that the kernel
 * wrote, whatever lengths the request claims. A reader reuses the same object for each request. Not for use by two
 * threads at a time.
 */
final class Request implements ObservedCall {
    /** Longer requests carry a program's bytes. All others are copied to the heap when detached from their reader. */
    private static final int COPIED = 16 << 10;

    private ByteBuffer memory;

    /** Where the memory starts; meaningless for a copy, which is on the heap. */
    private long address;

    /** The end of the body: extensions, which follow it, are ignored. */
    private int end;

    private Opcode opcode = Opcode.UNKNOWN;

    /** {@link System#nanoTime} at the read. */
    private long arrived;

    /** @param memory as large as the largest request; requests are read into it from its start */
    Request(ByteBuffer memory) {
        use(memory);
    }

    private void use(ByteBuffer memory) {
        this.memory = memory.order(ByteOrder.nativeOrder());
        this.address = MemorySegment.ofBuffer(memory).address();
    }

    /** The memory for the next request, and of the current one. */
    ByteBuffer memory() {
        return memory;
    }

    /** The start of {@link #memory}. */
    long address() {
        return address;
    }

    /** Maximum length of a request. */
    int capacity() {
        return memory.capacity();
    }

    /**
     * Notes a request that was read into the memory.
     *
     * @return whether it is valid: its header is complete and has the true length
     */
    boolean received(int bytes) {
        arrived = System.nanoTime();
        end = 0;
        opcode = Opcode.UNKNOWN;
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

    Opcode opcode() {
        return opcode;
    }

    int opcodeNumber() {
        return memory.getInt(InHeader.OPCODE);
    }

    /** Nanoseconds since the read. */
    long nanos() {
        return System.nanoTime() - arrived;
    }

    /** Only for a request whose {@link Opcode#call} is observed. */
    @Override
    public KernelCall kind() {
        return Objects.requireNonNull(opcode.call());
    }

    @Override
    public long inode() {
        return node();
    }

    @Override
    public @Nullable String name() {
        int start = switch (opcode) {
            case LOOKUP, UNLINK, RMDIR, SYMLINK -> 0;
            case CREATE -> CreateIn.SIZE;
            case MKNOD -> MknodIn.SIZE;
            case MKDIR -> MkdirIn.SIZE;
            case RENAME -> RenameIn.SIZE;
            case RENAME2 -> Rename2In.SIZE;
            case LINK -> LinkIn.SIZE;
            default -> -1;
        };
        try {
            return start < 0 ? null : string(start);
        } catch (ErrnoException e) {
            return null;
        }
    }

    /** All these requests have it in the same place. */
    @Override
    public long offset() {
        try {
            return switch (opcode) {
                case READ, WRITE, READDIR, READDIRPLUS, LSEEK, FALLOCATE -> u64(ReadIn.OFFSET);
                default -> NO_OFFSET;
            };
        } catch (ErrnoException e) {
            return NO_OFFSET;
        }
    }

    /** Identifies the request in its reply. */
    long unique() {
        return memory.getLong(InHeader.UNIQUE);
    }

    /** The inode of the request. */
    long node() {
        return memory.getLong(InHeader.NODEID);
    }

    int uid() {
        return memory.getInt(InHeader.UID);
    }

    int gid() {
        return memory.getInt(InHeader.GID);
    }

    /** The thread that waits for the reply, in the PID namespace of the mounter; 0 if it has no number there. */
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
     * The offset of the NUL that ends the string starting here in the body.
     *
     * @throws ErrnoException EINVAL if the string does not end in the body
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
     * @throws ErrnoException EINVAL if it does not end in the body; EILSEQ if its bytes are not UTF-8: object keys are
     *     UTF-8, so no such name exists
     */
    String string(int offset) throws ErrnoException {
        byte[] bytes = new byte[endOfString(offset) - offset];
        memory.get(InHeader.SIZE + offset, bytes);
        String string = new String(bytes, UTF_8);
        if (!Arrays.equals(string.getBytes(UTF_8), bytes)) {
            throw new ErrnoException(Errno.EILSEQ, "a name that is not UTF-8");
        }
        return string;
    }

    /** Receives what a BATCH_FORGET forgets. */
    interface Forgotten {
        void accept(long node, long lookups);
    }

    /** Passes on each inode of a BATCH_FORGET. */
    void forEachForgotten(Forgotten sink) throws ErrnoException {
        int count = size(BatchForgetIn.COUNT);
        for (int i = 0, at = BatchForgetIn.SIZE; i < count; i++, at += ForgetOne.SIZE) {
            sink.accept(u64(at + ForgetOne.NODEID), u64(at + ForgetOne.NLOOKUP));
        }
    }

    /** The bytes of the string with which the body begins. */
    byte[] nameBytes(int offset) throws ErrnoException {
        byte[] bytes = new byte[endOfString(offset) - offset];
        memory.get(InHeader.SIZE + offset, bytes);
        return bytes;
    }

    /** The body's bytes, not a copy; valid as long as the request is. */
    ByteBuffer bytes(int offset, int length) throws ErrnoException {
        return memory.slice(at(offset, length), length);
    }

    /**
     * Detaches the request from its reader: returns one with the same content, and makes this one ready for the next.
     *
     * @param pool replaces the memory of a large request; {@link #giveBack} must follow. If the pool has none, the
     *     request is copied, like small ones
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
        detached.arrived = arrived;
        return detached;
    }

    /** Returns the memory that {@link #detach} took. */
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

package io.penstock.fuse.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.core.NativeMemory.Share;
import io.penstock.fuse.Native;
import io.penstock.fuse.kernel.Layouts.InHeader;
import io.penstock.fuse.kernel.Layouts.OutHeader;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** The kernel's side of a device: a socket that keeps messages whole, like the device. One thread per direction. */
final class FakeKernel implements AutoCloseable {
    private static final int SOCK_SEQPACKET = 5;
    private static final int LONGEST = 64 << 10;

    private final Device device;
    private final Device socket;
    private final ByteBuffer out = Reply.aligned(Share.REQUESTS, LONGEST);
    private final ByteBuffer in = Reply.aligned(Share.REQUESTS, LONGEST);

    FakeKernel() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment pair = arena.allocate(ValueLayout.JAVA_INT, 2);
            assertThat(Native.C.socketpair(Native.AF_UNIX, SOCK_SEQPACKET, 0, pair.address()))
                    .isZero();
            socket = new Device(pair.getAtIndex(ValueLayout.JAVA_INT, 0));
            device = new Device(pair.getAtIndex(ValueLayout.JAVA_INT, 1));
        }
    }

    /** The daemon's side; the caller closes it. */
    Device device() {
        return device;
    }

    /** @param body in the machine's byte order, from its start to its limit */
    void send(int opcode, long unique, long node, ByteBuffer body) {
        int length = InHeader.SIZE + body.limit();
        out.putInt(InHeader.LEN, length);
        out.putInt(InHeader.OPCODE, opcode);
        out.putLong(InHeader.UNIQUE, unique);
        out.putLong(InHeader.NODEID, node);
        out.put(InHeader.SIZE, body, 0, body.limit());
        assertThat(socket.write(address(out), length)).isZero();
    }

    void send(Opcode opcode, long unique, long... body) {
        ByteBuffer bytes = ByteBuffer.allocate(body.length * Long.BYTES).order(ByteOrder.nativeOrder());
        bytes.asLongBuffer().put(body);
        send(opcode.number(), unique, 1, bytes);
    }

    /**
     * A reply.
     *
     * @param error an error number, positive
     */
    record ReceivedReply(long unique, int error, ByteBuffer body) {}

    /** Waits for the next reply. */
    ReceivedReply receive() {
        int received = socket.read(address(in), LONGEST);
        assertThat(received).isGreaterThanOrEqualTo(OutHeader.SIZE).isEqualTo(in.getInt(OutHeader.LEN));
        ByteBuffer body = ByteBuffer.allocate(received - OutHeader.SIZE).order(ByteOrder.nativeOrder());
        body.put(0, in, OutHeader.SIZE, body.capacity());
        return new ReceivedReply(in.getLong(OutHeader.UNIQUE), -in.getInt(OutHeader.ERROR), body);
    }

    /** As after an unmount. */
    @Override
    public void close() {
        socket.close();
    }

    private static long address(ByteBuffer memory) {
        return MemorySegment.ofBuffer(memory).address();
    }
}

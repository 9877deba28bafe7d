package io.penstock.fuse;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * A struct msghdr of 64-bit Linux with bytes and perhaps one descriptor: sendmsg(2), recvmsg(2), cmsg(3). Confined to
 * the thread of its arena.
 */
public final class DescriptorMessage {
    // Byte offsets of struct msghdr and struct cmsghdr.
    private static final int MSG_NAME = 0;
    private static final int MSG_NAMELEN = 8;
    private static final int MSG_IOV = 16;
    private static final int MSG_IOVLEN = 24;
    private static final int MSG_CONTROL = 32;
    private static final int MSG_CONTROLLEN = 40;
    private static final int MSGHDR_SIZE = 56;
    private static final int CMSG_LEN = 0;
    private static final int CMSG_LEVEL = 8;
    private static final int CMSG_TYPE = 12;
    private static final int CMSG_DATA = 16;
    private static final int CMSG_SIZE = 24;
    private static final int SOL_SOCKET = 1;
    private static final int SCM_RIGHTS = 1;

    private final MemorySegment header;
    private final MemorySegment control;

    /** @param bytes to be sent, or room for those received */
    public DescriptorMessage(Arena arena, byte[] bytes) {
        MemorySegment vector = arena.allocate(JAVA_LONG, 2);
        vector.setAtIndex(JAVA_LONG, 0, arena.allocateFrom(JAVA_BYTE, bytes).address());
        vector.setAtIndex(JAVA_LONG, 1, bytes.length);
        control = arena.allocate(CMSG_SIZE, Long.BYTES);
        header = arena.allocate(MSGHDR_SIZE, Long.BYTES);
        header.set(JAVA_LONG, MSG_IOV, vector.address());
        header.set(JAVA_LONG, MSG_IOVLEN, 1);
    }

    /** Its receiver, for a socket that is not connected. */
    void to(MemorySegment address, int length) {
        header.set(JAVA_LONG, MSG_NAME, address.address());
        header.set(JAVA_INT, MSG_NAMELEN, length);
    }

    /** Adds a descriptor to be sent. */
    void with(int descriptor) {
        control.set(JAVA_LONG, CMSG_LEN, CMSG_DATA + Integer.BYTES);
        control.set(JAVA_INT, CMSG_LEVEL, SOL_SOCKET);
        control.set(JAVA_INT, CMSG_TYPE, SCM_RIGHTS);
        control.set(JAVA_INT, CMSG_DATA, descriptor);
        acceptDescriptor();
    }

    private void acceptDescriptor() {
        header.set(JAVA_LONG, MSG_CONTROL, control.address());
        header.set(JAVA_LONG, MSG_CONTROLLEN, CMSG_SIZE);
    }

    /** @return whether it was sent; if not, {@link Native#error} says why */
    boolean send(int socket) {
        return Native.C.sendmsg(socket, header.address(), 0) >= 0;
    }

    /** @return the descriptor that was received, or -1 if none was sent */
    public int receive(int socket) {
        acceptDescriptor();
        boolean sent = Native.C.recvmsg(socket, header.address(), 0) > 0
                && control.get(JAVA_INT, CMSG_LEVEL) == SOL_SOCKET
                && control.get(JAVA_INT, CMSG_TYPE) == SCM_RIGHTS;
        return sent ? control.get(JAVA_INT, CMSG_DATA) : -1;
    }
}

package io.penstock.fuse.kernel;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.penstock.fuse.Native;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Writes notices that the kernel may delay until another request has its reply: it takes locks that the requests' programs
 * hold. A thread that waits there cannot be killed, and neither can its process. So in a mount that survives its process
 * another process writes them. Confined to one thread.
 */
sealed interface NoticeWriter extends AutoCloseable {
    /** @return 0, or an error number negated */
    int write(long address, int size);

    @Override
    default void close() {}

    /** This process, in a mount that ends with it. */
    record Direct(Device device) implements NoticeWriter {
        @Override
        public int write(long address, int size) {
            return device.write(address, size);
        }
    }

    /** A child of the supervisor; this process if it has ended. */
    final class Relayed implements NoticeWriter {
        private final int socket;
        private final Device device;
        private final MemorySegment result = Arena.ofAuto().allocate(JAVA_INT);

        /** @param socket of {@link io.penstock.fuse.Supervisor#notices}; closed with this */
        Relayed(int socket, Device device) {
            this.socket = socket;
            this.device = device;
        }

        @Override
        public int write(long address, int size) {
            boolean isWritten = Native.C.write(socket, address, size) == size
                    && Native.C.read(socket, result.address(), result.byteSize()) == result.byteSize();
            return isWritten ? -result.get(JAVA_INT, 0) : device.write(address, size);
        }

        @Override
        public void close() {
            Native.C.close(socket);
        }
    }
}

package io.penstock.fuse.jnr;

import io.penstock.core.Errno;
import io.penstock.fuse.KernelMount;
import io.penstock.fuse.MountException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import jnr.ffi.Pointer;
import jnr.ffi.Runtime;

/**
 * libfuse's session of one mount, run by a fixed number of Java threads. Each receives a request and serves it to the
 * end, including the callback. A Java thread is already attached to the JVM, while a thread of libfuse would be
 * attached and detached for each callback.
 *
 * <pre>
 *   mounted ──reply to INIT──▶ serving ──unmounted, by any program──▶ draining ──last thread out──▶ ended
 * </pre>
 *
 * The first thread to leave detaches the mount: the last one may wait for the store for minutes, and another mount may
 * have the mount point and number by then. The last thread tears libfuse down: only then can no callback be running.
 */
final class LibFuseSession {
    // struct fuse_buf, fuse_common.h of libfuse 2.9: byte offsets. 40 bytes, with room for fields of later versions.
    private static final long BUFFER_SIZE = 0;
    private static final long BUFFER_FLAGS = 8;
    private static final long BUFFER_MEMORY = 16;
    private static final long BUFFER_BYTES = 64;

    /**
     * The kernel sends INIT unasked, and the reply depends on this process alone: only a starved process takes longer.
     */
    private static final long INIT_SECONDS = 30;

    private final LibFuse2 libfuse;
    private final Upcalls upcalls;
    private final Pointer fuse;
    private final KernelMount kernel;

    /** libfuse's copy of the mount point's name. */
    private final Pointer mountPoint;

    private final Pointer session;
    private final Pointer channel;

    /** Completed when the kernel has the reply to INIT: from then on every call on the mount is served. */
    private final CountDownLatch serving = new CountDownLatch(1);

    private final CountDownLatch ended = new CountDownLatch(1);
    private final AtomicInteger threadsInside;
    private final AtomicBoolean detached = new AtomicBoolean();
    private final LongAdder requests = new LongAdder();
    private final LongAdder answered = new LongAdder();

    private LibFuseSession(
            LibFuse2 libfuse, Upcalls upcalls, Pointer fuse, KernelMount kernel, Pointer mountPoint, int threads) {
        this.libfuse = libfuse;
        this.upcalls = upcalls;
        this.fuse = fuse;
        this.kernel = kernel;
        this.mountPoint = mountPoint;
        this.session = libfuse.fuse_get_session(fuse);
        this.channel = libfuse.fuse_session_next_chan(session, null);
        this.threadsInside = new AtomicInteger(threads);
    }

    /** Mounts, and starts the threads. */
    static LibFuseSession start(LibFuse2 libfuse, Upcalls upcalls, Path mountPoint, List<String> arguments, int threads)
            throws MountException {
        LibFuseSession session = mount(libfuse, upcalls, mountPoint, arguments, threads);
        for (int i = 0; i < threads; i++) {
            Thread.ofPlatform()
                    .daemon()
                    .name("fuse " + mountPoint.getFileName() + " " + i)
                    .start(session::serve);
        }
        return session;
    }

    private static LibFuseSession mount(
            LibFuse2 libfuse, Upcalls upcalls, Path mountPoint, List<String> arguments, int threads)
            throws MountException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment argv = Arguments.inNativeMemory(arguments, arena);
            MemorySegment mounted = arena.allocate(ValueLayout.ADDRESS);
            MemorySegment multithreaded = arena.allocate(ValueLayout.JAVA_INT);
            Pointer fuse = libfuse.fuse_setup(
                    arguments.size(),
                    pointer(argv),
                    upcalls.operations(),
                    upcalls.operationsSize(),
                    pointer(mounted),
                    pointer(multithreaded),
                    null);
            if (fuse == null) {
                throw new MountException("libfuse could not mount " + mountPoint
                        + "; its reason is in the line above, on standard error.");
            }
            Pointer own = pointer(mounted.get(ValueLayout.ADDRESS, 0));
            try {
                return new LibFuseSession(libfuse, upcalls, fuse, KernelMount.at(mountPoint), own, threads);
            } catch (MountException e) {
                libfuse.fuse_teardown(fuse, own);
                throw e;
            }
        }
    }

    private static Pointer pointer(MemorySegment memory) {
        return Pointer.wrap(Runtime.getSystemRuntime(), memory.address());
    }

    KernelMount kernel() {
        return kernel;
    }

    /** Waits until the mount serves requests. */
    void awaitServing() throws MountException, InterruptedException {
        if (!serving.await(INIT_SECONDS, TimeUnit.SECONDS)) {
            throw new MountException("The kernel did not send INIT within " + INIT_SECONDS + " s.");
        }
        if (ended.getCount() == 0) {
            throw new MountException("It was unmounted before it could serve a request.");
        }
    }

    /** Counted down when the last request has its reply and libfuse is torn down. */
    CountDownLatch ended() {
        return ended;
    }

    long requests() {
        return requests.sum();
    }

    long unanswered() {
        return requests.sum() - answered.sum();
    }

    private void serve() {
        try (Arena arena = Arena.ofConfined()) {
            long capacity = libfuse.fuse_chan_bufsize(channel);
            MemorySegment memory = arena.allocate(capacity, Long.BYTES);
            MemorySegment buffer = arena.allocate(BUFFER_BYTES, Long.BYTES);
            MemorySegment origin = arena.allocateFrom(ValueLayout.JAVA_LONG, channel.address());
            Pointer bufferPointer = pointer(buffer);
            Pointer originPointer = pointer(origin);
            while (libfuse.fuse_session_exited(session) == 0) {
                buffer.set(ValueLayout.JAVA_LONG, BUFFER_SIZE, capacity);
                buffer.set(ValueLayout.JAVA_INT, BUFFER_FLAGS, 0);
                buffer.set(ValueLayout.JAVA_LONG, BUFFER_MEMORY, memory.address());
                int received = libfuse.fuse_session_receive_buf(session, bufferPointer, originPointer);
                if (received > 0) {
                    requests.increment();
                    libfuse.fuse_session_process_buf(session, bufferPointer, channel);
                    answered.increment();
                    if (upcalls.protocolMinor() != 0) {
                        serving.countDown();
                    }
                } else if (received != -Errno.EINTR.number() && received != -Errno.EAGAIN.number()) {
                    break;
                }
            }
            if (libfuse.fuse_session_exited(session) != 0 && !detached.getAndSet(true)) {
                kernel.detach(); // a mount that the kernel has aborted is still in the mount table
            }
        } finally {
            leave();
        }
    }

    private void leave() {
        if (threadsInside.decrementAndGet() > 0) {
            return;
        }
        try {
            // The device shows whether the kernel has ended the mount; then this unmounts nothing.
            libfuse.fuse_teardown(fuse, mountPoint);
        } finally {
            ended.countDown();
            serving.countDown(); // no thread needs to wait any longer
        }
    }
}

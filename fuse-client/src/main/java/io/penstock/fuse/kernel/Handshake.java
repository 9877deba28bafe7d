package io.penstock.fuse.kernel;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.penstock.core.Errno;
import io.penstock.core.ErrnoException;
import io.penstock.core.NativeMemory.Share;
import io.penstock.fuse.MountException;
import io.penstock.fuse.MountOptions;
import io.penstock.fuse.UnsupportedKernelException;
import io.penstock.fuse.kernel.Layouts.InitIn;
import io.penstock.fuse.kernel.Layouts.InitOut;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;

/** INIT, the first request: negotiates the protocol's version, the features of both sides, and limits. */
final class Handshake {
    static final int MAJOR = 7;

    /** Linux 5.4. In earlier versions replies had other sizes. */
    static final int OLDEST_MINOR = 31;

    /** The newest version known here: a newer kernel uses this one with us. */
    static final int NEWEST_MINOR = 45;

    // Bits of init_in.flags, with those of flags2 from bit 32 on.
    private static final long ASYNC_READ = 1;
    private static final long ATOMIC_O_TRUNC = 1 << 3;
    private static final long BIG_WRITES = 1 << 5;
    private static final long AUTO_INVAL_DATA = 1 << 12;
    private static final long DO_READDIRPLUS = 1 << 13;
    private static final long READDIRPLUS_AUTO = 1 << 14;
    private static final long ASYNC_DIO = 1 << 15;
    static final long WRITEBACK_CACHE = 1 << 16;
    private static final long PARALLEL_DIROPS = 1 << 18;
    private static final long ABORT_ERROR = 1 << 21;
    static final long MAX_PAGES = 1 << 22;
    private static final long HANDLE_KILLPRIV_V2 = 1 << 28;
    static final long INIT_EXT = 1 << 30;
    static final long DIRECT_IO_ALLOW_MMAP = 1L << 36;
    static final long PASSTHROUGH = 1L << 37;

    /** Linux 6.9. Unanswered requests can be requested again by another process. */
    static final long HAS_RESEND = 1L << 39;

    /**
     * Features used if the kernel offers them. Pages are dropped when the size or time changes (AUTO_INVAL_DATA), in
     * addition to what each open requests. Files that bypass the kernel's pages (FOPEN_DIRECT_IO) can have shared
     * mappings (DIRECT_IO_ALLOW_MMAP): the kernel sends changed pages before it reads or writes the file directly.
     * Locks are left to the kernel. Splicing is not used, because it gains nothing here.
     */
    private static final long WANTED = ASYNC_READ
            | ATOMIC_O_TRUNC
            | BIG_WRITES
            | AUTO_INVAL_DATA
            | DO_READDIRPLUS
            | READDIRPLUS_AUTO
            | ASYNC_DIO
            | PARALLEL_DIROPS
            | ABORT_ERROR
            | MAX_PAGES
            | HANDLE_KILLPRIV_V2
            | INIT_EXT
            | DIRECT_IO_ALLOW_MMAP;

    /** Pages of this kernel's largest request. Root may raise it for the machine, up to 65535. Since Linux 6.13. */
    private static final Path MAX_PAGES_LIMIT = Path.of("/proc/sys/fs/fuse/max_pages_limit");

    /** The fixed limit of earlier kernels: FUSE_MAX_MAX_PAGES in fs/fuse/fuse_i.h. */
    private static final int FIXED_MAX_PAGES = 256;

    /** The number without MAX_PAGES: FUSE_DEFAULT_MAX_PAGES_PER_REQ in fs/fuse/fuse_i.h. */
    private static final int DEFAULT_PAGES = 32;

    /** The size of reads before the reply to INIT: FUSE_MIN_READ_BUFFER. */
    private static final int FIRST_REQUEST = 8192;

    /** The size of header and struct before the bytes of a write. */
    private static final int HEAD_ROOM = 4096;

    private final Device device;
    private final int maxRequest;
    private final int pageSize;
    private final int stackDepth;
    private final boolean writebackCache;

    /**
     * @param maxRequest maximum bytes that one request reads or writes, whole pages; the kernel's own limit may be
     *     lower
     * @param pageSize the size of the kernel's pages, in which it counts: 4 KiB, or up to 64 KiB on arm64
     * @param stackDepth see {@link PassthroughProbe#stackDepth}; 0 for no passthrough
     * @param writebackCache whether the kernel must collect written data; excludes passthrough (process_init_reply in
     *     fs/fuse/inode.c)
     */
    Handshake(Device device, int maxRequest, int pageSize, int stackDepth, boolean writebackCache) {
        this.device = device;
        this.maxRequest = maxRequest;
        this.pageSize = pageSize;
        this.stackDepth = stackDepth;
        this.writebackCache = writebackCache;
    }

    /**
     * Waits for INIT and replies to it. From then on every call on the mount is served.
     *
     * @param survives whether another process may continue the mount
     */
    NegotiatedInit agree(boolean survives) throws MountException {
        Request request = new Request(Reply.aligned(Share.REQUESTS, FIRST_REQUEST));
        Reply reply = new Reply(InitOut.SIZE);
        while (true) {
            int received = device.read(request.address(), request.capacity());
            if (received < 0) {
                throw new MountException("The kernel ended the mount before its first request (error number "
                        + -received + "): was it unmounted?");
            }
            if (!request.received(received) || request.opcode() != Opcode.INIT) {
                throw new MountException("The kernel did not send INIT, but " + received
                        + " bytes of something else. Was the descriptor used by another process before?");
            }
            try {
                int major = request.u32(InitIn.MAJOR);
                int minor = request.u32(InitIn.MINOR);
                if (major > MAJOR) { // the kernel asks again in the reply's version
                    send(request, reply, version(reply, NEWEST_MINOR));
                } else if (major < MAJOR || minor < OLDEST_MINOR) {
                    send(request, reply, -Errno.EINVAL.number());
                    throw new UnsupportedKernelException("This kernel speaks version " + major + "." + minor
                            + " of the FUSE protocol; the kernel binding needs " + MAJOR + "." + OLDEST_MINOR
                            + " (Linux 5.4) or newer. Mount with: --binding jnr");
                } else {
                    NegotiatedInit negotiated = settle(request, minor, survives);
                    send(request, reply, writeReply(request, reply, negotiated));
                    return negotiated;
                }
            } catch (ErrnoException e) {
                throw new MountException("The kernel's INIT request is malformed: " + e.getMessage(), e);
            }
        }
    }

    private NegotiatedInit settle(Request request, int minor, boolean survives) throws ErrnoException {
        long offered = Integer.toUnsignedLong(request.u32(InitIn.FLAGS));
        if ((offered & INIT_EXT) != 0) {
            offered |= Integer.toUnsignedLong(request.u32(InitIn.FLAGS2)) << Integer.SIZE;
        }
        long wanted = WANTED
                | (stackDepth > 0 ? PASSTHROUGH : 0)
                | (writebackCache ? WRITEBACK_CACHE : 0)
                | (survives ? HAS_RESEND : 0);
        long flags = wanted & offered;
        int pages = (flags & MAX_PAGES) == 0 ? DEFAULT_PAGES : Math.min(maxRequest / pageSize, kernelMaxPages());
        return new NegotiatedInit(Math.min(minor, NEWEST_MINOR), pages * pageSize, flags);
    }

    private int writeReply(Request request, Reply reply, NegotiatedInit negotiated) throws ErrnoException {
        version(reply, negotiated.minor());
        // This can only lower the kernel's value: see KernelMount.readahead.
        reply.u32(InitOut.MAX_READAHEAD, request.u32(InitIn.MAX_READAHEAD));
        reply.u32(InitOut.FLAGS, (int) negotiated.flags());
        reply.u32(InitOut.FLAGS2, (int) (negotiated.flags() >>> Integer.SIZE));
        reply.u16(InitOut.MAX_BACKGROUND, MountOptions.MAX_BACKGROUND);
        reply.u16(InitOut.CONGESTION_THRESHOLD, MountOptions.CONGESTION_THRESHOLD);
        reply.u32(InitOut.MAX_WRITE, negotiated.maxRequest());
        reply.u16(InitOut.MAX_PAGES, negotiated.maxRequest() / pageSize);
        reply.u32(InitOut.TIME_GRAN, 1);
        reply.u32(InitOut.MAX_STACK_DEPTH, negotiated.passesThrough() ? stackDepth : 0);
        return InitOut.SIZE;
    }

    private static int version(Reply reply, int minor) {
        reply.clear(InitOut.SIZE);
        reply.u32(InitOut.MAJOR, MAJOR);
        reply.u32(InitOut.MINOR, minor);
        return InitOut.SIZE;
    }

    private void send(Request request, Reply reply, int result) throws MountException {
        int error = reply.send(device, request.unique(), result);
        if (error < 0 && result >= 0) {
            throw new MountException("The kernel refused the reply to INIT: error number " + -error);
        }
    }

    /** The memory that a request needs, in bytes. */
    static int requestMemory(int maxRequest) {
        return maxRequest + HEAD_ROOM;
    }

    private static int kernelMaxPages() {
        // In one read: a second would find nothing, and Files.readString starts with a read of a single byte.
        try (InputStream limit = Files.newInputStream(MAX_PAGES_LIMIT)) {
            byte[] digits = new byte[16];
            return Integer.parseInt(new String(digits, 0, limit.read(digits), US_ASCII).strip());
        } catch (IOException | NumberFormatException e) {
            return FIXED_MAX_PAGES;
        }
    }
}

package io.penstock.fuse.kernel;

import io.penstock.core.Errno;
import io.penstock.core.ErrnoException;
import io.penstock.core.NativeMemory.Share;
import io.penstock.core.NoWait;
import io.penstock.filesystem.Attributes;
import io.penstock.filesystem.kernel.OpenFile;
import io.penstock.filesystem.kernel.OpenFile.PageCachePolicy;
import io.penstock.fuse.kernel.Layouts.ReadIn;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CountDownLatch;

/**
 * Serves one file {@code f} from memory: the binding without a file system behind it. The C reference for the ceiling
 * serves the same file. Reads of its end can be made to wait forever, and the name {@code stalled} always does.
 */
final class MemoryOperations implements Operations {
    private static final long FILE = 2;
    private static final long FOREVER = Long.MAX_VALUE;
    private static final int PERIOD = 1 << 20;

    private final ReplyWriter answers = new ReplyWriter(new CachingLimit(Duration.ofSeconds(1)), true);
    private final ByteBuffer content = Reply.aligned(Share.REQUESTS, 2 * PERIOD);
    private final long contentAddress = MemorySegment.ofBuffer(content).address();
    private final Attributes root = new Attributes(
            1, Attributes.S_IFDIR | 0755, 2, 0, 0, 4096, Instant.EPOCH, Instant.EPOCH, Instant.EPOCH, 0, FOREVER, 1);
    private final Attributes file;

    /** Where reads begin to wait. */
    private final long stalledFrom;

    MemoryOperations(long size, long stalledFrom) {
        this.stalledFrom = stalledFrom;
        file = new Attributes(
                FILE,
                Attributes.S_IFREG | 0444,
                1,
                0,
                0,
                size,
                Instant.EPOCH,
                Instant.EPOCH,
                Instant.EPOCH,
                0,
                FOREVER,
                FILE);
        for (int i = 0; i < content.capacity(); i++) {
            content.put(i, byteAt(i));
        }
    }

    static byte byteAt(long position) {
        long within = position % PERIOD;
        return (byte) (within * 31 + (within >> 8) * 7);
    }

    @Override
    public int serve(Request request, Reply reply, boolean mayWait) throws ErrnoException {
        return mayWait ? stall() : serve(request, reply);
    }

    private int serve(Request request, Reply reply) throws ErrnoException {
        return switch (request.opcode()) {
            case LOOKUP ->
                switch (request.string(0)) {
                    case "f" -> answers.entry(reply, file);
                    case "stalled" -> NoWait.WOULD_WAIT;
                    default -> answers.noEntry(reply, FOREVER);
                };
            case GETATTR -> answers.attributes(reply, request.node() == FILE ? file : root);
            case OPEN -> answers.opened(reply, new OpenFile(1, PageCachePolicy.KEEP), 0);
            case OPENDIR -> answers.openedDirectory(reply, new OpenFile(1, PageCachePolicy.INVALIDATE));
            case RELEASE, RELEASEDIR -> 0;
            case READ -> request.u64(ReadIn.OFFSET) < stalledFrom ? read(request, reply) : NoWait.WOULD_WAIT;
            case FORGET, BATCH_FORGET -> NO_REPLY;
            default -> -Errno.ENOSYS.number();
        };
    }

    private int read(Request request, Reply reply) throws ErrnoException {
        long offset = request.u64(ReadIn.OFFSET);
        int length = Math.clamp(file.size() - offset, 0, request.size(ReadIn.SIZE_FIELD));
        ByteBuffer body = reply.body(length);
        int from = (int) (offset % PERIOD);
        if (length <= PERIOD && reply.loans().takes(length)) {
            reply.loans().add(body.position(), content, from, contentAddress + from, length, () -> {});
        } else {
            body.put(body.position(), content, from, length);
        }
        return length;
    }

    private static int stall() throws ErrnoException {
        try {
            new CountDownLatch(1).await();
            throw new AssertionError("not reached");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ErrnoException(Errno.EINTR, "on purpose", e);
        }
    }

    @Override
    public int bodyLimit(Request request) throws ErrnoException {
        return request.opcode() == Opcode.READ ? request.size(ReadIn.SIZE_FIELD) : 0;
    }
}

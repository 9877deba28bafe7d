package io.penstock.fuse.kernel;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.core.Errno;
import io.penstock.core.ErrnoException;
import io.penstock.core.NativeMemory.Share;
import io.penstock.core.NoWait;
import io.penstock.fuse.calls.CallObserver;
import io.penstock.fuse.kernel.Layouts.EntryOut;
import io.penstock.fuse.kernel.Layouts.InterruptIn;
import io.penstock.fuse.kernel.Layouts.WriteOut;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Serves the requests of one mount. A few reader threads take them from the device, and reply immediately where no wait
 * is needed. A request that must wait goes to a virtual thread, so that a reader never waits. Each request gets exactly
 * one reply, whatever happens while it is served.
 * <pre>
 *   serving ──unmounted or aborted, by any program──▶ draining ──last waiting request has its reply──▶ ended
 * </pre>
 *
 * The last reader closes the device: only then can no thread be using it.
 */
final class Session {
    private static final Logger log = LoggerFactory.getLogger(Session.class);

    /** How long the end waits for requests that ignore their interrupt; no process gets their replies. */
    private static final Duration LAST_ANSWERS = Duration.ofSeconds(10);

    /** Bytes of replies in progress, except the readers': less on small machines, where the heap is smaller. */
    private static final long REPLY_BUDGET =
            Math.min(128 << 20, Runtime.getRuntime().maxMemory() / 2);

    /** Buffers of large waiting requests kept for reuse: these requests carry writes of programs. */
    private static final int LARGE_REQUESTS = 32;

    private final Device device;
    private final Operations operations;
    private final CallObserver observer;
    private final Runnable atEnd;
    private final Notifier notifier;
    private final Runnable disconnect;
    private final PendingRequests waiting = new PendingRequests(Caller::isToEnd);
    private final ReplyPool replies;
    private final RequestPool requests;
    private final LongAdder taken = new LongAdder();
    private final LongAdder settled = new LongAdder();

    /** For errors when no reply was available. */
    @GuardedBy("errorReply")
    private final Reply errorReply = new Reply(0);

    private final AtomicInteger readersInside;
    private final CountDownLatch ended = new CountDownLatch(1);

    private Session(
            Device device,
            Operations operations,
            CallObserver observer,
            NegotiatedInit negotiated,
            NoticeWriter notices,
            int readers,
            Runnable atEnd) {
        this.device = device;
        this.operations = operations;
        this.observer = observer;
        this.atEnd = atEnd;
        this.notifier = Notifier.start(device, notices, negotiated.prunes());
        this.disconnect = operations.connect(notifier);
        this.replies = new ReplyPool(negotiated.maxRequest(), REPLY_BUDGET);
        this.requests = new RequestPool(Handshake.requestMemory(negotiated.maxRequest()), LARGE_REQUESTS);
        this.readersInside = new AtomicInteger(readers);
    }

    /**
     * Starts the readers.
     *
     * @param device after its handshake; closed at the end of the session
     * @param observer notified of each call
     * @param notices closed with the session
     * @param atEnd run before the device is closed: removes the mount if it still exists, as after an abort
     */
    static Session start(
            Device device,
            Operations operations,
            CallObserver observer,
            NegotiatedInit negotiated,
            NoticeWriter notices,
            int readers,
            Runnable atEnd) {
        Session session = new Session(device, operations, observer, negotiated, notices, readers, atEnd);
        int maxRequest = negotiated.maxRequest();
        for (int i = 0; i < readers; i++) {
            Request request = new Request(Reply.aligned(Share.REQUESTS, Handshake.requestMemory(maxRequest)));
            Reply reply = new Reply(maxRequest);
            // Platform threads: waiting in read(2) would occupy a virtual thread's carrier.
            Thread.ofPlatform().daemon().name("fuse reader ", i).start(() -> session.read(request, reply));
        }
        return session;
    }

    /** Counted down when the last thread of this session has ended. */
    CountDownLatch ended() {
        return ended;
    }

    /** The number of requests taken so far. */
    long requests() {
        return taken.sum();
    }

    /** The number of requests taken without a reply so far; those that get none count until they are done. */
    long unanswered() {
        return taken.sum() - settled.sum();
    }

    /** The number of requests waiting now. */
    int waiting() {
        return waiting.count();
    }

    /** Ends waiting requests with EINTR. */
    void interruptWaiting() {
        waiting.interruptAll();
    }

    /** For leak checks. */
    int repliesInUse() {
        return replies.inUse();
    }

    private void read(Request request, Reply reply) {
        try {
            while (true) {
                int received = device.read(request.address(), request.capacity());
                if (received <= 0) { // 0: never from the device, but from a socket in its place
                    if (received != 0 && received != -Errno.ENODEV.number()) {
                        log.error("Requests can no longer be read: error number {}", -received);
                    }
                    break;
                }
                if (request.received(received)) {
                    take(request, reply);
                } else {
                    log.error("The kernel sent {} bytes that are not a valid request; they are ignored", received);
                }
            }
        } finally {
            leave();
        }
    }

    private void take(Request request, Reply reply) {
        taken.increment();
        long unique = request.unique();
        int result = serveNow(request, reply);
        if (result == Operations.NO_REPLY) {
            settled.increment();
            return;
        }
        if (result == NoWait.WOULD_WAIT) {
            result = startWaiting(request);
        } else {
            observe(request, result, reply);
        }
        if (result != Operations.NO_REPLY) {
            send(unique, result, reply);
        }
    }

    @SuppressWarnings("CatchThrowable") // as in failure()
    private int serveNow(Request request, Reply reply) {
        Opcode opcode = request.opcode();
        try {
            return switch (opcode) {
                case UNKNOWN -> -Errno.ENOSYS.number();
                case INTERRUPT -> interrupt(request);
                default -> operations.serve(request, reply, false);
            };
        } catch (Throwable e) {
            return opcode.isAnswered() ? failure(request, e) : Operations.NO_REPLY;
        }
    }

    /**
     * Another reader may not have registered the request yet: EAGAIN makes the kernel ask again. The kernel ignores the
     * reply if the request already has its own (fuse_dev_do_write in fs/fuse/dev.c).
     */
    private int interrupt(Request request) throws ErrnoException {
        return waiting.signalled(request.u64(InterruptIn.UNIQUE)) ? Operations.NO_REPLY : -Errno.EAGAIN.number();
    }

    /** @return NO_REPLY, because the reply comes later; an error if the request cannot wait */
    @SuppressWarnings("CatchThrowable") // as in failure()
    private int startWaiting(Request request) {
        Request detached;
        try {
            detached = request.detach(requests);
        } catch (Throwable e) {
            return failure(request, e);
        }
        try {
            waiting.start(detached.unique(), detached.pid(), () -> answerLater(detached));
            return Operations.NO_REPLY;
        } catch (Throwable e) {
            int result = failure(detached, e);
            detached.giveBack(requests);
            return result;
        }
    }

    @SuppressWarnings("CatchThrowable") // as in failure()
    private void answerLater(Request request) {
        Reply reply = null;
        int result;
        try {
            reply = replies.take(operations.bodyLimit(request));
            result = operations.serve(request, reply, true);
        } catch (Throwable e) {
            result = failure(request, e);
        }
        if (reply != null) {
            observe(request, result, reply);
            send(request.unique(), result, reply);
            replies.giveBack(reply);
        } else {
            synchronized (errorReply) {
                observe(request, result, errorReply);
                send(request.unique(), result, errorReply);
            }
        }
        request.giveBack(requests);
    }

    /** Handles every failure: a request without a reply would hang its program permanently. */
    private static int failure(Request request, Throwable e) {
        return switch (e) {
            case ErrnoException known -> {
                if (known.errno() == Errno.EIO) {
                    log.warn("{} failed: {}", name(request), known.getMessage());
                } else {
                    log.debug("{}: {}", name(request), known.getMessage());
                }
                yield -known.errno().number();
            }
            case InterruptedException _ -> -Errno.EINTR.number();
            default -> {
                log.error("{} failed; its reply is EIO", name(request), e);
                yield -Errno.EIO.number();
            }
        };
    }

    private static Object name(Request request) {
        Opcode opcode = request.opcode();
        return opcode == Opcode.UNKNOWN ? request.opcodeNumber() : opcode;
    }

    /** Called before the reply is sent: a program that has its reply finds the call counted. */
    private void observe(Request request, int result, Reply reply) {
        Opcode opcode = request.opcode();
        if (opcode.call() == null) {
            return;
        }
        int errno = Math.max(0, -result);
        int bytes = 0;
        if (result > 0) {
            switch (opcode) {
                case READ -> bytes = result;
                case WRITE, COPY_FILE_RANGE -> bytes = reply.u32(WriteOut.SIZE_FIELD);
                case LOOKUP -> errno = reply.u64(EntryOut.NODEID) == 0 ? Errno.ENOENT.number() : 0; // a negative entry
                default -> {}
            }
        }
        observer.ended(request, errno, bytes, request.nanos());
    }

    private void send(long unique, int result, Reply reply) {
        settled.increment();
        int error = reply.send(device, unique, result);
        if (error == 0 || error == -Errno.ENOENT.number() || error == -Errno.ENODEV.number()) {
            return; // sent, or no process waits for it
        }
        log.error("The kernel refused a reply with result {}: error number {}", result, -error);
        reply.send(device, unique, -Errno.EIO.number());
    }

    private void leave() {
        if (readersInside.decrementAndGet() > 0) {
            return;
        }
        try {
            atEnd.run();
            disconnect.run();
            boolean answered = waiting.end(LAST_ANSWERS);
            if (notifier.end(LAST_ANSWERS) && answered) {
                device.close();
            } else {
                // Their replies must not reach the next owner of the descriptor's number.
                log.warn("{} requests, or notices, did not end with the mount; the device stays open", waiting.count());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            ended.countDown();
        }
    }
}

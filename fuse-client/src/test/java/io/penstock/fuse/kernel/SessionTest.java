package io.penstock.fuse.kernel;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.core.Errno;
import io.penstock.core.ErrnoException;
import io.penstock.core.NoWait;
import io.penstock.fuse.calls.CallLatencies;
import io.penstock.fuse.calls.CallStatistics;
import io.penstock.fuse.kernel.FakeKernel.ReceivedReply;
import io.penstock.testing.Seeded;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class SessionTest {
    /** Requests of this inode get an immediate reply, whatever their content. */
    private static final long NOW_NODE = 7;

    private static final int MAX_REQUEST = 32 << 10;

    private static final List<Fate> RANDOM = List.copyOf(EnumSet.complementOf(EnumSet.of(Fate.STALLED)));

    private final FakeKernel kernel = new FakeKernel();
    private final Scripted operations = new Scripted();
    private final CountDownLatch atEnd = new CountDownLatch(1);
    private final CallLatencies latencies = new CallLatencies();
    private final Device device = kernel.device();
    private final Session session = Session.start(
            device,
            operations,
            latencies,
            new NegotiatedInit(45, MAX_REQUEST, 0),
            new NoticeWriter.Direct(device),
            2,
            atEnd::countDown);

    /** The expected outcome of a request, and the error number of its reply. */
    private enum Fate {
        ANSWERED_NOW(0),
        ANSWERED_LATER(0),
        ERRNO_NOW(Errno.ESTALE.number()),
        ERRNO_LATER(Errno.ESTALE.number()),
        UNFORESEEN_NOW(Errno.EIO.number()),
        UNFORESEEN_LATER(Errno.EIO.number()),
        REFUSED_BY_THE_KERNEL(Errno.EIO.number()),
        WITHOUT_REPLY(Errno.EIO.number()),
        STALLED(0);

        final int error;

        Fate(int error) {
            this.error = error;
        }
    }

    /** Acts as the request's name, a {@link Fate}, says. */
    private static final class Scripted implements Operations {
        final CountDownLatch stalled = new CountDownLatch(1);
        final Semaphore gate = new Semaphore(0);

        @Override
        public int serve(Request request, Reply reply, boolean mayWait) throws ErrnoException {
            return mayWait ? serveLater(request, reply) : serveNow(request, reply);
        }

        private static int serveNow(Request request, Reply reply) throws ErrnoException {
            if (request.node() == NOW_NODE) { // no decoding, which would allocate objects
                return answered(request, reply);
            }
            return switch (fate(request)) {
                case ANSWERED_NOW -> answered(request, reply);
                case ERRNO_NOW -> throw new ErrnoException(Errno.ESTALE, "on purpose");
                case UNFORESEEN_NOW -> throw new IllegalStateException("on purpose");
                case REFUSED_BY_THE_KERNEL -> 512 << 10; // more than the socket accepts
                case ANSWERED_LATER, ERRNO_LATER, UNFORESEEN_LATER, WITHOUT_REPLY, STALLED -> NoWait.WOULD_WAIT;
            };
        }

        private int serveLater(Request request, Reply reply) throws ErrnoException {
            return switch (fate(request)) {
                case ANSWERED_LATER -> answered(request, reply);
                case ERRNO_LATER -> throw new ErrnoException(Errno.ESTALE, "on purpose");
                case UNFORESEEN_LATER -> throw new StackOverflowError("on purpose");
                case STALLED -> {
                    stalled.countDown();
                    try {
                        gate.acquire();
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                        throw new ErrnoException(Errno.EINTR, "on purpose", e);
                    }
                    yield answered(request, reply);
                }
                case ANSWERED_NOW, ERRNO_NOW, UNFORESEEN_NOW, REFUSED_BY_THE_KERNEL, WITHOUT_REPLY ->
                    throw new AssertionError("not asked");
            };
        }

        @Override
        public int bodyLimit(Request request) throws ErrnoException {
            return fate(request) == Fate.WITHOUT_REPLY ? MAX_REQUEST + 1 : Long.BYTES;
        }

        private static Fate fate(Request request) throws ErrnoException {
            return Fate.valueOf(request.string(0));
        }

        private static int answered(Request request, Reply reply) {
            reply.u64(0, request.unique());
            return Long.BYTES;
        }
    }

    @AfterEach
    void nothingIsLeft() throws InterruptedException {
        kernel.close();
        assertThat(session.ended().await(20, TimeUnit.SECONDS))
                .as("session ends with the device")
                .isTrue();
        assertThat(atEnd.getCount()).as("whether the mount is not taken away").isZero();
        assertThat(session.waiting()).as("requests that wait").isZero();
        assertThat(session.repliesInUse()).as("replies in use").isZero();
        assertThat(session.unanswered()).as("requests without a reply").isZero();
    }

    @Test
    void answer_ofUnknownOpcode_isEnosys() {
        kernel.send(63, 2, 1, ByteBuffer.allocate(8));

        assertThat(kernel.receive()).isEqualTo(new ReceivedReply(2, Errno.ENOSYS.number(), ByteBuffer.allocate(0)));
    }

    @Test
    void answer_ofTruncatedRequest_isEinval() {
        kernel.send(Opcode.READ, 2);

        assertThat(kernel.receive().error()).isEqualTo(Errno.EINVAL.number());
    }

    @Test
    void requests_thatFailAtRandom_areEachAnsweredOnce() {
        Seeded.check(5, random -> {
            Map<Long, Fate> asked = new HashMap<>();
            Set<Long> answered = new HashSet<>();
            for (long unique = 2; unique < 2_000; unique += 2) {
                Fate fate = RANDOM.get(random.nextInt(RANDOM.size()));
                asked.put(unique, fate);
                ask(Opcode.GETATTR, unique, fate);
                if (asked.size() - answered.size() == 20) { // the maximum in flight
                    check(kernel.receive(), asked, answered);
                }
            }
            while (answered.size() < asked.size()) {
                check(kernel.receive(), asked, answered);
            }
        });
    }

    @Test
    void calls_repliedToNowOrLater_areCountedByThen() {
        ask(Opcode.READ, 2, Fate.ANSWERED_NOW);
        kernel.receive();
        assertThat(observed(Opcode.READ).count()).isEqualTo(1);
        ask(Opcode.READ, 4, Fate.ANSWERED_LATER);
        kernel.receive();
        ask(Opcode.READ, 6, Fate.ERRNO_LATER);
        kernel.receive();
        ask(Opcode.READ, 8, Fate.WITHOUT_REPLY);
        kernel.receive();

        assertThat(observed(Opcode.READ).count()).isEqualTo(4);
        assertThat(observed(Opcode.READ).bytes()).isEqualTo(2 * Long.BYTES);
        assertThat(observed(Opcode.READ).errors()).isEqualTo(Map.of("ESTALE", 1L, "EIO", 1L));
    }

    @Test
    void lookup_withANegativeEntry_countsAsEnoent() {
        ask(
                Opcode.LOOKUP,
                0,
                Fate.ANSWERED_NOW); // the reply starts with the request's number, at the offset of an entry's inode
        kernel.receive();
        ask(Opcode.LOOKUP, 2, Fate.ANSWERED_NOW);
        kernel.receive();

        assertThat(observed(Opcode.LOOKUP).count()).isEqualTo(2);
        assertThat(observed(Opcode.LOOKUP).errors()).isEqualTo(Map.of("ENOENT", 1L));
    }

    private CallStatistics observed(Opcode opcode) {
        CallStatistics seen =
                latencies.snapshot().get(Objects.requireNonNull(opcode.call()).label());
        return Objects.requireNonNull(seen);
    }

    private void ask(Opcode opcode, long unique, Fate fate) {
        kernel.send(opcode.number(), unique, 1, ByteBuffer.wrap((fate.name() + '\0').getBytes(US_ASCII)));
    }

    private static void check(ReceivedReply received, Map<Long, Fate> asked, Set<Long> answered) {
        assertThat(answered.add(received.unique()))
                .as("first answer to %s", received)
                .isTrue();
        Fate fate = asked.get(received.unique());
        assertThat(fate).isNotNull();
        assertThat(received.error()).as("%s", fate).isEqualTo(fate.error);
        if (received.error() == 0) {
            assertThat(received.body().getLong(0)).isEqualTo(received.unique());
        }
    }

    @Test
    void forget_thatFails_isNotAnswered() {
        ask(Opcode.FORGET, 2, Fate.UNFORESEEN_NOW);
        ask(Opcode.BATCH_FORGET, 4, Fate.ERRNO_NOW);
        ask(Opcode.GETATTR, 6, Fate.ANSWERED_NOW);

        assertThat(kernel.receive().unique()).isEqualTo(6);
    }

    @Test
    void interrupt_ofWaitingRequest_endsItWithEintr() throws InterruptedException {
        ask(Opcode.READ, 2, Fate.STALLED);
        operations.stalled.await();

        kernel.send(Opcode.INTERRUPT, 3, 2);

        ReceivedReply received = kernel.receive();
        assertThat(received.unique()).isEqualTo(2);
        assertThat(received.error()).isEqualTo(Errno.EINTR.number());
    }

    @Test
    void interrupt_ofUnknownRequest_asksToTryAgain() {
        kernel.send(Opcode.INTERRUPT, 3, 2);

        ReceivedReply received = kernel.receive();
        assertThat(received.unique()).isEqualTo(3);
        assertThat(received.error()).isEqualTo(Errno.EAGAIN.number());
    }

    @Test
    void requestsAnsweredAtOnce_makeNoObjects() {
        answerMany(); // compiles the measured code
        long before = allocated();

        int requests = answerMany();

        assertThat((allocated() - before) / requests).as("bytes a request").isZero();
    }

    private int answerMany() {
        int requests = 20_000;
        for (long unique = 2; unique <= 2L * requests; unique += 2) {
            kernel.send(Opcode.READ.number(), unique, NOW_NODE, ByteBuffer.allocate(0));
            kernel.receive();
        }
        return requests;
    }

    private static long allocated() {
        var threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("fuse reader"))
                .mapToLong(thread -> threads.getThreadAllocatedBytes(thread.threadId()))
                .sum();
    }

    @Test
    void waitingRequests_manyMoreThanReaders_holdNoReader() {
        int stalled = 200;
        for (long unique = 2; unique < 2 + 2 * stalled; unique += 2) {
            ask(Opcode.READ, unique, Fate.STALLED);
        }
        ask(Opcode.GETATTR, 1_000, Fate.ANSWERED_NOW);
        assertThat(kernel.receive().unique()).isEqualTo(1_000);

        operations.gate.release(stalled);
        Set<Long> answered = new HashSet<>();
        while (answered.size() < stalled) {
            assertThat(answered.add(kernel.receive().unique())).isTrue();
        }
    }

    @Test
    void end_withRequestsWaiting_interruptsThem() throws InterruptedException {
        ask(Opcode.READ, 2, Fate.STALLED);
        operations.stalled.await();
        // nothingIsLeft checks the rest.
    }
}

package io.penstock.share;

import static io.penstock.share.TestNode.MIB;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.cache.Urgency;
import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.Deadline;
import io.penstock.objectstore.RetryPolicy;
import io.penstock.prefetch.PeerSource;
import io.penstock.share.ShareStatistics.Fallback;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** How many bytes of one node are in flight, and on which connections. */
@Timeout(60)
class PeerTest {
    private static final ObjectVersion FILE =
            new ObjectVersion("file", "\"" + "a".repeat(32) + "\"", 1L << 30, Instant.EPOCH);

    /** Accepts no bytes. */
    private record Nowhere(BooleanSupplier awaited) implements PeerSource.Sink {
        @Override
        public boolean isAwaited() {
            return awaited.getAsBoolean();
        }

        @Override
        public ByteBuffer buffer() {
            throw new AssertionError();
        }

        @Override
        public void filled(int bytes) {
            throw new AssertionError();
        }
    }

    private static void writeBusy(PeerRequest request, OutputStream to) throws IOException {
        to.write(ScriptedServer.busy());
    }

    private static PeerRequest request(Urgency urgency) {
        return new PeerRequest("n", FILE, new ByteRange(0, OwnedSlabs.SIZE), urgency);
    }

    @Test
    void get_ofMoreThanMayBeUnderWay_isLeftToTheStore_readaheadFirst() throws Exception {
        int all = 256 * MIB / (int) OwnedSlabs.SIZE;
        CountDownLatch held = new CountDownLatch(all * 3 / 4);
        CountDownLatch over = new CountDownLatch(1);
        ScriptedServer.Script hangs = (request, to) -> {
            held.countDown();
            try {
                over.await();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            writeBusy(request, to);
        };
        ConcurrentLinkedQueue<Fallback> ends = new ConcurrentLinkedQueue<>();
        List<Thread> threads = new ArrayList<>();
        try (ScriptedServer server = new ScriptedServer(hangs);
                ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor();
                Peer peer = new Peer(server.address(), null, new Bandwidth(0, System::nanoTime), clock)) {
            for (int i = 0; i < all * 3 / 4; i++) {
                threads.add(Thread.ofVirtual().start(() -> ends.add(end(peer, Urgency.READAHEAD))));
            }
            held.await();
            assertThat(end(peer, Urgency.READAHEAD)).isEqualTo(Fallback.LIMITED);
            Thread demand = Thread.ofVirtual().start(() -> ends.add(end(peer, Urgency.DEMAND)));
            TestNode.await("demand is asked for", () -> server.requests.get() == all * 3 / 4 + 1);
            over.countDown();
            demand.join();
            for (Thread thread : threads) {
                thread.join();
            }
            assertThat(ends).hasSize(all * 3 / 4 + 1).containsOnly(Fallback.BUSY);
            assertThat(peer.isSkipped()).isFalse();
        }
    }

    @Test
    void get_keptConnectionClosed_isRepeatedOnceOnANewOne() throws Exception {
        try (ScriptedServer server = new ScriptedServer(PeerTest::writeBusy);
                ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor();
                Peer peer = new Peer(server.address(), null, new Bandwidth(0, System::nanoTime), clock)) {
            assertThat(end(peer, Urgency.DEMAND)).isEqualTo(Fallback.BUSY);
            server.script = (request, to) -> {
                server.script = PeerTest::writeBusy;
                throw new IOException("closed");
            };
            assertThat(end(peer, Urgency.DEMAND)).isEqualTo(Fallback.BUSY);
            assertThat(server.requests).hasValue(3);
            server.script = (request, to) -> {
                throw new IOException("closed");
            };
            assertThat(end(peer, Urgency.DEMAND)).isEqualTo(Fallback.UNREACHABLE);
            assertThat(server.requests).hasValue(5);
        }
    }

    @Test
    void get_ofASlowNode_goesOnUntilAReaderWaits() throws Exception {
        try (ScriptedServer server = new ScriptedServer(PeerTest::writeBusy);
                ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor();
                Peer peer = new Peer(server.address(), null, new Bandwidth(0, System::nanoTime), clock)) {
            for (int i = 0; i < 20; i++) { // the node is known to be fast
                assertThat(end(peer, Urgency.READAHEAD)).isEqualTo(Fallback.BUSY);
            }
            server.script = (request, to) -> {};
            long reads = System.nanoTime() + ResponseTimeout.SHORTEST.toNanos() * 2;
            AtomicBoolean awaited = new AtomicBoolean();
            BooleanSupplier reader = () -> {
                awaited.set(System.nanoTime() - reads >= 0);
                return awaited.get();
            };
            assertThat(end(peer, Urgency.READAHEAD, reader)).isEqualTo(Fallback.TIMEOUT);
            assertThat(awaited).isTrue();
        }
    }

    @Test
    void get_ofABusyNode_isRepeatedForReadahead_untilAReaderWaits() throws Exception {
        try (ScriptedServer server = new ScriptedServer(PeerTest::writeBusy);
                ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor();
                Peer peer = new Peer(server.address(), null, new Bandwidth(0, System::nanoTime), clock)) {
            assertThat(end(peer, Urgency.READAHEAD, () -> server.requests.get() == 2))
                    .isEqualTo(Fallback.BUSY);
            assertThat(server.requests).hasValue(2);
            assertThat(end(peer, Urgency.DEMAND, () -> false)).isEqualTo(Fallback.BUSY);
            assertThat(server.requests).hasValue(3);
            assertThat(end(peer, Urgency.READAHEAD, () -> false)).isEqualTo(Fallback.BUSY);
            assertThat(server.requests).hasValue(3 + 5);
            assertThat(peer.isSkipped()).isFalse();
        }
    }

    @Test
    void get_ofAFailedNodeWithoutBandwidth_leavesItsTrialForLater() throws Exception {
        ScriptedServer.Script closes = (request, to) -> {
            throw new IOException("closed");
        };
        Bandwidth bandwidth = new Bandwidth(0, System::nanoTime);
        try (ScriptedServer server = new ScriptedServer(closes);
                ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor();
                Peer peer = new Peer(server.address(), null, bandwidth, clock)) {
            for (int i = 0; i < Breaker.FAILURES; i++) {
                assertThat(end(peer, Urgency.DEMAND)).isEqualTo(Fallback.UNREACHABLE);
            }
            assertThat(end(peer, Urgency.DEMAND)).isEqualTo(Fallback.SKIPPED);
            bandwidth.limit(1);
            assertThat(bandwidth.reserve(1_000, Urgency.DEMAND)).isZero();
            TestNode.await("its pause is over", () -> end(peer, Urgency.DEMAND) == Fallback.LIMITED);
            bandwidth.limit(0);
            assertThat(end(peer, Urgency.DEMAND)).isEqualTo(Fallback.UNREACHABLE);
        }
    }

    /** Accepts the bytes slowly. */
    private static final class Slow implements PeerSource.Sink {
        private final ByteBuffer buffer = ByteBuffer.allocate((int) OwnedSlabs.SIZE);

        @Override
        public boolean isAwaited() {
            return true;
        }

        @Override
        public ByteBuffer buffer() {
            return buffer;
        }

        @Override
        public void filled(int bytes) {
            if (buffer.position() % MIB == 0) {
                LockSupport.parkNanos(1_200_000_000);
            }
        }
    }

    @Test
    void get_ofALongCall_isProgressOfIt() throws Exception {
        try (ScriptedServer server = new ScriptedServer((request, to) -> to.write(ScriptedServer.right(request)));
                ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor();
                Peer peer = new Peer(server.address(), null, new Bandwidth(0, System::nanoTime), clock)) {
            Deadline call = new RetryPolicy(Duration.ofSeconds(8), Duration.ZERO).forReading();
            call.call(() -> {
                peer.get(request(Urgency.DEMAND), "right", new Slow(), bytes -> {});
                return call;
            });
            assertThat(call.isOver()).isFalse();
        }
    }

    private static Fallback end(Peer peer, Urgency urgency) {
        return end(peer, urgency, () -> true);
    }

    private static Fallback end(Peer peer, Urgency urgency, BooleanSupplier awaited) {
        try {
            peer.get(request(urgency), "right", new Nowhere(awaited), bytes -> {});
            throw new AssertionError("it has got bytes");
        } catch (PeerFailure e) {
            return e.fallback();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}

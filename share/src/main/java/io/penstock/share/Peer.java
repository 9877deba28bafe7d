package io.penstock.share;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.penstock.cache.Urgency;
import io.penstock.core.Crc32c;
import io.penstock.objectstore.Deadline;
import io.penstock.objectstore.http.HttpConnection;
import io.penstock.objectstore.http.ResponseHead;
import io.penstock.objectstore.http.Tls;
import io.penstock.prefetch.PeerSource;
import io.penstock.share.ShareStatistics.Fallback;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntConsumer;
import java.util.function.Supplier;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/** Another node, as this one asks it for bytes. Safe for use by any number of threads. */
final class Peer implements AutoCloseable {
    /** A lost SYN is sent again after 1 s (RFC 6298, section 2). */
    private static final Duration CONNECT = Duration.ofMillis(1_200);

    /** Slower is no progress: even over a poor link the store delivers a range at this rate. */
    private static final long LEAST_BYTES_PER_SECOND = 1 << 20;

    /** Bytes under way from one node. */
    private static final long MOST = 256 << 20;

    /** The rest is for demand alone. */
    private static final long MOST_READAHEAD = 192 << 20;

    /** Milliseconds before a busy node is asked again; each pause is twice as long as the one before. */
    private static final int FIRST_PAUSE = 20;

    /** 0.3 s in all: a node that has no bandwidth left stays busy, and the store is quicker. */
    private static final int LAST_PAUSE = 160;

    private final String host;
    private final Bandwidth bandwidth;
    private final ScheduledExecutorService clock;
    private final PeerConnections connections;
    private final Breaker breaker = new Breaker(System::nanoTime);
    private final ResponseTimeout timeout = new ResponseTimeout();
    private final AtomicLong underWay = new AtomicLong();

    /**
     * @param address of its bytes
     * @param tls null for connections in the clear
     * @param bandwidth shared by all peers
     */
    Peer(InetSocketAddress address, @Nullable SSLContext tls, Bandwidth bandwidth, ScheduledExecutorService clock) {
        this.bandwidth = bandwidth;
        this.host = GroupMember.address(address);
        this.clock = clock;
        this.connections = new PeerConnections(
                address,
                tls == null ? null : Tls.ofGroup(tls, address.getAddress().getHostAddress(), address.getPort()));
    }

    boolean isSkipped() {
        return breaker.isOpen();
    }

    /**
     * Puts the bytes of the request into the sink. Before an exception, it has got the bytes that were right.
     *
     * @param arrivals gets the bytes of each checked chunk, after the sink
     */
    void get(PeerRequest request, String proof, PeerSource.Sink sink, IntConsumer arrivals)
            throws PeerFailure, InterruptedException {
        long length = request.range().length();
        long most = request.urgency() == Urgency.DEMAND ? MOST : MOST_READAHEAD;
        long begun = System.nanoTime();
        try {
            if (underWay.addAndGet(length) > most) {
                throw new PeerFailure(Fallback.LIMITED, "the limit of bytes in flight from it is reached", null);
            }
            boolean mayAsk = breaker.mayAsk();
            if (mayAsk && !bandwidth.pass(length, request.urgency())) { // before a trial is used up
                throw new PeerFailure(Fallback.LIMITED, "share.bandwidth is used up", null);
            }
            if (!mayAsk || !breaker.tryAsk()) {
                throw new PeerFailure(Fallback.SKIPPED, "it has failed before", null);
            }
            exchangeOnceItHasRoom(request, proof, sink, arrivals);
            breaker.succeeded();
        } catch (PeerFailure e) {
            if (!e.isNoFault()) {
                breaker.failed(begun);
            } else if (e.fallback() != Fallback.SKIPPED && e.fallback() != Fallback.LIMITED) {
                breaker.succeeded();
            }
            throw e;
        } finally {
            underWay.addAndGet(-length);
        }
    }

    /** As long as no reader waits for what is read ahead, a busy node is asked again: the store would send it once more. */
    private void exchangeOnceItHasRoom(PeerRequest request, String proof, PeerSource.Sink sink, IntConsumer arrivals)
            throws PeerFailure, InterruptedException {
        for (int pause = FIRST_PAUSE; ; pause *= 2) {
            try {
                exchange(request, proof, sink, arrivals);
                return;
            } catch (PeerFailure e) {
                boolean mayWait = e.fallback() == Fallback.BUSY && request.urgency() == Urgency.READAHEAD;
                if (!mayWait || pause > LAST_PAUSE || !pass(pause, sink)) {
                    throw e;
                }
            }
        }
    }

    /** False as soon as a reader waits. */
    private static boolean pass(int millis, PeerSource.Sink sink) throws InterruptedException {
        for (int slept = 0; slept < millis && !sink.isAwaited(); slept += FIRST_PAUSE) {
            Thread.sleep(FIRST_PAUSE);
        }
        return !sink.isAwaited();
    }

    /**
     * The node may have closed a kept connection as the request was sent: a new one shows whether it responds (RFC
     * 9112, section 9.3.1).
     */
    private void exchange(PeerRequest request, String proof, PeerSource.Sink sink, IntConsumer arrivals)
            throws PeerFailure, InterruptedException {
        HttpConnection kept = connections.takeIdle();
        if (kept != null && exchange(kept, request, proof, sink, arrivals) == null) {
            return;
        }
        PeerFailure broken = exchange(connect(), request, proof, sink, arrivals);
        if (broken != null) {
            throw broken;
        }
    }

    /** @return the failure of a connection that broke before the response; null if the sink has all bytes */
    private @Nullable PeerFailure exchange(
            HttpConnection connection, PeerRequest request, String proof, PeerSource.Sink sink, IntConsumer arrivals)
            throws PeerFailure, InterruptedException {
        Duration usual = atMostHalfOfTheCall(timeout.get());
        Duration longest = atMostHalfOfTheCall(ResponseTimeout.LONGEST);
        Supplier<Duration> silence = () -> sink.isAwaited() ? usual : longest;
        Duration transfer = Duration.ofMillis(request.range().length() * 1_000 / LEAST_BYTES_PER_SECOND);
        ResponseHead head = null;
        boolean isReusable = false;
        try (RequestTimer timer = new RequestTimer(clock, silence, transfer, connection::close)) {
            try {
                head = ask(connection, message(request, proof), timer);
                isReusable = head.keepsAlive() && head.status() != PeerRequest.OK && head.contentLength() == 0;
                check(head, request);
                receive(connection, request, timer, sink, arrivals);
                isReusable = head.keepsAlive();
                return null;
            } catch (IOException e) {
                PeerFailure failure = PeerFailure.of(e, timer);
                if (head == null && failure.fallback() == Fallback.UNREACHABLE) {
                    return failure;
                }
                throw failure;
            }
        } finally {
            connections.giveBack(connection, isReusable);
        }
    }

    private ResponseHead ask(HttpConnection connection, byte[] message, RequestTimer timer) throws IOException {
        long began = System.nanoTime();
        try {
            ResponseHead head = connection.send(message);
            timeout.responded(System.nanoTime() - began);
            timer.progress();
            return head;
        } catch (IOException e) {
            if (timer.isExpired()) {
                timeout.timedOut(System.nanoTime() - began);
            }
            throw e;
        }
    }

    /** Half of what the call has left now: the store may have to be asked after it. */
    private static Duration atMostHalfOfTheCall(Duration time) {
        Deadline deadline = Deadline.current();
        return deadline == null ? time : deadline.atMost(time.multipliedBy(2)).dividedBy(2);
    }

    private HttpConnection connect() throws PeerFailure, InterruptedException {
        try {
            return connections.connect(atMostHalfOfTheCall(CONNECT));
        } catch (IOException e) {
            throw PeerFailure.of(e, null);
        }
    }

    private byte[] message(PeerRequest request, String proof) {
        return ("GET " + request.target() + " HTTP/1.1\r\nHost: " + host + "\r\n" + PeerRequest.PROOF + ": " + proof
                        + "\r\n\r\n")
                .getBytes(US_ASCII);
    }

    private static void check(ResponseHead head, PeerRequest request) throws PeerFailure, IOException {
        Fallback refused = switch (head.status()) {
            case PeerRequest.OK -> null;
            case PeerRequest.BUSY -> Fallback.BUSY;
            case PeerRequest.FORBIDDEN -> Fallback.FORBIDDEN;
            case PeerRequest.UNKNOWN, PeerRequest.OTHER_BUCKET -> Fallback.FOREIGN;
            case PeerRequest.OTHER_VERSION -> Fallback.CHANGED;
            case PeerRequest.STORE_FAILED -> Fallback.STORE;
            default -> Fallback.CORRUPT;
        };
        if (refused != null) {
            throw new PeerFailure(refused, "it responded with " + head.status(), null);
        }
        long from = request.range().offset();
        long end = request.range().end();
        String range =
                "bytes " + from + "-" + (end - 1) + "/" + request.version().size();
        String identity = PeerRequest.encode(request.version().identity());
        if (head.contentLength() != Chunks.bodyLength(from, end)
                || !range.equals(head.header("Content-Range"))
                || !identity.equals(head.header(PeerRequest.IDENTITY))) {
            throw new PeerFailure(Fallback.CORRUPT, "it responded with other bytes than requested", null);
        }
    }

    private static void receive(
            HttpConnection connection,
            PeerRequest request,
            RequestTimer timer,
            PeerSource.Sink sink,
            IntConsumer arrivals)
            throws PeerFailure, InterruptedException {
        Deadline call = Deadline.current();
        ByteBuffer checksum = ByteBuffer.allocate(Chunks.CHECKSUM);
        long end = request.range().end();
        for (long at = request.range().offset(); at < end; ) {
            int length = Chunks.length(at, end);
            ByteBuffer target = sink.buffer();
            if (target.remaining() < length) {
                throw new IllegalStateException("a chunk of " + length + " bytes at " + at + " is in two pages");
            }
            ByteBuffer chunk = target.slice(target.position(), length);
            try {
                fill(connection, chunk);
                fill(connection, checksum.clear());
            } catch (IOException e) {
                PeerFailure failure = PeerFailure.of(e, timer);
                throw at == request.range().offset() ? failure : failure.afterRightBytes();
            }
            if (Crc32c.of(chunk.flip()) != checksum.getInt(0)) {
                throw new PeerFailure(Fallback.CORRUPT, "wrong checksum of the bytes at " + at, null);
            }
            timer.progress();
            if (call != null) {
                call.restart();
            }
            target.position(target.position() + length);
            sink.filled(length);
            arrivals.accept(length);
            at += length;
        }
    }

    private static void fill(HttpConnection connection, ByteBuffer target) throws IOException {
        while (target.hasRemaining()) {
            if (connection.read(target, target.remaining()) < 0) {
                throw new EOFException("it closed the connection within a response");
            }
        }
    }

    /**
     * Closes connections that have been idle for long.
     *
     * @param now {@link System#nanoTime}
     */
    void closeLate(long now) {
        connections.closeLate(now);
    }

    /** Ends the requests that run. */
    @Override
    public void close() {
        connections.close();
    }
}

package io.penstock.share;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.penstock.cache.Urgency;
import io.penstock.core.ByteRange;
import io.penstock.core.Crc32c;
import io.penstock.core.NativeMemory;
import io.penstock.core.SpareBuffers;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.http.RequestHead;
import io.penstock.objectstore.http.ServerConnection;
import io.penstock.prefetch.PageFetcher;
import io.penstock.prefetch.PeerReader;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Gives other nodes bytes of the bucket, from the page cache or the store, never from a third node.
 */
final class PeerServer implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(PeerServer.class);

    /** Requests at once, 64 KiB of memory each, and as much again with TLS. */
    private static final int REQUESTS = 256;

    /** The others are for demand alone. */
    private static final int READAHEAD_REQUESTS = 192;

    /** For a node that does not read the bytes it requested. */
    private static final Duration SILENCE = Duration.ofSeconds(30);

    /** Beside a silence, for a whole response. */
    private static final Duration TRANSFER = Duration.ofMinutes(5);

    private final String namespace;
    private final PageFetcher fetcher;
    private final ProvenNodes proven;
    private final Bandwidth bandwidth;
    private final ScheduledExecutorService clock;
    private final ShareCounters counters;
    private final AtomicInteger running = new AtomicInteger();
    private final SpareBuffers chunks = new SpareBuffers(NativeMemory.Share.CONNECTIONS, Chunks.SIZE + Chunks.CHECKSUM);
    private final PeerListener listener;

    /**
     * @param tls null for connections in the clear
     * @param connections at a time, those of strangers too
     */
    PeerServer(
            ShareConfig config,
            @Nullable SSLContext tls,
            int connections,
            PageFetcher fetcher,
            ProvenNodes proven,
            ScheduledExecutorService clock,
            ShareCounters counters)
            throws ShareException {
        this.namespace = config.namespace();
        this.fetcher = fetcher;
        this.proven = proven;
        this.bandwidth = new Bandwidth(config.bandwidth(), System::nanoTime);
        this.clock = clock;
        this.counters = counters;
        this.listener = new PeerListener(config.listen(), tls, connections, this::handle, clock);
    }

    private boolean handle(RequestHead head, String node, ServerConnection connection)
            throws IOException, InterruptedException {
        int status = answer(head, node, connection);
        if (status == PeerRequest.OK) {
            counters.requestsServed.increment();
        } else {
            counters.refused(status);
            connection.send(head(status, 0, ""));
        }
        return head.keepsAlive() && !head.hasBody();
    }

    /** Sends the response, if it returns {@link PeerRequest#OK}; else nothing was sent. */
    private int answer(RequestHead head, String node, ServerConnection connection)
            throws IOException, InterruptedException {
        int query = head.target().indexOf('?');
        if (query < 0 || !head.target().substring(0, query).equals(PeerRequest.PATH)) {
            return PeerRequest.UNKNOWN;
        }
        PeerRequest request;
        try {
            request = PeerRequest.parse(head.target().substring(query + 1));
        } catch (IllegalArgumentException e) {
            LOG.debug("another node sent an invalid request", e);
            return PeerRequest.MALFORMED;
        }
        if (!head.method().equals("GET") || head.hasBody()) {
            return PeerRequest.MALFORMED;
        }
        if (!request.namespace().equals(namespace)) {
            return PeerRequest.OTHER_BUCKET;
        }
        try {
            if (!proven.mayHave(
                    node, head.header(PeerRequest.PROOF), request.version().key())) {
                return PeerRequest.FORBIDDEN;
            }
        } catch (ProvenNodes.BusyException e) {
            return PeerRequest.BUSY;
        } catch (ObjectStoreException e) {
            LOG.debug("the permission of another node cannot be checked", e);
            return PeerRequest.STORE_FAILED;
        }
        return serve(request, connection);
    }

    private int serve(PeerRequest request, ServerConnection connection) throws IOException, InterruptedException {
        int most = request.urgency() == Urgency.DEMAND ? REQUESTS : READAHEAD_REQUESTS;
        try {
            if (running.incrementAndGet() > most
                    || !bandwidth.pass(request.range().length(), request.urgency())) {
                return PeerRequest.BUSY;
            }
            ByteBuffer chunk;
            try {
                chunk = chunks.take();
            } catch (NativeMemory.UsedUpException e) {
                return PeerRequest.BUSY;
            }
            int status = read(request, chunk, connection);
            chunks.giveBack(chunk);
            return status;
        } finally {
            running.decrementAndGet();
        }
    }

    private int read(PeerRequest request, ByteBuffer chunk, ServerConnection connection)
            throws IOException, InterruptedException {
        ByteRange range = request.range();
        Thread self = Thread.currentThread();
        boolean begun = false;
        try (PeerReader reader = fetcher.openForPeer(request.version())) {
            counters.getsForPeers.add(reader.prepare(range.offset(), range.end(), request.urgency()));
            read(reader, range.offset(), range.end(), chunk);
            try (RequestTimer timer = new RequestTimer(clock, () -> SILENCE, TRANSFER, self::interrupt)) {
                begun = true;
                connection.send(head(request));
                for (long at = range.offset(); at < range.end(); ) {
                    int length = chunk.limit() - Chunks.CHECKSUM;
                    connection.send(chunk);
                    timer.progress();
                    at += length;
                    counters.bytesServed.add(length);
                    if (at < range.end()) {
                        read(reader, at, range.end(), chunk);
                        timer.progress();
                    }
                }
            }
            return PeerRequest.OK;
        } catch (PeerReader.BusyException | ObjectStoreException e) {
            if (begun) {
                throw new IOException("bytes did not come after the head of the response was sent", e);
            }
            return status(e);
        }
    }

    private static int status(Exception e) {
        return switch (e) {
            case PeerReader.BusyException _ -> PeerRequest.BUSY;
            case ObjectStoreException.PreconditionFailed _, ObjectStoreException.NotFound _ ->
                PeerRequest.OTHER_VERSION;
            default -> PeerRequest.STORE_FAILED;
        };
    }

    private static ByteBuffer head(PeerRequest request) {
        ByteRange range = request.range();
        String contents = "bytes " + range.offset() + "-" + (range.end() - 1) + "/"
                + request.version().size();
        String identity = PeerRequest.encode(request.version().identity());
        return head(
                PeerRequest.OK,
                Chunks.bodyLength(range.offset(), range.end()),
                "Content-Range: " + contents + "\r\n" + PeerRequest.IDENTITY + ": " + identity + "\r\n");
    }

    private static ByteBuffer head(int status, long length, String headers) {
        String text = "HTTP/1.1 " + status + " \r\nContent-Length: " + length + "\r\n" + headers + "\r\n";
        return ByteBuffer.wrap(text.getBytes(US_ASCII));
    }

    /** Puts the chunk that begins there, and its checksum, into the buffer. */
    private static void read(PeerReader reader, long at, long end, ByteBuffer chunk)
            throws ObjectStoreException, PeerReader.BusyException, InterruptedException {
        int length = Chunks.length(at, end);
        reader.read(at, chunk.clear().limit(length));
        int checksum = Crc32c.of(chunk.flip());
        chunk.limit(length + Chunks.CHECKSUM).putInt(length, checksum);
    }

    /** @param most bytes a second from now on; 0 for no limit */
    void limit(long most) {
        bandwidth.limit(most);
    }

    /** Cancels the requests that run. */
    @Override
    public void close() {
        listener.close();
    }
}

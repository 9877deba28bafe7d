package io.penstock.share;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsExchange;
import com.sun.net.httpserver.HttpsParameters;
import com.sun.net.httpserver.HttpsServer;
import io.penstock.cache.Urgency;
import io.penstock.core.ByteRange;
import io.penstock.core.Crc32c;
import io.penstock.core.Digests;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.prefetch.PageFetcher;
import io.penstock.prefetch.PeerReader;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.security.cert.CertificateEncodingException;
import java.time.Duration;
import java.util.HexFormat;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLPeerUnverifiedException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Gives other nodes bytes of the bucket, from the page cache or the store, never from a third node. Each request has a virtual
 * thread. The launcher sets the server's system properties, which the first server of the process reads.
 */
final class PeerServer implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(PeerServer.class);

    /** Connections that wait to be accepted: all nodes may begin at once. */
    private static final int BACKLOG = 256;

    /** Requests at once, 64 KiB of heap each. */
    private static final int REQUESTS = 256;

    /** The others are for demand alone. */
    private static final int READAHEAD_REQUESTS = 192;

    /** For a node that does not take what it has asked for. */
    private static final Duration SILENCE = Duration.ofSeconds(30);

    /** Beside a silence, for a whole response. */
    private static final Duration TRANSFER = Duration.ofMinutes(5);

    private static final int CLOSE_SECONDS = 10;

    private final String namespace;
    private final PageFetcher fetcher;
    private final ProvenNodes proven;
    private final Bandwidth bandwidth;
    private final ScheduledExecutorService clock;
    private final ShareCounters counters;
    private final OncePerMinute errors = new OncePerMinute(System::nanoTime);
    private final AtomicInteger running = new AtomicInteger();
    private final HttpServer server;
    private final ExecutorService threads = Executors.newThreadPerTaskExecutor(
            Thread.ofVirtual().name("share-", 0).factory());

    /** @param tls null for connections in the clear */
    PeerServer(
            ShareConfig config,
            @Nullable SSLContext tls,
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
        this.server = bind(config.listen(), tls);
        server.setExecutor(threads);
        server.createContext("/", this::handle);
        server.start();
    }

    private static HttpServer bind(InetSocketAddress listen, @Nullable SSLContext tls) throws ShareException {
        try {
            if (tls == null) {
                return HttpServer.create(listen, BACKLOG);
            }
            HttpsServer server = HttpsServer.create(listen, BACKLOG);
            server.setHttpsConfigurator(new HttpsConfigurator(tls) {
                @Override
                public void configure(HttpsParameters parameters) {
                    SSLParameters wanted = tls.getDefaultSSLParameters();
                    wanted.setProtocols(new String[] {GroupTls.PROTOCOL});
                    wanted.setNeedClientAuth(true);
                    parameters.setSSLParameters(wanted);
                }
            });
            return server;
        } catch (BindException e) {
            throw new ShareException(
                    "share.listen: " + GroupMember.address(listen)
                            + " is in use, or no address of this machine; name another",
                    e);
        } catch (IOException e) {
            throw new ShareException("share.listen: " + GroupMember.address(listen) + ": " + e, e);
        }
    }

    /** Throws what breaks a response: the server counts such a connection as open until its handler has failed. */
    private void handle(HttpExchange exchange) throws IOException {
        try (exchange) {
            int status = answer(exchange);
            if (status == PeerRequest.OK) {
                counters.requestsServed.increment();
            } else {
                counters.refused(status);
                exchange.sendResponseHeaders(status, -1);
            }
        } catch (IOException e) {
            LOG.debug("another node has ended its request, or did not get all of it", e);
            throw e;
        } catch (InterruptedException e) { // the group is closed, or the other node does not take it
            Thread.currentThread().interrupt();
            throw new InterruptedIOException();
        } catch (RuntimeException e) {
            if (errors.pass()) {
                LOG.error("a request of another node failed unexpectedly", e);
            }
            throw e;
        }
    }

    /** Sends the response, if it returns {@link PeerRequest#OK}; else nothing was sent. */
    private int answer(HttpExchange exchange) throws IOException, InterruptedException {
        if (!exchange.getRequestURI().getRawPath().equals(PeerRequest.PATH)) {
            return PeerRequest.UNKNOWN;
        }
        PeerRequest request;
        try {
            request = PeerRequest.parse(exchange.getRequestURI().getRawQuery());
        } catch (IllegalArgumentException e) {
            LOG.debug("another node has sent a request that is none", e);
            return PeerRequest.MALFORMED;
        }
        if (!request.namespace().equals(namespace)) {
            return PeerRequest.OTHER_BUCKET;
        }
        try {
            String proof = exchange.getRequestHeaders().getFirst(PeerRequest.PROOF);
            if (!proven.mayHave(name(exchange), proof, request.version().key())) {
                return PeerRequest.FORBIDDEN;
            }
        } catch (ProvenNodes.BusyException e) {
            return PeerRequest.BUSY;
        } catch (ObjectStoreException e) {
            LOG.debug("the right of another node cannot be checked", e);
            return PeerRequest.STORE_FAILED;
        }
        return serve(request, exchange);
    }

    /** A node is known by its certificate, or else by its address. */
    private static String name(HttpExchange exchange) throws SSLPeerUnverifiedException {
        if (!(exchange instanceof HttpsExchange encrypted)) {
            return exchange.getRemoteAddress().getAddress().getHostAddress();
        }
        try {
            byte[] certificate =
                    encrypted.getSSLSession().getPeerCertificates()[0].getEncoded();
            return HexFormat.of().formatHex(Digests.sha256().digest(certificate));
        } catch (CertificateEncodingException e) {
            throw new IllegalStateException(e); // it has been decoded
        }
    }

    private int serve(PeerRequest request, HttpExchange exchange) throws IOException, InterruptedException {
        int most = request.urgency() == Urgency.DEMAND ? REQUESTS : READAHEAD_REQUESTS;
        try {
            if (running.incrementAndGet() > most
                    || !bandwidth.pass(request.range().length(), request.urgency())) {
                return PeerRequest.BUSY;
            }
            return read(request, exchange);
        } finally {
            running.decrementAndGet();
        }
    }

    private int read(PeerRequest request, HttpExchange exchange) throws IOException, InterruptedException {
        ByteRange range = request.range();
        ByteBuffer chunk = ByteBuffer.allocate(Chunks.SIZE + Chunks.CHECKSUM);
        Thread self = Thread.currentThread();
        boolean begun = false;
        try (PeerReader reader = fetcher.openForPeer(request.version())) {
            counters.getsForPeers.add(reader.prepare(range.offset(), range.end(), request.urgency()));
            read(reader, range.offset(), range.end(), chunk);
            try (RequestTimer timer = new RequestTimer(clock, () -> SILENCE, TRANSFER, self::interrupt)) {
                begun = true;
                OutputStream body = begin(request, exchange);
                for (long at = range.offset(); at < range.end(); ) {
                    body.write(chunk.array(), 0, chunk.limit());
                    timer.progress();
                    at += chunk.limit() - Chunks.CHECKSUM;
                    counters.bytesServed.add(chunk.limit() - Chunks.CHECKSUM);
                    if (at < range.end()) {
                        read(reader, at, range.end(), chunk);
                        timer.progress();
                    }
                }
                body.close();
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

    private static OutputStream begin(PeerRequest request, HttpExchange exchange) throws IOException {
        ByteRange range = request.range();
        String contents = "bytes " + range.offset() + "-" + (range.end() - 1) + "/"
                + request.version().size();
        exchange.getResponseHeaders().set("Content-Range", contents);
        exchange.getResponseHeaders()
                .set(PeerRequest.IDENTITY, PeerRequest.encode(request.version().identity()));
        exchange.sendResponseHeaders(PeerRequest.OK, Chunks.bodyLength(range.offset(), range.end()));
        return exchange.getResponseBody();
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
        boolean interrupted = Thread.interrupted(); // which the server's stop would forget
        threads.shutdownNow();
        server.stop(0);
        try {
            if (!threads.awaitTermination(CLOSE_SECONDS, TimeUnit.SECONDS)) {
                LOG.warn("requests of other nodes did not end within {} s of being cancelled", CLOSE_SECONDS);
            }
        } catch (InterruptedException e) {
            interrupted = true;
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}

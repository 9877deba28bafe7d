package io.penstock.share;

import io.penstock.core.Digests;
import io.penstock.objectstore.http.RequestHead;
import io.penstock.objectstore.http.ServerConnection;
import java.io.IOException;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.security.cert.Certificate;
import java.security.cert.CertificateEncodingException;
import java.time.Duration;
import java.util.HexFormat;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The connections of other nodes, and of strangers: a virtual thread has each, and gives its requests to the handler one after
 * another. How many there are, how long a request is, and how long it is waited for have bounds.
 */
final class PeerListener implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(PeerListener.class);

    /** Connections that wait to be accepted: all nodes may begin at once. */
    private static final int BACKLOG = 256;

    /** For the next request, or the handshake and the first one. Nodes close what they have not used for 20 s. */
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    /** For a whole response. The handler has shorter bounds for those with bytes: this one is for refusals that are not taken. */
    private static final Duration RESPONSE = Duration.ofMinutes(6);

    private static final Duration PAUSE = Duration.ofMillis(100);

    private static final int CLOSE_SECONDS = 10;

    private final @Nullable SSLContext tls;
    private final int most;
    private final Handler handler;
    private final ScheduledExecutorService clock;
    private final ServerSocketChannel listening;
    private final Set<ServerConnection> open = ConcurrentHashMap.newKeySet();
    private final OncePerMinute errors = new OncePerMinute(System::nanoTime);
    private final ExecutorService threads = Executors.newThreadPerTaskExecutor(
            Thread.ofVirtual().name("share-", 0).factory());

    /** Serves requests. */
    interface Handler {
        /**
         * @param node its certificate or address
         * @return whether the connection can have another request
         */
        boolean handle(RequestHead request, String node, ServerConnection connection)
                throws IOException, InterruptedException;
    }

    /**
     * @param tls null for connections in the clear
     * @param most connections at a time; more are closed as they come, and half of them may wait for a next request
     */
    PeerListener(
            InetSocketAddress address,
            @Nullable SSLContext tls,
            int most,
            Handler handler,
            ScheduledExecutorService clock)
            throws ShareException {
        this.tls = tls;
        this.most = most;
        this.handler = handler;
        this.clock = clock;
        this.listening = bind(address);
        Thread.ofVirtual().name("share-accept").start(this::accept);
    }

    private static ServerSocketChannel bind(InetSocketAddress address) throws ShareException {
        try {
            ServerSocketChannel channel = ServerSocketChannel.open();
            try {
                return channel.bind(address, BACKLOG);
            } catch (IOException e) {
                channel.close();
                throw e;
            }
        } catch (BindException e) {
            throw new ShareException(
                    "share.listen: " + GroupMember.address(address)
                            + " is in use, or not an address of this machine; set another",
                    e);
        } catch (IOException e) {
            throw new ShareException("share.listen: " + GroupMember.address(address) + ": " + e, e);
        }
    }

    private void accept() {
        while (listening.isOpen()) {
            try {
                begin(listening.accept());
            } catch (ClosedChannelException e) {
                return;
            } catch (IOException e) { // such as too many open files
                if (errors.pass()) {
                    LOG.warn("other nodes cannot be served now: {}", e.toString());
                }
                pause();
            }
        }
    }

    private static void pause() {
        try {
            Thread.sleep(PAUSE);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // cannot happen: nobody interrupts this thread
        }
    }

    private void begin(SocketChannel socket) throws IOException {
        if (open.size() >= most) {
            socket.close();
            return;
        }
        ServerConnection connection;
        try {
            connection = new ServerConnection(socket, tls);
        } catch (IOException | RuntimeException e) { // it has broken already
            LOG.debug("a connection of another node cannot be served", e);
            socket.close();
            return;
        }
        open.add(connection);
        try {
            threads.execute(() -> serve(connection));
        } catch (RejectedExecutionException e) { // this is being closed
            end(connection);
        }
    }

    private void serve(ServerConnection connection) {
        try {
            String node = null;
            for (RequestHead request; (request = receive(connection)) != null; ) {
                node = node == null ? name(connection) : node;
                if (!respond(request, node, connection) || open.size() > most / 2) {
                    return;
                }
                letOthersRun();
            }
        } catch (IOException e) {
            LOG.debug("another node has ended its request, or did not get all of the response", e);
        } catch (InterruptedException e) { // the group is closed, or the other node does not take the response
            LOG.debug("a response to another node was abandoned", e);
        } catch (RuntimeException e) {
            if (errors.pass()) {
                LOG.error("a request of another node failed unexpectedly", e);
            }
        } finally {
            end(connection);
        }
    }

    /**
     * A connection with requests without a pause, and whose responses are taken, would occupy a processor permanently.
     */
    @SuppressWarnings("ThreadPriorityCheck") // virtual threads are not preempted
    private static void letOthersRun() {
        Thread.yield();
    }

    private @Nullable RequestHead receive(ServerConnection connection) throws IOException {
        Future<?> late = closeAfter(PATIENCE, connection);
        try {
            return connection.receive();
        } finally {
            late.cancel(false);
        }
    }

    private boolean respond(RequestHead request, String node, ServerConnection connection)
            throws IOException, InterruptedException {
        Future<?> late = closeAfter(RESPONSE, connection);
        try {
            return handler.handle(request, node, connection);
        } finally {
            late.cancel(false);
        }
    }

    private Future<?> closeAfter(Duration time, ServerConnection connection) {
        return clock.schedule(connection::close, time.toNanos(), TimeUnit.NANOSECONDS);
    }

    private void end(ServerConnection connection) {
        open.remove(connection);
        connection.close();
    }

    /** A node is known by its certificate, or else by its address. */
    private static String name(ServerConnection connection) throws IOException {
        Certificate certificate = connection.certificate();
        if (certificate == null) {
            return connection.address().getAddress().getHostAddress();
        }
        try {
            return HexFormat.of().formatHex(Digests.sha256().digest(certificate.getEncoded()));
        } catch (CertificateEncodingException e) {
            throw new IllegalStateException(e); // it has been decoded
        }
    }

    /** Cancels the requests that run. */
    @Override
    public void close() {
        boolean interrupted = Thread.interrupted(); // which would cut the wait short
        try {
            listening.close();
        } catch (IOException e) {
            LOG.debug("share.listen could not be closed", e);
        }
        threads.shutdownNow();
        open.forEach(ServerConnection::close);
        try {
            if (!threads.awaitTermination(CLOSE_SECONDS, TimeUnit.SECONDS)) {
                LOG.warn("Requests from other nodes did not end within {} s of being cancelled", CLOSE_SECONDS);
            }
        } catch (InterruptedException e) {
            interrupted = true;
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}

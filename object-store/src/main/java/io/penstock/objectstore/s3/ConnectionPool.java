package io.penstock.objectstore.s3;

import io.penstock.objectstore.Deadline;
import io.penstock.objectstore.http.HttpConnection;
import io.penstock.objectstore.http.Stalls;
import io.penstock.objectstore.http.Tls;
import io.penstock.objectstore.s3.S3Config.Limits;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Deque;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Keeps connections to one server for the next request. A thread closes those that have waited too long for bytes,
 * because a channel's read has no timeout. Safe for use by any number of threads.
 */
final class ConnectionPool implements AutoCloseable {
    /**
     * Servers close idle connections after some time, S3 after 20 s or less. A request on a closed connection must be
     * repeated.
     */
    private static final Duration LONGEST_IDLE = Duration.ofSeconds(5);

    /** Checks within the silence that counts as a stall: a stall is noticed at most one interval late. */
    private static final int CHECKS_OF_A_STALL = 4;

    /** The maximum delay until the pool notices the end of a call's deadline or of a connection's idle time. */
    private static final Duration CHECK_INTERVAL = Duration.ofSeconds(1);

    private final ServerAddresses addresses;
    private final int port;
    private final @Nullable Tls tls;
    private final Duration connectTimeout;
    private final Duration readTimeout;
    private final Semaphore permits;
    private final Set<HttpConnection> used = ConcurrentHashMap.newKeySet();

    /** The most recently used connection comes first. */
    private final Deque<HttpConnection> idle = new ConcurrentLinkedDeque<>();

    private final Stalls stalls = new Stalls();
    private final Thread watch;

    /** Set by the watch if no connection was in use at its last look, so that its next look is late. */
    private volatile boolean watchRests;

    private volatile boolean closed;

    /** @param tls null for unencrypted connections */
    ConnectionPool(ServerAddresses addresses, int port, @Nullable Tls tls, Limits limits) {
        this.addresses = addresses;
        this.port = port;
        this.tls = tls;
        this.connectTimeout = limits.connectTimeout();
        this.readTimeout = limits.readTimeout();
        this.permits = new Semaphore(limits.connections());
        this.watch = Thread.ofVirtual().name("connections").start(this::watch);
    }

    /** A connection for one request. Waits while the maximum number of connections is in use. */
    HttpConnection take() throws IOException, InterruptedException {
        Deadline.acquire(permits);
        HttpConnection connection = null;
        try {
            connection = idle();
            if (connection == null) {
                connection = connect();
            }
            used.add(connection);
            if (watchRests) {
                LockSupport.unpark(watch);
            }
        } finally {
            if (connection == null) {
                permits.release();
            }
        }
        if (closed) {
            end(connection);
            throw new IOException("the connections were closed");
        }
        return connection;
    }

    private HttpConnection connect() throws IOException {
        IOException failure = new IOException("the connections were closed");
        Deadline call = Deadline.current();
        for (InetAddress address : addresses.next()) {
            if (closed) {
                break;
            }
            try {
                Duration timeout = call == null ? connectTimeout : call.atMost(connectTimeout);
                HttpConnection connection =
                        new HttpConnection(new InetSocketAddress(address, port), tls, timeout, readTimeout);
                addresses.succeeded(address);
                return connection;
            } catch (IOException e) {
                failure = e;
                if (Thread.currentThread().isInterrupted()) {
                    break; // the interrupt closed it, which proves nothing about the address
                }
                addresses.failed(address);
                if (call != null && call.isCut()) {
                    break;
                }
            }
        }
        throw failure;
    }

    /** How long responses to GETs take, and which GETs are repeated. */
    Stalls stalls() {
        return stalls;
    }

    /** Takes back a connection whose response was read to the end. */
    void giveBack(HttpConnection connection) {
        if (used.remove(connection)) {
            connection.release();
            idle.push(connection);
            permits.release();
        }
        if (closed) {
            closeIdle();
        }
    }

    /** Closes a connection whose response was not read to the end, or which is not reusable. */
    void end(HttpConnection connection) {
        connection.close();
        if (used.remove(connection)) {
            permits.release();
        }
    }

    /** Closes all connections, including those in use. */
    @Override
    public void close() {
        closed = true;
        LockSupport.unpark(watch);
        used.forEach(this::end);
        closeIdle();
    }

    private @Nullable HttpConnection idle() {
        HttpConnection connection;
        while ((connection = idle.poll()) != null) {
            if (!isStale(connection, System.nanoTime()) && connection.isReusable()) {
                return connection;
            }
            connection.close();
        }
        return null;
    }

    private void closeIdle() {
        HttpConnection connection;
        while ((connection = idle.poll()) != null) {
            connection.close();
        }
    }

    /** Closes connections that have waited too long for bytes, and idle ones that are too old to be used again. */
    void closeLate(long now) {
        used.forEach(connection -> {
            connection.closeIfLate(now);
            connection.closeIfStalled(now, stalls);
        });
        HttpConnection oldest;
        while ((oldest = idle.peekLast()) != null && isStale(oldest, now)) {
            if (idle.removeLastOccurrence(oldest)) { // otherwise another thread has taken it
                oldest.close();
            }
        }
    }

    private static boolean isStale(HttpConnection connection, long now) {
        return connection.idle(now) >= LONGEST_IDLE.toNanos();
    }

    private void watch() {
        long longest = Math.min(readTimeout.toNanos() / 4, CHECK_INTERVAL.toNanos());
        while (!closed) {
            watchRests = true; // before it checks whether one is in use
            if (used.isEmpty()) {
                LockSupport.parkNanos(longest);
            }
            watchRests = false;
            LockSupport.parkNanos(Math.min(longest, stalls.longest() / CHECKS_OF_A_STALL));
            closeLate(System.nanoTime());
        }
    }
}

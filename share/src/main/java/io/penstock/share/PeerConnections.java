package io.penstock.share;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.objectstore.http.HttpConnection;
import io.penstock.objectstore.http.Tls;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The connections to one node: those in use, and idle ones for reuse. Safe for use by any number of threads. */
final class PeerConnections implements AutoCloseable {
    /**
     * About as many as a mount that reads small files has in flight to one of two others: a closed connection soon
     * costs another handshake. 16 KiB of memory each, plus TLS state.
     */
    private static final int MOST_IDLE = 64;

    /** The other node's server closes connections that have been idle for 30 s. */
    private static final Duration LONGEST_IDLE = Duration.ofSeconds(20);

    private final InetSocketAddress address;
    private final @Nullable Tls tls;

    @GuardedBy("this")
    private final Set<HttpConnection> used = new HashSet<>();

    /** The most recently used one first. */
    @GuardedBy("this")
    private final Deque<HttpConnection> idle = new ArrayDeque<>();

    @GuardedBy("this")
    private boolean closed;

    /** @param tls null for connections in the clear */
    PeerConnections(InetSocketAddress address, @Nullable Tls tls) {
        this.address = address;
        this.tls = tls;
    }

    /** An idle connection for another request, which must be {@linkplain #giveBack given back}; null for none. */
    @Nullable
    HttpConnection takeIdle() {
        HttpConnection connection;
        while ((connection = pollIdle()) != null && !connection.isReusable()) {
            giveBack(connection, false);
        }
        return connection;
    }

    /**
     * A new connection for one request, which must be {@linkplain #giveBack given back}.
     *
     * @throws IOException if the node cannot be reached in time, or this object is closed
     */
    HttpConnection connect(Duration connectTimeout) throws IOException {
        synchronized (this) {
            if (closed) {
                throw new IOException("the group is closed, or the node has left it");
            }
        }
        HttpConnection connection = new HttpConnection(address, tls, connectTimeout, connectTimeout);
        synchronized (this) {
            used.add(connection);
            if (closed) {
                connection.close(); // like the others in use
            }
        }
        return connection;
    }

    private synchronized @Nullable HttpConnection pollIdle() {
        HttpConnection connection = idle.poll();
        if (connection != null) {
            used.add(connection);
        }
        return connection;
    }

    /** @param isReusable whether the whole response was received */
    void giveBack(HttpConnection connection, boolean isReusable) {
        synchronized (this) {
            used.remove(connection);
            if (isReusable && !closed && idle.size() < MOST_IDLE) {
                idle.push(connection);
                return;
            }
        }
        connection.close();
    }

    /**
     * Closes connections that have been idle for too long.
     *
     * @param now {@link System#nanoTime}
     */
    synchronized void closeLate(long now) {
        while (!idle.isEmpty() && idle.getLast().idle(now) >= LONGEST_IDLE.toNanos()) {
            idle.removeLast().close();
        }
    }

    /** Closes all connections, including those in use. */
    @Override
    public synchronized void close() {
        closed = true;
        used.forEach(HttpConnection::close);
        idle.forEach(HttpConnection::close);
        idle.clear();
    }

    /** The number of open connections. */
    synchronized int count() {
        return used.size() + idle.size();
    }
}

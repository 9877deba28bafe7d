package io.penstock.share;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.objectstore.HttpConnection;
import io.penstock.objectstore.Tls;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The connections to one node: those in use, and some that wait for the next request. Safe for use by any number of threads. */
final class PeerConnections implements AutoCloseable {
    /**
     * About as many as a mount that reads small files has under way from one of two others: a closed connection costs a
     * handshake soon after. 16 KiB of memory each, and what TLS keeps.
     */
    private static final int MOST_IDLE = 64;

    /** The other node's server closes connections that have been idle for 30 s. */
    private static final Duration LONGEST_IDLE = Duration.ofSeconds(20);

    private final InetSocketAddress address;
    private final @Nullable Tls tls;

    @GuardedBy("this")
    private final Set<HttpConnection> used = new HashSet<>();

    /** The one used last is first. */
    @GuardedBy("this")
    private final Deque<HttpConnection> idle = new ArrayDeque<>();

    @GuardedBy("this")
    private boolean closed;

    /** @param tls null for connections in the clear */
    PeerConnections(InetSocketAddress address, @Nullable Tls tls) {
        this.address = address;
        this.tls = tls;
    }

    /** A connection of an earlier request for one more, which must be {@linkplain #giveBack given back}; null if none is idle. */
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
     * @throws IOException if the node cannot be reached in time, or these are closed
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
                connection.close(); // as the others in use
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

    /** @param isReusable whether the response was received as a whole */
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
     * Closes those that have been idle for long.
     *
     * @param now {@link System#nanoTime}
     */
    synchronized void closeLate(long now) {
        while (!idle.isEmpty() && idle.getLast().idle(now) >= LONGEST_IDLE.toNanos()) {
            idle.removeLast().close();
        }
    }

    /** Those in use, too. */
    @Override
    public synchronized void close() {
        closed = true;
        used.forEach(HttpConnection::close);
        idle.forEach(HttpConnection::close);
        idle.clear();
    }

    /** All that are open. */
    synchronized int count() {
        return used.size() + idle.size();
    }
}

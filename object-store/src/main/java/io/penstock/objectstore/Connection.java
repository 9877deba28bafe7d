package io.penstock.objectstore;

import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ByteChannel;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * One HTTP/1.1 connection for requests, one after another. Bytes of answers go from the socket straight into the target.
 * An interrupt closes it at once. Used by one thread at a time; any may {@link #close} it.
 */
final class Connection implements AutoCloseable {
    private static final int LONGEST_HEAD = 16 << 10;

    /** Bytes of a body that are read and then sent at once: what the processor's cache holds in between. */
    private static final int CHUNK = 128 << 10;

    private final SocketChannel socket;

    /** The socket, or what encrypts to it. */
    private final ByteChannel channel;

    private final Duration readTimeout;

    /** What has been received of the answer's first lines, and what came with them. */
    private final ByteBuffer received = ByteBuffer.allocateDirect(LONGEST_HEAD).limit(0);

    /** Of a body that is sent. Outside the heap: what is sent from the heap is copied once more. */
    private @Nullable ByteBuffer chunk;

    /** {@link System#nanoTime} after which who waits for bytes has waited too long. Written by the user, read by any. */
    private volatile long deadline;

    private volatile boolean timedOut;

    /**
     * @param tls null for none; hands are shaken with the first request
     * @throws IOException if the server cannot be reached in time
     */
    Connection(InetSocketAddress server, @Nullable Tls tls, Duration connectTimeout, Duration readTimeout)
            throws IOException {
        this.readTimeout = readTimeout;
        this.socket = SocketChannel.open();
        touch();
        try {
            socket.setOption(StandardSocketOptions.TCP_NODELAY, true);
            socket.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
            socket.socket().connect(server, Math.toIntExact(connectTimeout.toMillis()));
            this.channel = tls == null ? socket : tls.over(socket);
        } catch (IOException | RuntimeException e) {
            socket.close();
            throw e;
        }
    }

    /** Sends a request and returns the first lines of its answer; {@link #read} reads the body. */
    ResponseHead ask(byte[] request) throws IOException {
        return send(request, BodyReader.NOTHING, 0);
    }

    /**
     * The same with a body.
     *
     * @param body all of it is sent
     * @param length of the body in bytes
     */
    ResponseHead send(byte[] request, BodyReader body, long length) throws IOException {
        touch();
        try {
            write(ByteBuffer.wrap(request));
            for (long sent = 0; sent < length; sent += CHUNK) {
                ByteBuffer part = chunk().clear().limit((int) Math.min(CHUNK, length - sent));
                body.read(sent, part);
                write(part.flip());
            }
            return receiveAnswer();
        } catch (AsynchronousCloseException e) {
            throw explain(e);
        }
    }

    private ByteBuffer chunk() {
        if (chunk == null) {
            chunk = ByteBuffer.allocateDirect(CHUNK);
        }
        return chunk;
    }

    private void write(ByteBuffer bytes) throws IOException {
        while (bytes.hasRemaining()) {
            channel.write(bytes);
            touch();
        }
    }

    private ResponseHead receiveAnswer() throws IOException {
        received.clear();
        int end;
        for (int looked = 0; (end = endOfHead(looked)) < 0; ) {
            looked = Math.max(0, received.position() - 3);
            receiveHead();
        }
        byte[] head = new byte[end];
        received.flip().get(head).position(end + 4);
        return ResponseHead.parse(head, end);
    }

    private void receiveHead() throws IOException {
        if (!received.hasRemaining()) {
            throw new IOException("the answer's headers are longer than " + LONGEST_HEAD + " bytes");
        }
        if (channel.read(received) < 0) {
            throw new EOFException("the server closed the connection instead of answering");
        }
        touch();
    }

    /** Where the empty line begins that ends the head, if that has been received. */
    private int endOfHead(int from) {
        for (int i = from; i + 4 <= received.position(); i++) {
            if (received.getInt(i) == 0x0d0a0d0a) {
                return i;
            }
        }
        return -1;
    }

    /** Puts up to this many bytes of the body at the target's position; -1 if the server has closed the connection. */
    int read(ByteBuffer target, int wanted) throws IOException {
        if (received.hasRemaining()) {
            int taken = Math.min(wanted, received.remaining());
            target.put(received.slice(received.position(), taken));
            received.position(received.position() + taken);
            return taken;
        }
        int limit = target.limit();
        target.limit(target.position() + wanted);
        touch();
        try {
            return channel.read(target);
        } catch (AsynchronousCloseException e) {
            throw explain(e);
        } finally {
            target.limit(limit);
        }
    }

    /** Whether the server has sent more than was read, as far as is known; it must not have. */
    boolean hasUnread() {
        return received.hasRemaining();
    }

    /** Closes it if its user has waited too long. */
    void closeIfLate(long now) {
        if (now - deadline > 0) {
            timedOut = true;
            close();
        }
    }

    /** How long it has not been used, in nanoseconds. */
    long idle(long now) {
        return now - deadline + readTimeout.toNanos();
    }

    @Override
    public void close() {
        try {
            socket.close(); // a farewell by TLS would wait for whoever writes or reads
        } catch (IOException _) {
            // Nothing more is sent or read by it, whatever the reason.
        }
    }

    private void touch() {
        deadline = System.nanoTime() + readTimeout.toNanos();
    }

    private IOException explain(AsynchronousCloseException e) {
        return timedOut && !(e instanceof ClosedByInterruptException)
                ? new SocketTimeoutException("no byte came for " + readTimeout.toMillis() + " ms")
                : e;
    }
}

package io.penstock.objectstore.http;

import io.penstock.core.NativeMemory;
import io.penstock.objectstore.Deadline;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ByteChannel;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * One HTTP/1.1 connection for consecutive requests. Bytes of bodies go from the socket straight into the target. An
 * interrupt closes it immediately. One thread at a time uses it; any thread may {@link #close} it.
 */
public final class HttpConnection implements AutoCloseable {
    /** A proxy sends one or two interim responses. */
    private static final int MAX_INTERIM = 8;

    /** The lowest status of an unsuccessful response (RFC 9110, section 15). */
    private static final int FIRST_REFUSAL = 300;

    /** Bytes of a body that are read and then sent in one piece, small enough to stay in the processor's cache. */
    private static final int CHUNK = 128 << 10;

    private final SocketChannel socket;

    /** The socket, or the TLS channel over it. */
    private final ByteChannel channel;

    private final Duration readTimeout;

    /** The received part of a response's head, and the bytes that came with it. */
    private final ByteBuffer received;

    /** Buffer for sending a body, outside the heap: the JDK would copy bytes on the heap again. */
    private @Nullable ByteBuffer chunk;

    /**
     * {@link System#nanoTime} after which a wait for bytes has lasted too long. Written by the user, read by any
     * thread.
     */
    private volatile long deadline;

    /** The deadline of the call whose request the connection carries; null if it carries none. */
    private volatile @Nullable Deadline call;

    private volatile boolean timedOut;

    /** How often this request was {@linkplain Stalls asked again} before; -1 if it may not be. */
    private volatile int askedAgain = -1;

    /** Whether its user is waiting for bytes from the server, and doing nothing else. */
    private volatile boolean waiting;

    private volatile boolean stalled;

    /** {@link System#nanoTime} of the last request's last byte. Confined to the user. */
    private long sentAt;

    /** Confined to the user. */
    private boolean sent;

    /** Provides the bytes of a request's body. */
    @FunctionalInterface
    public interface Body {
        /**
         * Fills the remaining space of {@code target}.
         *
         * @param offset of the first byte to read
         * @throws RuntimeException if the bytes cannot be read; an {@link IOException} would mean a network failure
         */
        void read(long offset, ByteBuffer target);
    }

    /**
     * A response to a GET has sent nothing for some time: the missing bytes must be requested on another connection
     * now.
     */
    public static final class StalledException extends IOException {
        private static final long serialVersionUID = 1;

        StalledException() {
            super("the response stalled; the request is repeated");
        }
    }

    /**
     * @param tls null for none; the first request makes the handshake
     * @param readTimeout for {@link #closeIfLate}
     * @throws IOException if the server cannot be reached in time
     */
    public HttpConnection(InetSocketAddress server, @Nullable Tls tls, Duration connectTimeout, Duration readTimeout)
            throws IOException {
        this.readTimeout = readTimeout;
        this.received = memory(HttpHead.LONGEST).limit(0);
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

    /** Sends a request and returns the head of its response; {@link #read} reads the body. */
    public ResponseHead send(byte[] request) throws IOException {
        return send(request, (_, _) -> {}, 0);
    }

    /**
     * The same for a GET, which can be asked again if its response stalls.
     *
     * @param before how often it was asked again before
     * @throws StalledException if it must be asked again; also from {@link #read}
     */
    public ResponseHead send(byte[] get, int before) throws IOException {
        askedAgain = before;
        return send(get);
    }

    /**
     * Sends a request with a body and returns the head of its response.
     *
     * @param body sent completely, unless the server responds and closes the connection first
     * @param length of the body in bytes
     */
    public ResponseHead send(byte[] request, Body body, long length) throws IOException {
        sent = false;
        call = Deadline.current();
        touch();
        try {
            IOException broken = write(ByteBuffer.wrap(request));
            for (long at = 0; at < length && broken == null; at += CHUNK) {
                ByteBuffer part = chunk().clear().limit((int) Math.min(CHUNK, length - at));
                body.read(at, part);
                broken = write(part.flip());
            }
            sentAt = System.nanoTime();
            sent = broken == null;
            return broken == null ? receiveHead() : receiveEarlyResponse(broken);
        } catch (ClosedChannelException e) {
            throw explain(e);
        }
    }

    /** Whether the server may have received the whole last request: connection and handshake worked until then. */
    public boolean isSent() {
        return sent;
    }

    /** Nanoseconds since the last request was sent. */
    public long sinceSent() {
        return System.nanoTime() - sentAt;
    }

    private ByteBuffer chunk() throws IOException {
        if (chunk == null) {
            chunk = memory(CHUNK);
        }
        return chunk;
    }

    /** The buffer memory of all connections, outside the heap. */
    static ByteBuffer memory(int bytes) throws IOException {
        try {
            return NativeMemory.allocate(NativeMemory.Share.CONNECTIONS, bytes, 1);
        } catch (NativeMemory.UsedUpException e) {
            throw new IOException(e.getMessage(), e); // others may return some, so the request is retried
        }
    }

    /** @return the exception that broke the connection; null if all was sent */
    private @Nullable IOException write(ByteBuffer bytes) throws ClosedChannelException {
        try {
            while (bytes.hasRemaining()) {
                channel.write(bytes);
                touch();
            }
            return null;
        } catch (ClosedChannelException e) {
            throw e; // closed by an interrupt, the read timeout or the end of the mount: no response will come
        } catch (IOException e) {
            return e;
        }
    }

    /** A server that refuses a request may respond and close the connection before it has received the whole body. */
    private ResponseHead receiveEarlyResponse(IOException broken) throws IOException {
        ResponseHead head;
        try {
            head = receiveHead();
        } catch (IOException e) {
            broken.addSuppressed(e);
            throw broken;
        }
        if (head.status() < FIRST_REFUSAL) {
            throw broken; // a success cannot follow a part of a request
        }
        return head;
    }

    /** The head of the final response. Skips interim responses (RFC 9110, section 15.2), which come before it. */
    private ResponseHead receiveHead() throws IOException {
        received.clear().limit(0);
        for (int heads = 0; heads <= MAX_INTERIM; heads++) {
            ResponseHead head = nextHead();
            if (!head.isInterim()) {
                return head;
            }
        }
        throw new IOException("more than " + MAX_INTERIM + " interim responses");
    }

    /** Leaves in {@link #received} the bytes that came after the head. */
    private ResponseHead nextHead() throws IOException {
        byte[] head = HttpHead.receive(received, this::receiveMore);
        if (head == null) {
            throw new EOFException("the server closed the connection before it responded");
        }
        return ResponseHead.parse(head);
    }

    private int receiveMore(ByteBuffer target) throws IOException {
        int bytes = receive(target);
        touch();
        return bytes;
    }

    private int receive(ByteBuffer target) throws IOException {
        waiting = true;
        try {
            return channel.read(target);
        } finally {
            waiting = false;
        }
    }

    /** Puts up to this many bytes of the body at the target's position; -1 if the server has closed the connection. */
    public int read(ByteBuffer target, int wanted) throws IOException {
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
            return receive(target);
        } catch (ClosedChannelException e) {
            throw explain(e);
        } finally {
            target.limit(limit);
        }
    }

    /**
     * Whether another request may follow: the connection is open and has no unrequested bytes, which would be taken for
     * the next response. Never waits.
     */
    public boolean isReusable() {
        if (received.hasRemaining()) {
            return false;
        }
        try {
            socket.configureBlocking(false);
            try {
                return channel.read(received.clear()) == 0;
            } finally {
                received.limit(0);
                socket.configureBlocking(true);
            }
        } catch (IOException _) {
            return false;
        }
    }

    /** Ends the use of the connection until the next request. */
    public void release() {
        call = null;
        askedAgain = -1;
    }

    /**
     * Closes the connection if its user has waited much longer than usual for bytes of a GET that may be asked again.
     * The limit doubles each time that the GET was asked again.
     */
    public void closeIfStalled(long now, Stalls usual) {
        int before = askedAgain;
        if (stalled || timedOut) {
            return; // its user has not noticed yet
        }
        if (before >= 0 && waiting && idle(now) >> before > usual.longest() && usual.mayAskAgain()) {
            stalled = true;
            close();
        }
    }

    /** Closes the connection if its user has waited too long. */
    public void closeIfLate(long now) {
        Deadline ofCall = call;
        if (now - deadline > 0 || (ofCall != null && ofCall.endsSilence(idle(now)))) {
            timedOut = true;
            close();
        }
    }

    /**
     * How long the connection has been idle, in nanoseconds.
     *
     * @param now {@link System#nanoTime}
     */
    public long idle(long now) {
        return now - deadline + readTimeout.toNanos();
    }

    @Override
    public void close() {
        try {
            channel.close(); // without a TLS close alert, which would wait for the thread that writes or reads
        } catch (IOException _) {
            // Nothing more is sent or read on it, whatever the reason.
        }
    }

    private void touch() {
        deadline = System.nanoTime() + readTimeout.toNanos();
    }

    private IOException explain(ClosedChannelException e) {
        if (e instanceof ClosedByInterruptException) {
            return e;
        } else if (timedOut) {
            return new SocketTimeoutException("no byte arrived in time");
        }
        return stalled ? new StalledException() : e;
    }
}

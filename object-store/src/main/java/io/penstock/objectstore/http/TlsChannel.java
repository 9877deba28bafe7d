package io.penstock.objectstore.http;

import io.penstock.core.NativeMemory;
import io.penstock.core.SpareBuffers;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ByteChannel;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SocketChannel;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLEngineResult.HandshakeStatus;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/**
 * TLS over a socket. Its first use makes the handshake. Records are decrypted straight into the target, as long as it
 * has room for a whole one. One thread at a time uses it; any thread may close the socket, which ends it.
 *
 * <p>If the socket ends without the closing alert, that reads as an end of the stream: readers know from the length of
 * a body whether it is complete.
 */
final class TlsChannel implements ByteChannel {
    /** Records received or sent by one system call. */
    private static final int RECORDS = 4;

    /** Bytes of the longest record (RFC 5246, section 6.2.3; later versions have shorter ones). */
    private static final int LONGEST = (16 << 10) + 2_048 + 5;

    private static final SpareBuffers SPARE = new SpareBuffers(NativeMemory.Share.CONNECTIONS, RECORDS * LONGEST);

    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

    private final SocketChannel socket;
    private final SSLEngine engine;
    private final boolean isNative;

    /** Received records, ready to be read. */
    private final ByteBuffer received;

    /** Decrypted bytes for which a target had no room, ready to be read. */
    private final ByteBuffer decrypted;

    /** Records to send, ready to be filled; null if there are none, so that others can use the buffer. */
    private @Nullable ByteBuffer sent;

    private boolean isShaken;

    private TlsChannel(
            SocketChannel socket, SSLEngine engine, boolean isNative, ByteBuffer received, ByteBuffer decrypted) {
        this.socket = socket;
        this.engine = engine;
        this.isNative = isNative;
        this.received = received.limit(0);
        this.decrypted = decrypted.limit(0);
    }

    /**
     * A channel that receives much.
     *
     * @param isNative whether the engine reads and writes memory outside the heap without a copy, and uses such memory
     */
    static TlsChannel ofClient(SocketChannel socket, SSLEngine engine, boolean isNative) throws IOException {
        return new TlsChannel(
                socket,
                engine,
                isNative,
                memory(isNative, RECORDS * packet(engine)),
                memory(isNative, engine.getSession().getApplicationBufferSize()));
    }

    /** A channel that receives requests, on the heap: strangers may open more than the budget outside it allows. */
    static TlsChannel ofServer(SocketChannel socket, SSLEngine engine, boolean isNative) {
        return new TlsChannel(
                socket,
                engine,
                isNative,
                ByteBuffer.allocate(packet(engine)),
                ByteBuffer.allocate(engine.getSession().getApplicationBufferSize()));
    }

    private static int packet(SSLEngine engine) {
        return engine.getSession().getPacketBufferSize();
    }

    /** Java's ciphers first copy bytes that are off the heap, native ones those that are on it. */
    private static ByteBuffer memory(boolean isNative, int bytes) throws IOException {
        return isNative ? HttpConnection.memory(bytes) : ByteBuffer.allocate(bytes);
    }

    /** @return 0 if the socket does not block and has no whole record */
    @Override
    public int read(ByteBuffer target) throws IOException {
        try {
            shakeHands();
            return readRecords(target);
        } catch (SSLException e) {
            throw alerted(e);
        }
    }

    private int readRecords(ByteBuffer target) throws IOException {
        int before = target.position();
        while (target.hasRemaining()) {
            if (decrypted.hasRemaining()) {
                int length = Math.min(target.remaining(), decrypted.remaining());
                target.put(decrypted.slice(decrypted.position(), length));
                decrypted.position(decrypted.position() + length);
                continue;
            }
            SSLEngineResult result = unwrap(target);
            switch (result.getStatus()) {
                case CLOSED -> {
                    if (!socket.isOpen()) {
                        throw new ClosedChannelException();
                    }
                    return target.position() > before ? target.position() - before : -1;
                }
                case BUFFER_UNDERFLOW -> {
                    int read = target.position() > before ? 0 : receive();
                    if (read <= 0) {
                        return read < 0 ? -1 : target.position() - before;
                    }
                }
                case BUFFER_OVERFLOW -> throw new SSLException("a TLS record is longer than TLS allows");
                case OK -> proceed(result.getHandshakeStatus());
            }
        }
        return target.position() - before;
    }

    /** Decrypts one record, into the target if that surely has room for it. */
    private SSLEngineResult unwrap(ByteBuffer target) throws SSLException {
        if (target.remaining() >= decrypted.capacity()) {
            return engine.unwrap(received, target);
        }
        decrypted.clear();
        try {
            return engine.unwrap(received, decrypted);
        } finally {
            decrypted.flip();
        }
    }

    /** @return the number of bytes received; -1 at the end */
    private int receive() throws IOException {
        received.compact();
        try {
            if (!received.hasRemaining()) {
                throw new SSLException("a TLS record is longer than TLS allows");
            }
            return socket.read(received);
        } finally {
            received.flip();
        }
    }

    @Override
    public int write(ByteBuffer source) throws IOException {
        int before = source.position();
        try {
            shakeHands();
            while (source.hasRemaining()) {
                proceed(wrap(source));
            }
        } catch (SSLException e) {
            throw alerted(e);
        }
        flush();
        return source.position() - before;
    }

    /** Encrypts one record. If there is no room for it, first sends those before it. */
    private HandshakeStatus wrap(ByteBuffer source) throws IOException {
        SSLEngineResult result = engine.wrap(source, sent());
        switch (result.getStatus()) {
            case BUFFER_OVERFLOW -> flush();
            case CLOSED -> {
                flush();
                throw socket.isOpen()
                        ? new EOFException("the server ended the TLS connection")
                        : new ClosedChannelException();
            }
            case OK, BUFFER_UNDERFLOW -> {}
        }
        return result.getHandshakeStatus();
    }

    private ByteBuffer sent() throws IOException {
        if (sent == null) {
            try {
                sent = isNative ? SPARE.take() : ByteBuffer.allocate(RECORDS * packet(engine));
            } catch (NativeMemory.UsedUpException e) {
                throw new IOException(e.getMessage(), e);
            }
        }
        return sent;
    }

    private void flush() throws IOException {
        ByteBuffer records = sent();
        records.flip();
        try {
            while (records.hasRemaining()) {
                if (socket.write(records) == 0) {
                    throw new IOException("the socket accepts no bytes now"); // it does not block
                }
            }
        } finally {
            records.compact();
        }
        sent = null;
        if (isNative) { // not after an exception: a thread that has not noticed the end may be using the buffer
            SPARE.giveBack(records);
        }
    }

    private void shakeHands() throws IOException {
        if (!isShaken) {
            engine.beginHandshake();
            proceed(engine.getHandshakeStatus());
            isShaken = true;
        }
    }

    /** Does what the engine needs before bytes can be transferred. */
    private void proceed(HandshakeStatus needed) throws IOException {
        HandshakeStatus next = needed;
        while (next != HandshakeStatus.NOT_HANDSHAKING
                && next != HandshakeStatus.FINISHED
                && !decrypted.hasRemaining()) { // these must be read first
            next = switch (next) {
                case NEED_TASK -> runTasks();
                case NEED_WRAP -> {
                    HandshakeStatus after = wrap(NOTHING);
                    flush();
                    yield after;
                }
                default -> receiveHandshake();
            };
        }
    }

    private HandshakeStatus runTasks() {
        for (Runnable task; (task = engine.getDelegatedTask()) != null; ) {
            task.run();
        }
        return engine.getHandshakeStatus();
    }

    private HandshakeStatus receiveHandshake() throws IOException {
        SSLEngineResult result = unwrap(NOTHING);
        switch (result.getStatus()) {
            case BUFFER_UNDERFLOW -> {
                if (receive() <= 0) {
                    throw new EOFException("the server ended the connection during the TLS handshake");
                }
            }
            case BUFFER_OVERFLOW -> throw new SSLException("a TLS record is longer than TLS allows");
            case CLOSED -> throw new EOFException("the server ended the TLS connection");
            case OK -> {}
        }
        return result.getHandshakeStatus();
    }

    /** Sends the reason to the other side, if the socket accepts it. */
    private SSLException alerted(SSLException failure) {
        try {
            engine.wrap(NOTHING, sent());
            flush();
        } catch (IOException e) {
            failure.addSuppressed(e);
        }
        return failure;
    }

    @Override
    public boolean isOpen() {
        return socket.isOpen();
    }

    /** Closes the socket, and frees a native engine's memory, which the garbage collector would free too late. */
    @Override
    public void close() throws IOException {
        socket.close();
        if (isNative) {
            engine.closeOutbound();
            engine.closeInbound();
            engine.wrap(
                    NOTHING, ByteBuffer.allocate(engine.getSession().getPacketBufferSize())); // the alert is not sent
        }
    }
}

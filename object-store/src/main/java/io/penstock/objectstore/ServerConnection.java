package io.penstock.objectstore;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ByteChannel;
import java.nio.channels.SocketChannel;
import java.security.cert.Certificate;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLPeerUnverifiedException;
import org.jspecify.annotations.Nullable;

/**
 * The serving side of an HTTP/1.1 connection: requests without bodies, one after another. It waits for as long as the other side
 * likes: whoever uses it closes it in time. An interrupt closes it at once. One thread at a time uses it; any thread may
 * {@link #close} it.
 *
 * <p>Public for connections between nodes.
 */
public final class ServerConnection implements AutoCloseable {
    /** Earlier versions show certificates to whoever listens. */
    private static final String[] PROTOCOLS = {"TLSv1.3"};

    private final SocketChannel socket;
    private final @Nullable SSLEngine engine;

    /** The socket, or the TLS channel over it. */
    private final ByteChannel channel;

    /** The received part of a request's head, and the bytes that came with it. */
    private final ByteBuffer received = ByteBuffer.allocate(HttpHead.LONGEST).limit(0);

    /**
     * @param socket accepted, and closed with this
     * @param tls null for a connection in the clear; with it the other side must show a certificate that this trusts
     */
    public ServerConnection(SocketChannel socket, @Nullable SSLContext tls) throws IOException {
        this.socket = socket;
        socket.setOption(StandardSocketOptions.TCP_NODELAY, true);
        socket.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
        if (tls == null) {
            engine = null;
            channel = socket;
        } else {
            engine = tls.createSSLEngine();
            engine.setUseClientMode(false);
            engine.setEnabledProtocols(PROTOCOLS);
            engine.setNeedClientAuth(true);
            channel = TlsChannel.ofServer(socket, engine, TlsEngine.isNative(tls));
        }
    }

    /** The next request, before the first of which comes the handshake; null if the other side has closed the connection. */
    public @Nullable RequestHead receive() throws IOException {
        byte[] head = HttpHead.receive(received, channel::read);
        return head == null ? null : RequestHead.parse(head);
    }

    /** Sends all that the buffer has left. */
    public void send(ByteBuffer bytes) throws IOException {
        while (bytes.hasRemaining()) {
            channel.write(bytes);
        }
    }

    /** The other side's certificate, after the first request; null in the clear. */
    public @Nullable Certificate certificate() throws SSLPeerUnverifiedException {
        return engine == null ? null : engine.getSession().getPeerCertificates()[0];
    }

    /** The other side's address. */
    public InetSocketAddress address() throws IOException {
        return (InetSocketAddress) socket.getRemoteAddress();
    }

    @Override
    public void close() {
        try {
            channel.close();
        } catch (IOException _) {
            // Nothing more is sent or read on it, whatever the reason.
        }
    }
}

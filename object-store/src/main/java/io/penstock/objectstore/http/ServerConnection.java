package io.penstock.objectstore.http;

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
 * The serving side of an HTTP/1.1 connection: consecutive requests without bodies. It waits as long as the client
 * likes, so its user must close it in time. An interrupt closes it immediately. One thread at a time uses it; any
 * thread may {@link #close} it.
 */
public final class ServerConnection implements AutoCloseable {
    /** Earlier versions reveal certificates to eavesdroppers. */
    private static final String[] PROTOCOLS = {"TLSv1.3"};

    private final SocketChannel socket;
    private final @Nullable SSLEngine engine;

    /** The socket, or the TLS channel over it. */
    private final ByteChannel channel;

    /** The received part of a request's head, and the bytes that came with it. */
    private final ByteBuffer received = ByteBuffer.allocate(HttpHead.LONGEST).limit(0);

    /**
     * @param socket accepted; closed with this connection
     * @param tls null for an unencrypted connection; otherwise the client must present a certificate that this trusts
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

    /** The next request; the first call makes the handshake. Null if the client has closed the connection. */
    public @Nullable RequestHead receive() throws IOException {
        byte[] head = HttpHead.receive(received, channel::read);
        return head == null ? null : RequestHead.parse(head);
    }

    /** Sends the buffer's remaining bytes. */
    public void send(ByteBuffer bytes) throws IOException {
        while (bytes.hasRemaining()) {
            channel.write(bytes);
        }
    }

    /** The client's certificate, after the first request; null if unencrypted. */
    public @Nullable Certificate certificate() throws SSLPeerUnverifiedException {
        return engine == null ? null : engine.getSession().getPeerCertificates()[0];
    }

    /** The client's address. */
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

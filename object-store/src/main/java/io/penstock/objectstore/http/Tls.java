package io.penstock.objectstore.http;

import java.io.IOException;
import java.nio.channels.ByteChannel;
import java.nio.channels.SocketChannel;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;
import org.jspecify.annotations.Nullable;

/** Encrypts connections to one server. Safe for use by any number of threads. */
public final class Tls {
    private final SSLContext context;
    private final String host;
    private final int port;

    /** One of Java's algorithms; null to accept any certificate that the context trusts. */
    private final @Nullable String identification;

    /** @param host the name that the server's certificate must have */
    public Tls(SSLContext context, String host, int port) {
        this(context, host, port, "HTTPS");
    }

    private Tls(SSLContext context, String host, int port, @Nullable String identification) {
        this.context = context;
        this.host = host;
        this.port = port;
        this.identification = identification;
    }

    /**
     * For a server that is identified by the signer of its certificate, whatever name it has.
     *
     * @param context trusts no other signer
     */
    public static Tls ofGroup(SSLContext context, String host, int port) {
        return new Tls(context, host, port, null);
    }

    /** A TLS channel over the socket. Its first use makes the handshake. */
    ByteChannel over(SocketChannel socket) throws IOException {
        // host and port identify an earlier session, which is resumed
        SSLEngine engine = context.createSSLEngine(host, port);
        engine.setUseClientMode(true);
        SSLParameters parameters = engine.getSSLParameters();
        parameters.setEndpointIdentificationAlgorithm(identification);
        engine.setSSLParameters(parameters);
        return TlsChannel.ofClient(socket, engine, TlsEngine.isNative(context));
    }
}

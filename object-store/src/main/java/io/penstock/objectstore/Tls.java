package io.penstock.objectstore;

import java.nio.channels.ByteChannel;
import java.nio.channels.SocketChannel;
import java.security.GeneralSecurityException;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.TrustManager;
import org.jspecify.annotations.Nullable;
import tlschannel.ClientTlsChannel;
import tlschannel.HeapBufferAllocator;

/** Encrypts connections to one server. Safe for use by any number of threads. */
public final class Tls {
    private final SSLContext context;
    private final String host;
    private final int port;

    /** Of Java's algorithms; null to take any certificate that the context trusts. */
    private final @Nullable String identification;

    /**
     * @param trusted the certificates to trust; null for the JDK's own certificates
     * @param host the name that the server's certificate must have
     */
    Tls(TrustManager @Nullable [] trusted, String host, int port) throws ObjectStoreException {
        this(context(trusted), host, port, "HTTPS");
    }

    private Tls(SSLContext context, String host, int port, @Nullable String identification) {
        this.context = context;
        this.host = host;
        this.port = port;
        this.identification = identification;
    }

    /**
     * For a server that is known by the signer of its certificate, whatever name that has.
     *
     * @param context trusts no other signer
     */
    public static Tls ofGroup(SSLContext context, String host, int port) {
        return new Tls(context, host, port, null);
    }

    private static SSLContext context(TrustManager @Nullable [] trusted) throws ObjectStoreException {
        try {
            if (trusted == null) {
                return SSLContext.getDefault();
            }
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(null, trusted, null);
            return context;
        } catch (GeneralSecurityException e) {
            throw new ObjectStoreException.Unavailable("Java cannot make a TLS connection: " + e.getMessage(), e);
        }
    }

    /** A TLS channel over the socket. Its first use makes the handshake. It is closed by closing the socket. */
    ByteChannel over(SocketChannel socket) {
        // host and port identify an earlier session, which is resumed
        SSLEngine engine = context.createSSLEngine(host, port);
        engine.setUseClientMode(true);
        SSLParameters parameters = engine.getSSLParameters();
        parameters.setEndpointIdentificationAlgorithm(identification);
        engine.setSSLParameters(parameters);
        // Buffers on the heap: Java's ciphers copy bytes from elsewhere first.
        return ClientTlsChannel.newBuilder(socket, engine)
                .withEncryptedBufferAllocator(new HeapBufferAllocator())
                .withPlainBufferAllocator(new HeapBufferAllocator())
                .withReleaseBuffers(false)
                .build();
    }
}

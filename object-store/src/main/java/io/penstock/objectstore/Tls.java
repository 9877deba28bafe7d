package io.penstock.objectstore;

import java.nio.channels.ByteChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;
import org.jspecify.annotations.Nullable;
import tlschannel.ClientTlsChannel;
import tlschannel.HeapBufferAllocator;

/** How connections to one server are encrypted. Safe for use by any number of threads. */
final class Tls {
    private final SSLContext context;
    private final String host;
    private final int port;

    /**
     * @param caFile certificates to trust beside the JDK's own; null for none
     * @param host the name that the server's certificate has to bear
     */
    Tls(@Nullable Path caFile, String host, int port) throws ObjectStoreException {
        this.context = context(caFile);
        this.host = host;
        this.port = port;
    }

    private static SSLContext context(@Nullable Path caFile) throws ObjectStoreException {
        try {
            if (caFile == null) {
                return SSLContext.getDefault();
            }
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(null, TrustedCertificates.with(caFile), null);
            return context;
        } catch (GeneralSecurityException e) {
            throw new ObjectStoreException.Unavailable("Java cannot make a TLS connection: " + e.getMessage(), e);
        }
    }

    /**
     * What encrypts to the socket and decrypts from it; the first use of it shakes hands. To be closed by closing the
     * socket.
     */
    ByteChannel over(SocketChannel socket) {
        SSLEngine engine = context.createSSLEngine(host, port); // by which an earlier connection's session is resumed
        engine.setUseClientMode(true);
        SSLParameters parameters = engine.getSSLParameters();
        parameters.setEndpointIdentificationAlgorithm("HTTPS");
        engine.setSSLParameters(parameters);
        // On the heap: there Java's ciphers take the bytes as they are, from elsewhere they copy them first.
        return ClientTlsChannel.newBuilder(socket, engine)
                .withEncryptedBufferAllocator(new HeapBufferAllocator())
                .withPlainBufferAllocator(new HeapBufferAllocator())
                .withReleaseBuffers(false)
                .build();
    }
}

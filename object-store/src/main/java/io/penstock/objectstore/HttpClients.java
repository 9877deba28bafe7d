package io.penstock.objectstore;

import io.penstock.objectstore.S3Config.Limits;
import io.penstock.objectstore.S3Config.Server;
import java.net.URI;
import java.time.Duration;
import javax.net.ssl.TrustManager;
import software.amazon.awssdk.http.SdkHttpClient;
import software.amazon.awssdk.http.apache5.Apache5HttpClient;
import software.amazon.awssdk.http.apache5.ProxyConfiguration;

/** The HTTP client below the SDK. No other class knows more of it than {@link SdkHttpClient}. */
final class HttpClients {
    /** Waiting for one of our own connections is no failure of the store. The waiting thread can be interrupted. */
    private static final Duration CONNECTION_WAIT = Duration.ofHours(1);

    private HttpClients() {}

    /** @throws ObjectStoreException if the trusted certificates cannot be read */
    static SdkHttpClient create(Limits limits, Server server) throws ObjectStoreException {
        Apache5HttpClient.Builder builder = Apache5HttpClient.builder()
                .maxConnections(limits.connections())
                .connectionAcquisitionTimeout(CONNECTION_WAIT)
                .connectionTimeout(limits.connectTimeout())
                .socketTimeout(limits.readTimeout())
                .expectContinueEnabled(false)
                .tcpKeepAlive(true);
        URI proxy = server.proxy();
        if (proxy != null) {
            builder.proxyConfiguration(
                    ProxyConfiguration.builder().endpoint(proxy).build());
        }
        // A machine's bundle has 150 certificates: parsing them takes a tenth of a second.
        if (server.caFile() != null && server.isEncrypted()) {
            TrustManager[] trusted = TrustedCertificates.with(server.caFile());
            builder.tlsTrustManagersProvider(() -> trusted);
        }
        return new AbortingHttpClient(builder.build());
    }
}

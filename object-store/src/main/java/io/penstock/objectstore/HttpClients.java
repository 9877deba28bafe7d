package io.penstock.objectstore;

import java.net.URI;
import java.time.Duration;
import javax.net.ssl.TrustManager;
import software.amazon.awssdk.http.SdkHttpClient;
import software.amazon.awssdk.http.apache5.Apache5HttpClient;
import software.amazon.awssdk.http.apache5.ProxyConfiguration;

/** The HTTP client under the SDK: the one place that knows more of it than {@link SdkHttpClient}. */
final class HttpClients {
    /** Waiting for one of our own connections is no failure of the store's; whoever waits can be interrupted. */
    private static final Duration CONNECTION_WAIT = Duration.ofHours(1);

    private HttpClients() {}

    /** @throws ObjectStoreException if the trusted certificates cannot be read */
    static SdkHttpClient create(S3Config config) throws ObjectStoreException {
        Apache5HttpClient.Builder builder = Apache5HttpClient.builder()
                .maxConnections(config.connections())
                .connectionAcquisitionTimeout(CONNECTION_WAIT)
                .connectionTimeout(config.connectTimeout())
                .socketTimeout(config.readTimeout())
                .expectContinueEnabled(false)
                .tcpKeepAlive(true);
        URI proxy = config.proxy();
        if (proxy != null) {
            builder.proxyConfiguration(
                    ProxyConfiguration.builder().endpoint(proxy).build());
        }
        if (config.caFile() != null) {
            TrustManager[] trusted = TrustedCertificates.with(config.caFile());
            builder.tlsTrustManagersProvider(() -> trusted);
        }
        return new PromptHttpClient(builder.build());
    }
}

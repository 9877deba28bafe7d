package io.penstock.objectstore;

import java.net.URI;
import java.time.Duration;
import javax.net.ssl.TrustManager;
import software.amazon.awssdk.http.SdkHttpClient;
import software.amazon.awssdk.http.apache5.Apache5HttpClient;
import software.amazon.awssdk.http.crt.AwsCrtHttpClient;
import software.amazon.awssdk.http.urlconnection.UrlConnectionHttpClient;

/** The HTTP clients under the SDK: the one place that knows more of them than {@link SdkHttpClient}. */
final class HttpClients {
    /** Waiting for one of our own connections is no failure of the store's; whoever waits can be interrupted. */
    private static final Duration CONNECTION_WAIT = Duration.ofHours(1);

    private static final Duration CRT_LEAST_READ_TIMEOUT = Duration.ofSeconds(2);

    private HttpClients() {}

    static SdkHttpClient create(S3Config config) throws ObjectStoreException {
        return new PromptHttpClient(
                switch (config.httpClient()) {
                    case DIRECT, APACHE -> apache(config);
                    case URL_CONNECTION -> urlConnection(config);
                    case CRT -> crt(config);
                });
    }

    private static SdkHttpClient apache(S3Config config) throws ObjectStoreException {
        Apache5HttpClient.Builder builder = Apache5HttpClient.builder()
                .maxConnections(config.connections())
                .connectionAcquisitionTimeout(CONNECTION_WAIT)
                .connectionTimeout(config.connectTimeout())
                .socketTimeout(config.readTimeout())
                .expectContinueEnabled(false)
                .tcpKeepAlive(true);
        URI proxy = config.proxy();
        if (proxy != null) {
            builder.proxyConfiguration(software.amazon.awssdk.http.apache5.ProxyConfiguration.builder()
                    .endpoint(proxy)
                    .build());
        }
        if (config.caFile() != null) {
            TrustManager[] trusted = TrustedCertificates.with(config.caFile());
            builder.tlsTrustManagersProvider(() -> trusted);
        }
        return builder.build();
    }

    /** Has no limit of its own on connections: callers bound what is in flight. */
    private static SdkHttpClient urlConnection(S3Config config) throws ObjectStoreException {
        UrlConnectionHttpClient.Builder builder = UrlConnectionHttpClient.builder()
                .connectionTimeout(config.connectTimeout())
                .socketTimeout(config.readTimeout());
        URI proxy = config.proxy();
        if (proxy != null) {
            builder.proxyConfiguration(configuration -> configuration.endpoint(proxy));
        }
        if (config.caFile() != null) {
            TrustManager[] trusted = TrustedCertificates.with(config.caFile());
            builder.tlsTrustManagersProvider(() -> trusted);
        }
        return builder.build();
    }

    private static SdkHttpClient crt(S3Config config) {
        Duration readTimeout = config.readTimeout().compareTo(CRT_LEAST_READ_TIMEOUT) < 0
                ? CRT_LEAST_READ_TIMEOUT
                : config.readTimeout();
        AwsCrtHttpClient.Builder builder = AwsCrtHttpClient.builder()
                .maxConcurrency(config.connections())
                .connectionAcquisitionTimeout(CONNECTION_WAIT)
                .connectionTimeout(config.connectTimeout())
                // Its way of saying read timeout.
                .connectionHealthConfiguration(
                        health -> health.minimumThroughputInBps(1L).minimumThroughputTimeout(readTimeout));
        URI proxy = config.proxy();
        if (proxy != null) {
            builder.proxyConfiguration(configuration -> configuration
                    .scheme(proxy.getScheme())
                    .host(proxy.getHost())
                    .port(proxy.getPort()));
        }
        return builder.build();
    }
}

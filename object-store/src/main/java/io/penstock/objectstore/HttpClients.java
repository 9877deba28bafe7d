package io.penstock.objectstore;

import io.penstock.objectstore.S3Config.Limits;
import java.net.URI;
import java.time.Duration;
import java.util.Locale;
import javax.net.ssl.TrustManager;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.http.SdkHttpClient;
import software.amazon.awssdk.http.apache5.Apache5HttpClient;
import software.amazon.awssdk.http.apache5.ProxyConfiguration;

/** The HTTP client below the SDK. No other class knows more of it than {@link SdkHttpClient}. */
final class HttpClients {
    /** Waiting for one of our own connections is no failure of the store. The waiting thread can be interrupted. */
    private static final Duration CONNECTION_WAIT = Duration.ofHours(1);

    private HttpClients() {}

    /** @param trusted null for the JDK's own */
    static SdkHttpClient create(Limits limits, @Nullable URI proxy, TrustManager @Nullable [] trusted) {
        Apache5HttpClient.Builder builder = Apache5HttpClient.builder()
                .maxConnections(limits.connections())
                .connectionAcquisitionTimeout(CONNECTION_WAIT)
                .connectionTimeout(limits.connectTimeout())
                .socketTimeout(limits.readTimeout())
                .expectContinueEnabled(false)
                .tcpKeepAlive(true)
                .proxyConfiguration(configuration(proxy));
        if (trusted != null) {
            builder.tlsTrustManagersProvider(() -> trusted);
        }
        return new AbortingHttpClient(builder.build());
    }

    /**
     * Whether the client goes through a proxy to this host: the given one or that of the environment, unless the
     * environment exempts the host.
     */
    static boolean isProxied(String host, @Nullable URI proxy) {
        ProxyConfiguration configuration = configuration(proxy);
        String name = host.toLowerCase(Locale.ROOT);
        return configuration.host() != null
                && configuration.port() > 0
                && configuration.nonProxyHosts().stream().noneMatch(name::matches);
    }

    /** @param proxy null for that of the environment, if it has one */
    private static ProxyConfiguration configuration(@Nullable URI proxy) {
        return ProxyConfiguration.builder().endpoint(proxy).build();
    }
}

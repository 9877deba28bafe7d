package io.penstock.objectstore.s3;

import io.penstock.objectstore.s3.S3Config.Limits;
import io.penstock.objectstore.s3.S3Config.Server;
import java.net.URI;
import java.time.Duration;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;
import javax.net.ssl.SSLContext;
import org.apache.hc.client5.http.ssl.DefaultClientTlsStrategy;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.http.SdkHttpClient;
import software.amazon.awssdk.http.apache5.Apache5HttpClient;
import software.amazon.awssdk.http.apache5.ProxyConfiguration;

/** Creates the HTTP client below the SDK. All other classes know it only as {@link SdkHttpClient}. */
final class HttpClients {
    /** Waiting for one of our own connections is not a failure of the store. The waiting thread can be interrupted. */
    private static final Duration CONNECTION_WAIT = Duration.ofHours(1);

    private HttpClients() {}

    /** @param tls null if no connection is encrypted */
    static SdkHttpClient create(Limits limits, Server server, @Nullable SSLContext tls) {
        Apache5HttpClient.Builder builder = Apache5HttpClient.builder()
                .maxConnections(limits.connections())
                .connectionAcquisitionTimeout(CONNECTION_WAIT)
                .connectionTimeout(limits.connectTimeout())
                .socketTimeout(limits.readTimeout())
                .expectContinueEnabled(false)
                .tcpKeepAlive(true)
                .proxyConfiguration(configuration(server));
        if (tls != null) {
            builder.tlsSocketStrategy(new DefaultClientTlsStrategy(tls));
        }
        return new AbortingHttpClient(builder.build());
    }

    /**
     * Whether the client of this server reaches this host through a proxy: the configured one or that of the
     * environment, unless the environment exempts the host or the server is on this machine.
     */
    static boolean isProxied(String host, Server server) {
        ProxyConfiguration configuration = configuration(server);
        String name = host.toLowerCase(Locale.ROOT);
        return isSet(configuration) && configuration.nonProxyHosts().stream().noneMatch(name::matches);
    }

    private static ProxyConfiguration configuration(Server server) {
        URI proxy = server.proxy();
        if (proxy != null) {
            return ProxyConfiguration.builder().endpoint(proxy).build();
        }
        return isOfThisMachine(server.endpoint())
                ? ProxyConfiguration.builder()
                        .useSystemPropertyValues(false)
                        .useEnvironmentVariableValues(false)
                        .build()
                : ofEnvironment(server.scheme());
    }

    /** For a proxy, localhost is another machine: other programs exempt it as well. */
    private static boolean isOfThisMachine(@Nullable URI endpoint) {
        return endpoint != null && endpoint.getHost().matches("(?i)(.+\\.)?localhost|127(\\.\\d+){3}|\\[::1]");
    }

    /**
     * The proxy for servers of this scheme: HTTPS_PROXY or HTTP_PROXY. The SDK would use the scheme of that variable
     * for the connection to the proxy too, so it would speak TLS to a proxy that, like most, only tunnels TLS.
     */
    private static ProxyConfiguration ofEnvironment(String scheme) {
        ProxyConfiguration found = ProxyConfiguration.builder().scheme(scheme).build();
        if (!isSet(found)) {
            return found;
        }
        URI proxy = URI.create("http://" + found.host() + ":" + found.port());
        if (proxy.getHost() == null) {
            return found; // a name with an underscore, which only the SDK can parse
        }
        return found.toBuilder()
                .endpoint(proxy)
                .nonProxyHosts(withDomains(found.nonProxyHosts()))
                .useSystemPropertyValues(false)
                .useEnvironmentVariableValues(false)
                .build();
    }

    /** For the SDK, a NO_PROXY name is one server; for other programs also a domain, with or without a dot. */
    private static Set<String> withDomains(Set<String> exempt) {
        return exempt.stream()
                .map(pattern -> "(.*\\.)?"
                        + (pattern.startsWith(".") && !pattern.startsWith(".*") ? pattern.substring(1) : pattern))
                .collect(Collectors.toUnmodifiableSet());
    }

    private static boolean isSet(ProxyConfiguration configuration) {
        return configuration.host() != null && configuration.port() > 0;
    }
}

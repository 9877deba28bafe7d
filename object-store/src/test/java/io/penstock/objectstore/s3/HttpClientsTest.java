package io.penstock.objectstore.s3;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.penstock.objectstore.http.TlsEngine;
import io.penstock.objectstore.s3.S3Config.Limits;
import io.penstock.objectstore.s3.S3Config.Server;
import java.io.IOException;
import java.net.URI;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import software.amazon.awssdk.http.ExecutableHttpRequest;
import software.amazon.awssdk.http.HttpExecuteRequest;
import software.amazon.awssdk.http.SdkHttpClient;
import software.amazon.awssdk.http.SdkHttpMethod;
import software.amazon.awssdk.http.SdkHttpRequest;

/** The route to the store. System properties replace the environment, which this process cannot change. */
final class HttpClientsTest {
    private static final List<String> PROPERTIES =
            List.of("http.proxyHost", "http.proxyPort", "https.proxyHost", "https.proxyPort", "http.nonProxyHosts");
    private static final Server PLAIN = TestConfigs.at(URI.create("http://s3.example.com"));
    private static final Server AWS = new Server(null, null, false, null, null, TlsEngine.AUTO);

    private final Map<String, String> before = new HashMap<>();

    @BeforeEach
    void setProxy() {
        for (String property : PROPERTIES) {
            before.put(property, System.getProperty(property));
        }
        proxy("http", "proxy.example.com", 3128);
        proxy("https", "proxy.example.com", 3128);
        System.setProperty("http.nonProxyHosts", "*.internal|10.1.2.3");
    }

    private static void proxy(String scheme, String host, int port) {
        System.setProperty(scheme + ".proxyHost", host);
        System.setProperty(scheme + ".proxyPort", Integer.toString(port));
    }

    @AfterEach
    void restore() {
        before.forEach((property, value) -> {
            if (value == null) {
                System.clearProperty(property);
            } else {
                System.setProperty(property, value);
            }
        });
    }

    @ParameterizedTest
    @MethodSource("servers")
    void isProxied_hostThatTheEnvironmentExempts_isNot(Server server) {
        assertThat(HttpClients.isProxied("bucket.s3.amazonaws.com", server)).isTrue();
        assertThat(HttpClients.isProxied("S3.internal", server)).isFalse();
        assertThat(HttpClients.isProxied("10.1.2.3", server)).isFalse();
    }

    @ParameterizedTest
    @MethodSource("servers")
    void isProxied_domainThatTheEnvironmentExempts_isNot(Server server) {
        System.setProperty("http.nonProxyHosts", ".corp.example|example.org");
        assertThat(HttpClients.isProxied("s3.corp.example", server)).isFalse();
        assertThat(HttpClients.isProxied("corp.example", server)).isFalse();
        assertThat(HttpClients.isProxied("bucket.s3.example.org", server)).isFalse();
        assertThat(HttpClients.isProxied("otherexample.org", server)).isTrue();
    }

    @Test
    void isProxied_byAProxyWithAnUnderscoreInItsName_is() {
        proxy("http", "squid_proxy", 3128);
        assertThat(HttpClients.isProxied("s3.example.com", PLAIN)).isTrue();
    }

    private static List<Server> servers() {
        return List.of(PLAIN, AWS);
    }

    @Test
    void isProxied_proxyForTheOtherScheme_isNot() {
        proxy("https", "", 0);
        assertThat(HttpClients.isProxied("s3.example.com", PLAIN)).isTrue();
        assertThat(HttpClients.isProxied("s3.example.com", AWS)).isFalse();
        proxy("https", "proxy.example.com", 3128);
        proxy("http", "", 0);
        assertThat(HttpClients.isProxied("s3.example.com", PLAIN)).isFalse();
        assertThat(HttpClients.isProxied("s3.example.com", AWS)).isTrue();
    }

    @Test
    void isProxied_withoutAProxy_isNot() {
        assumeTrue(
                System.getenv().keySet().stream().noneMatch("http_proxy"::equalsIgnoreCase),
                "this machine has a proxy");
        PROPERTIES.forEach(System::clearProperty);
        System.setProperty("http.proxyHost", "");

        assertThat(HttpClients.isProxied("10.1.2.3", PLAIN)).isFalse();
        Server behindAProxy =
                new Server(PLAIN.endpoint(), null, true, URI.create("http://127.0.0.1:3128"), null, TlsEngine.AUTO);
        assertThat(HttpClients.isProxied("10.1.2.4", behindAProxy)).isTrue();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "http://localhost:9000",
                "http://MinIO.localhost",
                "https://127.0.0.1:9000",
                "http://127.1.2.3",
                "http://[::1]:9000"
            })
    void isProxied_serverOnThisMachine_isOnlyByAProxyThatIsGiven(URI endpoint) {
        assertThat(HttpClients.isProxied(endpoint.getHost(), TestConfigs.at(endpoint)))
                .isFalse();
        Server behindAProxy =
                new Server(endpoint, null, true, URI.create("http://proxy.example.com:3128"), null, TlsEngine.AUTO);
        assertThat(HttpClients.isProxied(endpoint.getHost(), behindAProxy)).isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"http://localhost.example.com", "http://127.0.0.1.example.com", "http://[fe80::1]"})
    void isProxied_serverWhoseNameIsOnlyLikeThisMachines_is(URI endpoint) {
        assertThat(HttpClients.isProxied(endpoint.getHost(), TestConfigs.at(endpoint)))
                .isTrue();
    }

    @Test
    void call_ofAServerOnThisMachine_doesNotGoThroughTheProxy() throws Exception {
        try (ScriptedServer proxy = new ScriptedServer();
                ScriptedServer server = new ScriptedServer()) {
            proxy("http", proxy.uri("/").getHost(), proxy.uri("/").getPort());
            proxy.answers("HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n");
            server.answers("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
            try (SdkHttpClient client = HttpClients.create(Limits.DEFAULT, TestConfigs.at(server.uri("/")), null)) {
                assertThat(head(client, server.uri("/"))).isEqualTo(200);
            }
            assertThat(proxy.requests()).isEmpty();
        }
    }

    /** The status of the response. */
    private static int head(SdkHttpClient client, URI uri) throws IOException {
        ExecutableHttpRequest request = client.prepareRequest(HttpExecuteRequest.builder()
                .request(SdkHttpRequest.builder()
                        .method(SdkHttpMethod.HEAD)
                        .uri(uri)
                        .build())
                .build());
        return request.call().httpResponse().statusCode();
    }

    private static SdkHttpClient clientBehind(ScriptedServer proxy) {
        proxy("http", "", 0);
        proxy("https", proxy.uri("/").getHost(), proxy.uri("/").getPort());
        return HttpClients.create(Limits.DEFAULT, AWS, null);
    }

    /** The connection to the proxy is unencrypted; TLS to the server is tunneled through it. */
    @Test
    void call_ofAnHttpsServer_asksTheProxyForAWayToIt() throws Exception {
        try (ScriptedServer proxy = new ScriptedServer();
                SdkHttpClient client = clientBehind(proxy)) {
            proxy.answersAndHangsUp("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n");

            assertThat(head(client, URI.create("https://s3.example.com/"))).isEqualTo(403);

            assertThat(proxy.requests())
                    .singleElement()
                    .satisfies(lines -> assertThat(lines).startsWith("CONNECT s3.example.com:443 HTTP/1.1"));
        }
    }
}

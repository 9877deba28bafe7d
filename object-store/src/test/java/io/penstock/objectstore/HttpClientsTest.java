package io.penstock.objectstore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.net.URI;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The way to the store. System properties stand for the environment, which this process cannot change. */
final class HttpClientsTest {
    private static final List<String> PROPERTIES = List.of("http.proxyHost", "http.proxyPort", "http.nonProxyHosts");

    private final Map<String, String> before = new HashMap<>();

    @BeforeEach
    void setProxy() {
        for (String property : PROPERTIES) {
            before.put(property, System.getProperty(property));
        }
        System.setProperty("http.proxyHost", "proxy.example.com");
        System.setProperty("http.proxyPort", "3128");
        System.setProperty("http.nonProxyHosts", "*.internal|10.1.2.3");
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

    @Test
    void isProxied_hostThatTheEnvironmentExempts_isNot() {
        assertThat(HttpClients.isProxied("bucket.s3.amazonaws.com", null)).isTrue();
        assertThat(HttpClients.isProxied("S3.internal", null)).isFalse();
        assertThat(HttpClients.isProxied("10.1.2.3", null)).isFalse();
    }

    @Test
    void isProxied_withoutAProxy_isNot() {
        assumeTrue(
                System.getenv().keySet().stream().noneMatch("http_proxy"::equalsIgnoreCase),
                "this machine has a proxy");
        PROPERTIES.forEach(System::clearProperty);
        System.setProperty("http.proxyHost", "");

        assertThat(HttpClients.isProxied("10.1.2.3", null)).isFalse();
        assertThat(HttpClients.isProxied("10.1.2.4", URI.create("http://127.0.0.1:3128")))
                .isTrue();
    }
}

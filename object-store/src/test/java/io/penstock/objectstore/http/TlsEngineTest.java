package io.penstock.objectstore.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.Arrays;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import org.junit.jupiter.api.Test;

final class TlsEngineTest {
    @Test
    void context_ofEachEngine_isItsOwn() throws Exception {
        SSLContext nativeOne = TlsEngine.AUTO.context("TLS", null, null);
        assertThat(TlsEngine.isNative(nativeOne)).isTrue();
        assertThat(nativeOne.getDefaultSSLParameters().getProtocols()).containsExactlyInAnyOrder("TLSv1.3", "TLSv1.2");

        SSLContext javas = TlsEngine.JDK.context("TLS", null, null);
        assertThat(TlsEngine.isNative(javas)).isFalse();
        assertThat(javas.getProvider().getName()).isEqualTo("SunJSSE");
        assertThat(javas.getDefaultSSLParameters().getProtocols()).containsExactlyInAnyOrder("TLSv1.3", "TLSv1.2");
    }

    /** As on another processor, or in an installation without the library. */
    @Test
    void context_withoutTheNativeLibrary_isTheJdks() throws Exception {
        URL[] classes = Arrays.stream(System.getProperty("java.class.path").split(":"))
                .filter(entry -> !entry.contains("conscrypt"))
                .map(TlsEngineTest::url)
                .toArray(URL[]::new);
        try (URLClassLoader loader = new URLClassLoader(classes, ClassLoader.getPlatformClassLoader())) {
            Class<?> engines = loader.loadClass(TlsEngine.class.getName());
            Object auto = engines.getField(TlsEngine.AUTO.name()).get(null);
            SSLContext context =
                    (SSLContext) engines.getMethod("context", String.class, KeyManager[].class, TrustManager[].class)
                            .invoke(auto, "TLS", null, null);
            assertThat(context.getProvider().getName()).isEqualTo("SunJSSE");
        }
    }

    private static URL url(String entry) {
        try {
            return Path.of(entry).toUri().toURL();
        } catch (MalformedURLException e) {
            throw new AssertionError(entry, e);
        }
    }
}

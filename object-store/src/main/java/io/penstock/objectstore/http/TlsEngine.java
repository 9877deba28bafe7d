package io.penstock.objectstore.http;

import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.Provider;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import org.conscrypt.Conscrypt;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The engine that encrypts connections. The JDK checks certificates for both, with its authorities, rules and
 * revocation. docs/adr/0034-native-tls.md has the costs.
 */
public enum TlsEngine {
    /** BoringSSL through Conscrypt; the JDK's engine if the native library cannot be loaded, which is logged once. */
    AUTO,

    /** The JDK's providers alone, for users who must choose them, as for FIPS. */
    JDK;

    private static final Logger LOG = LoggerFactory.getLogger(TlsEngine.class);

    /**
     * A context of this engine.
     *
     * @param protocol {@code TLS}, or the only version to use
     * @param keys of this side; null for none
     * @param trusted trust managers that check the other side's certificate; null for those of the JDK
     */
    public SSLContext context(String protocol, KeyManager @Nullable [] keys, TrustManager @Nullable [] trusted)
            throws GeneralSecurityException {
        TrustManager[] judges = trusted == null ? trustManagers(null) : trusted;
        Provider provider = this == AUTO ? Native.PROVIDER : null;
        SSLContext context;
        if (provider == null) {
            context = SSLContext.getInstance(protocol);
            context.init(keys, judges, null);
        } else {
            context = SSLContext.getInstance(protocol, provider);
            context.init(keys, JdkTrust.of(judges), null);
        }
        return context;
    }

    /** Whether the context's engines are native, so that they read and write memory outside the heap without a copy. */
    static boolean isNative(SSLContext context) {
        return context.getProvider().getName().equals("Conscrypt");
    }

    /** The JDK's trust managers for these certificates; for its own if null. */
    public static TrustManager[] trustManagers(@Nullable KeyStore certificates) throws GeneralSecurityException {
        TrustManagerFactory factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        factory.init(certificates);
        return factory.getTrustManagers();
    }

    /** Loaded on first use. */
    private static final class Native {
        static final @Nullable Provider PROVIDER = load();

        private Native() {}

        private static @Nullable Provider load() {
            try {
                return Conscrypt.newProviderBuilder().provideTrustManager(false).build();
            } catch (LinkageError e) {
                LOG.info(
                        "TLS uses Java's own providers, which takes more CPU time, because the native library"
                                + " cannot be loaded: {}",
                        e.toString());
                return null;
            }
        }
    }
}

package io.penstock.objectstore.s3;

import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.http.TlsEngine;
import io.penstock.objectstore.s3.S3Config.Server;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.util.Arrays;
import java.util.Collection;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509TrustManager;
import org.jspecify.annotations.Nullable;

/** Trusts a user's certificates in addition to the JDK's. */
final class TrustedCertificates {
    private TrustedCertificates() {}

    /**
     * The context of the server's engine. Parses the server's file, which takes a tenth of a second for a system bundle
     * of 150 certificates.
     *
     * @return null if no connection is encrypted
     * @throws ObjectStoreException.Unavailable if the file has no readable certificates
     */
    static @Nullable SSLContext context(Server server) throws ObjectStoreException {
        if (!server.isEncrypted()) {
            return null;
        }
        TrustManager[] trusted = server.caFile() == null ? null : with(server.caFile());
        try {
            return trusted == null && server.tls() == TlsEngine.JDK
                    ? SSLContext.getDefault() // system properties can change it
                    : server.tls().context("TLS", null, trusted);
        } catch (GeneralSecurityException e) {
            throw new ObjectStoreException.Unavailable("Java cannot make a TLS connection: " + e.getMessage(), e);
        }
    }

    private static TrustManager[] with(Path caFile) throws ObjectStoreException {
        try (InputStream in = Files.newInputStream(caFile)) {
            Collection<? extends Certificate> own =
                    CertificateFactory.getInstance("X.509").generateCertificates(in);
            if (own.isEmpty()) {
                throw unusable(caFile, "contains no certificate", null);
            }
            KeyStore all = KeyStore.getInstance(KeyStore.getDefaultType());
            all.load(null, null);
            int number = 0;
            for (Certificate certificate : own) {
                all.setCertificateEntry("own-" + number++, certificate);
            }
            for (X509Certificate certificate : ofTheJdk()) {
                all.setCertificateEntry("jdk-" + number++, certificate);
            }
            return TlsEngine.trustManagers(all);
        } catch (NoSuchFileException e) {
            throw unusable(caFile, "does not exist", e);
        } catch (IOException e) {
            throw unusable(caFile, "cannot be read (" + e + ")", e);
        } catch (GeneralSecurityException e) {
            throw unusable(caFile, "contains something other than certificates (" + e.getMessage() + ")", e);
        }
    }

    private static ObjectStoreException unusable(Path caFile, String why, @Nullable Exception cause) {
        return new ObjectStoreException.Unavailable(
                "s3.ca-file: " + caFile + " " + why
                        + "; set it to a file of PEM certificates, or remove it to trust only Java's",
                cause);
    }

    private static X509Certificate[] ofTheJdk() throws GeneralSecurityException {
        return Arrays.stream(TlsEngine.trustManagers(null))
                .filter(X509TrustManager.class::isInstance)
                .map(X509TrustManager.class::cast)
                .findFirst()
                .orElseThrow()
                .getAcceptedIssuers();
    }
}

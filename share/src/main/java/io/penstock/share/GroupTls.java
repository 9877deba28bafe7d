package io.penstock.share;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import io.penstock.objectstore.http.TlsEngine;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509TrustManager;
import org.jspecify.annotations.Nullable;

/**
 * Makes the TLS of a group from PEM files: a node has a certificate of the group's authority, and trusts no other
 * authority. Names in certificates are not compared, because a group is one domain of trust.
 */
final class GroupTls {
    static final String PROTOCOL = "TLSv1.3";

    /**
     * For how many seconds a session may be resumed: the minimum. With the JDK's default of a day, a node would remain
     * a member for a day after its certificate has expired. Nodes keep their connections, so full handshakes are rare.
     */
    private static final int RESUMED_FOR = 1;

    private static final String AUTHORITY = "share.tls-ca";
    private static final String CERTIFICATE = "share.tls-certificate";
    private static final String KEY = "share.tls-key";

    private static final Pattern PKCS8 =
            Pattern.compile("-----BEGIN PRIVATE KEY-----([A-Za-z0-9+/=\\s]+)-----END PRIVATE KEY-----");

    /** For the in-memory key store, which never leaves this process. */
    private static final char[] PASSWORD = "memory".toCharArray();

    private GroupTls() {}

    /** @throws ShareException that names the setting and the file, and says what to do */
    static SSLContext context(TlsFiles files, TlsEngine engine) throws ShareException {
        List<X509Certificate> authorities = certificates(AUTHORITY, files.authority());
        List<X509Certificate> chain = certificates(CERTIFICATE, files.certificate());
        PrivateKey key = key(files, chain.getFirst());
        try {
            TrustManager[] trusted = trust(authorities);
            checkSigned(files, chain, trusted);
            SSLContext context = engine.context(PROTOCOL, keys(key, chain), trusted);
            context.getServerSessionContext().setSessionTimeout(RESUMED_FOR);
            context.getClientSessionContext().setSessionTimeout(RESUMED_FOR);
            return context;
        } catch (GeneralSecurityException | IOException e) {
            throw new ShareException("Java cannot make TLS connections with the files of share.tls-*: " + e, e);
        }
    }

    /** The node's key and chain, under the name {@code node}. */
    static KeyManager[] keys(PrivateKey key, List<X509Certificate> chain) throws GeneralSecurityException, IOException {
        KeyStore own = emptyStore();
        own.setKeyEntry("node", key, PASSWORD, chain.toArray(X509Certificate[]::new));
        // PKIX would decrypt the key in each handshake, with 10,000 rounds of PBKDF2; this one does it once, here.
        KeyManagerFactory factory = KeyManagerFactory.getInstance("SunX509");
        factory.init(own, PASSWORD);
        return factory.getKeyManagers();
    }

    private static KeyStore emptyStore() throws GeneralSecurityException, IOException {
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        return store;
    }

    private static TrustManager[] trust(List<X509Certificate> authorities)
            throws GeneralSecurityException, IOException {
        KeyStore store = emptyStore();
        for (int i = 0; i < authorities.size(); i++) {
            store.setCertificateEntry("authority-" + i, authorities.get(i));
        }
        TrustManagerFactory factory = TrustManagerFactory.getInstance("PKIX");
        factory.init(store);
        return factory.getTrustManagers();
    }

    /** One or more, all of them valid now. */
    private static List<X509Certificate> certificates(String setting, Path file) throws ShareException {
        List<X509Certificate> certificates;
        try {
            certificates =
                    CertificateFactory.getInstance("X.509")
                            .generateCertificates(new ByteArrayInputStream(read(setting, file)))
                            .stream()
                            .map(X509Certificate.class::cast)
                            .toList();
        } catch (CertificateException e) {
            throw unusable(setting, file, "is not a file of PEM certificates (" + e.getMessage() + ")", e);
        }
        if (certificates.isEmpty()) {
            throw unusable(setting, file, "contains no certificate; name a file of PEM certificates", null);
        }
        for (X509Certificate certificate : certificates) {
            try {
                certificate.checkValidity();
            } catch (CertificateException e) {
                String when = "is valid from " + certificate.getNotBefore().toInstant() + " to "
                        + certificate.getNotAfter().toInstant();
                throw unusable(setting, file, when + ", not now; renew it, or set the clock", e);
            }
        }
        return certificates;
    }

    private static PrivateKey key(TlsFiles files, X509Certificate certificate) throws ShareException {
        Matcher pem = PKCS8.matcher(new String(read(KEY, files.key()), ISO_8859_1));
        if (!pem.find()) {
            String how = "openssl pkcs8 -topk8 -nocrypt -in " + files.key() + " -out NEW";
            throw unusable(
                    KEY,
                    files.key(),
                    "contains no PEM private key in PKCS #8 without a password; make one: " + how,
                    null);
        }
        try {
            PublicKey published = certificate.getPublicKey();
            PrivateKey key = KeyFactory.getInstance(published.getAlgorithm())
                    .generatePrivate(
                            new PKCS8EncodedKeySpec(Base64.getMimeDecoder().decode(pem.group(1))));
            if (belong(key, published)) {
                return key;
            }
        } catch (GeneralSecurityException | IllegalArgumentException e) {
            throw unusable(KEY, files.key(), mismatch(files), e);
        }
        throw unusable(KEY, files.key(), mismatch(files), null);
    }

    private static String mismatch(TlsFiles files) {
        return "is not the key of the first certificate of " + files.certificate() + " (" + CERTIFICATE
                + "); name a certificate and its own key";
    }

    private static boolean belong(PrivateKey key, PublicKey published) throws GeneralSecurityException {
        String algorithm = switch (published.getAlgorithm()) {
            case "RSA" -> "SHA256withRSA";
            case "EC" -> "SHA256withECDSA";
            default -> published.getAlgorithm();
        };
        byte[] text = {1, 2, 3};
        Signature signer = Signature.getInstance(algorithm);
        signer.initSign(key);
        signer.update(text);
        byte[] signature = signer.sign();
        signer.initVerify(published);
        signer.update(text);
        return signer.verify(signature);
    }

    private static void checkSigned(TlsFiles files, List<X509Certificate> chain, TrustManager[] trusted)
            throws ShareException {
        X509Certificate[] sent = chain.toArray(X509Certificate[]::new);
        try {
            X509TrustManager judge = (X509TrustManager) Arrays.asList(trusted).getFirst();
            judge.checkServerTrusted(sent, "UNKNOWN");
            judge.checkClientTrusted(sent, "UNKNOWN");
        } catch (CertificateException e) {
            String why = "is not signed by " + files.authority() + " (" + AUTHORITY
                    + ") for servers and clients; have the group's authority sign it (" + e.getMessage() + ")";
            throw unusable(CERTIFICATE, files.certificate(), why, e);
        }
    }

    private static byte[] read(String setting, Path file) throws ShareException {
        try {
            return Files.readAllBytes(file);
        } catch (NoSuchFileException e) {
            throw unusable(setting, file, "does not exist; name the PEM file", e);
        } catch (AccessDeniedException e) {
            throw unusable(setting, file, "cannot be read by " + System.getProperty("user.name"), e);
        } catch (IOException e) {
            throw unusable(setting, file, "cannot be read (" + e + ")", e);
        }
    }

    private static ShareException unusable(String setting, Path file, String why, @Nullable Exception cause) {
        return new ShareException(setting + ": " + file + " " + why, cause);
    }
}

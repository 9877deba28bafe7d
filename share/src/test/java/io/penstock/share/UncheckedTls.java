package io.penstock.share;

import java.io.InputStream;
import java.nio.file.Files;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;

/** TLS with files that {@link GroupTls} refuses. */
final class UncheckedTls {
    private UncheckedTls() {}

    static SSLContext context(TlsFiles files, TrustManager trusting) throws Exception {
        Certificate certificate;
        try (InputStream in = Files.newInputStream(files.certificate())) {
            certificate = CertificateFactory.getInstance("X.509").generateCertificate(in);
        }
        String pem = Files.readString(files.key()).replaceAll("-----[A-Z ]+-----", "");
        PrivateKey key = KeyFactory.getInstance("EC")
                .generatePrivate(new PKCS8EncodedKeySpec(Base64.getMimeDecoder().decode(pem)));
        KeyStore keys = KeyStore.getInstance("PKCS12");
        keys.load(null, null);
        keys.setKeyEntry("node", key, new char[] {'x'}, new Certificate[] {certificate});
        KeyManagerFactory factory = KeyManagerFactory.getInstance("PKIX");
        factory.init(keys, new char[] {'x'});
        SSLContext context = SSLContext.getInstance("TLSv1.3");
        context.init(factory.getKeyManagers(), new TrustManager[] {trusting}, null);
        return context;
    }
}

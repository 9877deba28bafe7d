package io.penstock.objectstore;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.Base64;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;

/** A certificate that only clients with it in their settings trust, and its key. Made by the JDK's keytool. */
final class TestCertificate {
    private static final String PASSWORD = "changeit";
    private static final String ALIAS = "server";

    private final KeyStore keys;
    private final Path pem;

    /**
     * @param folder where its files go
     * @param name of the server, as keytool has it: {@code ip:127.0.0.1} or {@code dns:localhost}
     */
    TestCertificate(Path folder, String name) throws IOException, InterruptedException, GeneralSecurityException {
        Path store = folder.resolve("keys.p12");
        Process keytool = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "keytool")
                                .toString(),
                        "-genkeypair",
                        "-keyalg",
                        "EC",
                        "-alias",
                        ALIAS,
                        "-dname",
                        "CN=test",
                        "-ext",
                        "SAN=" + name,
                        "-storepass",
                        PASSWORD,
                        "-keystore",
                        store.toString())
                .redirectErrorStream(true)
                .start();
        String said = new String(keytool.getInputStream().readAllBytes(), US_ASCII);
        if (keytool.waitFor() != 0) {
            throw new IOException("keytool: " + said);
        }
        keys = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(store)) {
            keys.load(in, PASSWORD.toCharArray());
        }
        pem = folder.resolve("public.crt");
        String encoded = Base64.getMimeEncoder()
                .encodeToString(keys.getCertificate(ALIAS).getEncoded());
        Files.writeString(pem, "-----BEGIN CERTIFICATE-----\n" + encoded + "\n-----END CERTIFICATE-----\n");
    }

    /** The certificate alone, as PEM. */
    Path pem() {
        return pem;
    }

    /** A free port of the loopback interface on which it is shown. */
    ServerSocket listen() throws IOException {
        return context().getServerSocketFactory().createServerSocket(0, 50, InetAddress.getLoopbackAddress());
    }

    private SSLContext context() throws IOException {
        try {
            KeyManagerFactory factory = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
            factory.init(keys, PASSWORD.toCharArray());
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(factory.getKeyManagers(), null, null);
            return context;
        } catch (GeneralSecurityException e) {
            throw new IOException("no server with this certificate", e);
        }
    }
}

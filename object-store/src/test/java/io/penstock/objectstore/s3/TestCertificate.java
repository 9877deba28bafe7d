package io.penstock.objectstore.s3;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.List;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;

/** A certificate, trusted only by clients whose settings have its signer's, and its key. Made by the JDK's keytool. */
final class TestCertificate {
    private static final String PASSWORD = "changeit";

    private final KeyStore keys;
    private final Path pem;

    /**
     * @param folder for its files
     * @param name of the server in keytool's form: {@code ip:127.0.0.1} or {@code dns:localhost}
     */
    TestCertificate(Path folder, String name) throws IOException, InterruptedException, GeneralSecurityException {
        Path store = folder.resolve("keys.p12");
        pem = folder.resolve("public.crt");
        keytool(store, "-genkeypair", "-keyalg", "EC", "-alias", "ca", "-dname", "CN=ca", "-ext", "bc:c");
        keytool(store, "-exportcert", "-rfc", "-alias", "ca", "-file", pem.toString());
        List<String> server = List.of(
                "-genkeypair",
                "-keyalg",
                "EC",
                "-alias",
                "server",
                "-signer",
                "ca",
                "-dname",
                "CN=test",
                "-ext",
                "SAN=" + name,
                "-ext",
                "ku=digitalSignature");
        keytool(store, server.toArray(String[]::new));
        keytool(store, "-delete", "-alias", "ca");
        keys = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(store)) {
            keys.load(in, PASSWORD.toCharArray());
        }
    }

    private static void keytool(Path store, String... options) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                "-J-XX:TieredStopAtLevel=1",
                "-storepass",
                PASSWORD,
                "-keystore",
                store.toString()));
        command.addAll(List.of(options));
        Process keytool = new ProcessBuilder(command).redirectErrorStream(true).start();
        String said = new String(keytool.getInputStream().readAllBytes(), US_ASCII);
        if (keytool.waitFor() != 0) {
            throw new IOException("keytool: " + said);
        }
    }

    /** The signer's certificate as PEM. */
    Path pem() {
        return pem;
    }

    /** Listens on a free port of the loopback interface and presents the certificate. */
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

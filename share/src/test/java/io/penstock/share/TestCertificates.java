package io.penstock.share;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.penstock.objectstore.http.TlsEngine;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;

/** A group's authority and the certificates that it signed, as PEM files made by the JDK's keytool. */
final class TestCertificates {
    private static final String PASSWORD = "changeit";

    private final Path folder;

    TestCertificates(Path folder) {
        this.folder = folder;
    }

    /** @param authority which signs its own certificate */
    void makeAuthority(String authority) throws Exception {
        keytool(authority, "-alias", authority, "-dname", "CN=" + authority, "-ext", "bc:c");
        write(authority, authority);
    }

    /** @param validity options of keytool */
    TlsFiles sign(String authority, String node, String... validity) throws Exception {
        List<String> options = new ArrayList<>(List.of("-alias", node, "-signer", authority, "-dname", "CN=" + node));
        options.addAll(List.of(validity));
        keytool(authority, options.toArray(String[]::new));
        write(authority, node);
        return new TlsFiles(certificate(authority), certificate(node), key(node), TlsEngine.AUTO);
    }

    Path certificate(String name) {
        return folder.resolve(name + ".crt");
    }

    Path key(String name) {
        return folder.resolve(name + ".key");
    }

    private void keytool(String authority, String... options) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                "-genkeypair",
                "-keyalg",
                "EC",
                "-storepass",
                PASSWORD,
                "-keystore",
                folder.resolve(authority + ".p12").toString()));
        command.addAll(List.of(options));
        Process keytool = new ProcessBuilder(command).redirectErrorStream(true).start();
        String said = new String(keytool.getInputStream().readAllBytes(), US_ASCII);
        if (keytool.waitFor() != 0) {
            throw new IOException("keytool: " + said);
        }
    }

    private void write(String authority, String name) throws IOException, GeneralSecurityException {
        KeyStore keys = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(folder.resolve(authority + ".p12"))) {
            keys.load(in, PASSWORD.toCharArray());
        }
        Certificate own = keys.getCertificateChain(name)[0];
        Files.writeString(certificate(name), pem("CERTIFICATE", own.getEncoded()));
        Files.writeString(
                key(name),
                pem("PRIVATE KEY", keys.getKey(name, PASSWORD.toCharArray()).getEncoded()));
    }

    static String pem(String type, byte[] bytes) {
        return "-----BEGIN " + type + "-----\n" + Base64.getMimeEncoder().encodeToString(bytes) + "\n-----END " + type
                + "-----\n";
    }
}

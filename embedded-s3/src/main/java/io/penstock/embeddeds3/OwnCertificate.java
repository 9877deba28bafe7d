package io.penstock.embeddeds3;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.Key;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;

/**
 * A certificate for 127.0.0.1 that nobody but its owner has signed, made by the JDK's keytool.
 *
 * @param keyStore the certificate and its key
 * @param caFile the certificate as PEM, for clients to trust
 */
public record OwnCertificate(Path keyStore, Path caFile) {
    /** Of a key store that serves one process, in a folder of its own. */
    static final String PASSWORD = "changeit";

    /**
     * Makes one.
     *
     * @param folder for its two files
     */
    public static OwnCertificate make(Path folder) throws IOException, InterruptedException {
        OwnCertificate made = new OwnCertificate(folder.resolve("server.p12"), folder.resolve("ca.pem"));
        keytool(made, "-genkeypair", "-keyalg", "EC", "-dname", "CN=127.0.0.1", "-ext", "SAN=ip:127.0.0.1");
        keytool(made, "-exportcert", "-rfc", "-file", made.caFile.toString());
        return made;
    }

    /** The private key, PKCS #8. */
    public String keyAsPem() throws IOException {
        try (InputStream in = Files.newInputStream(keyStore)) {
            KeyStore store = KeyStore.getInstance("PKCS12");
            store.load(in, PASSWORD.toCharArray());
            Key key = store.getKey("mykey", PASSWORD.toCharArray());
            String encoded = Base64.getMimeEncoder().encodeToString(key.getEncoded());
            return "-----BEGIN PRIVATE KEY-----\n" + encoded + "\n-----END PRIVATE KEY-----\n";
        } catch (GeneralSecurityException e) {
            throw new IOException("the key of " + keyStore + " cannot be read: " + e.getMessage(), e);
        }
    }

    private static void keytool(OwnCertificate made, String... options) throws IOException, InterruptedException {
        String program =
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString();
        List<String> command = new ArrayList<>(List.of(
                program, "-J-XX:TieredStopAtLevel=1", "-storepass", PASSWORD, "-keystore", made.keyStore.toString()));
        command.addAll(List.of(options));
        Process keytool = new ProcessBuilder(command).redirectErrorStream(true).start();
        String said = new String(keytool.getInputStream().readAllBytes(), UTF_8);
        if (keytool.waitFor() != 0) {
            throw new IOException("no certificate can be made: " + said.strip());
        }
    }
}

package io.penstock.objectstore.s3;

import static io.penstock.objectstore.s3.TestConfigs.at;

import io.penstock.embeddeds3.EmbeddedS3;
import io.penstock.objectstore.s3.S3Config.HttpClient;
import io.penstock.testing.ObjectStoreWriteContract;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ValueSource;

/** Unencrypted and over TLS. */
@ParameterizedClass
@ValueSource(booleans = {false, true})
final class S3ProxyContractTest extends ObjectStoreWriteContract {
    @TempDir
    private static Path folder;

    private static EmbeddedS3 server;
    private static TestCertificate certificate;
    private static FaultProxy front;
    private static S3Buckets buckets;

    private final boolean encrypted;

    S3ProxyContractTest(boolean encrypted) {
        this.encrypted = encrypted;
    }

    @BeforeAll
    static void startServer() throws Exception {
        server = new EmbeddedS3(Files.createDirectory(folder.resolve("buckets")), "id", "secret");
        certificate = new TestCertificate(folder, "ip:127.0.0.1");
        front = new FaultProxy(server.endpoint(), certificate);
        buckets = new S3Buckets(server.endpoint(), "id", "secret");
    }

    @AfterAll
    static void stopServer() throws IOException {
        buckets.close();
        front.close();
        server.close();
    }

    @Override
    protected TestBucket newBucket() throws Exception {
        return buckets.create(
                encrypted ? at(front.endpoint(), certificate.pem()) : at(server.endpoint()), HttpClient.DIRECT);
    }

    @Override
    protected boolean holdsFileAndDirectoryOfOneName() {
        return false;
    }

    /** It lists no parts of an unknown upload instead of reporting it, refuses tags and loses {@code Expires}. */
    @Override
    protected List<Ability> lacks() {
        return List.of(
                Ability.TELLS_CHECKSUMS, Ability.KNOWS_UPLOADS, Ability.TAGS, Ability.EXPIRES, Ability.COPIES_IN_PARTS);
    }

    @Override
    protected Set<String> keysNotHeld() {
        return Set.of("a//b", "/leading", "//", "./a", "a/../b");
    }
}

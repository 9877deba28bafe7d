package io.penstock.objectstore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.embeddeds3.EmbeddedS3;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a user is told before anything is mounted. */
final class S3ConnectTest {
    @TempDir
    private static Path folder;

    private static EmbeddedS3 server;

    @BeforeAll
    static void startServer() throws IOException {
        server = new EmbeddedS3(Files.createDirectory(folder.resolve("data")), "id", "secret");
        server.createBucket("bucket");
    }

    @AfterAll
    static void stopServer() {
        server.close();
    }

    @Test
    void connect_bucketThere_opensIt() throws Exception {
        try (S3ObjectStore store = S3ObjectStore.connect(config("bucket").build())) {
            assertThat(store.bucket()).isEqualTo("bucket");
        }
    }

    @Test
    void connect_noSuchBucket_isNotFound() {
        assertThatThrownBy(() -> S3ObjectStore.connect(config("nothing").build()))
                .isInstanceOf(ObjectStoreException.NotFound.class)
                .hasMessageStartingWith("there is no bucket 'nothing'");
    }

    @Test
    void connect_wrongSecret_isDeniedInTheStoresWords() {
        S3Config config = config("bucket")
                .credentials(new S3Config.Credentials.Static("id", "wrong"))
                .build();

        assertThatThrownBy(() -> S3ObjectStore.connect(config))
                .isInstanceOf(ObjectStoreException.AccessDenied.class)
                .hasMessageContaining("SignatureDoesNotMatch")
                .hasMessageContaining("bucket 'bucket'");
    }

    @Test
    void connect_anonymousWhereNotAllowed_isDenied() {
        S3Config config = config("bucket")
                .credentials(new S3Config.Credentials.Anonymous())
                .build();

        assertThatThrownBy(() -> S3ObjectStore.connect(config)).isInstanceOf(ObjectStoreException.AccessDenied.class);
    }

    @Test
    void connect_nobodyListens_namesTheEndpoint() {
        S3Config config =
                config("bucket").endpoint(URI.create("http://127.0.0.1:1")).build();

        assertThatThrownBy(() -> S3ObjectStore.connect(config))
                .isInstanceOf(ObjectStoreException.Unavailable.class)
                .hasMessageContaining("http://127.0.0.1:1 does not accept connections");
    }

    @Test
    void connect_unknownHost_namesIt() {
        S3Config config = config("bucket")
                .endpoint(URI.create("http://no-such-host.invalid"))
                .build();

        assertThatThrownBy(() -> S3ObjectStore.connect(config))
                .isInstanceOf(ObjectStoreException.Unavailable.class)
                .hasMessageContaining("no-such-host.invalid")
                .hasMessageContaining("endpoint");
    }

    @Test
    void connect_httpsToAPlainPort_speaksOfTheSecureConnection() {
        URI https = URI.create("https://127.0.0.1:" + server.endpoint().getPort());

        assertThatThrownBy(() ->
                        S3ObjectStore.connect(config("bucket").endpoint(https).build()))
                .isInstanceOf(ObjectStoreException.Unavailable.class)
                .hasMessageContaining("no secure connection");
    }

    @Test
    void connect_profileWithoutCredentials_saysWhereItLooked() {
        S3Config config = config("bucket")
                .credentials(new S3Config.Credentials.Chain("no-such-profile"))
                .build();

        assertThatThrownBy(() -> S3ObjectStore.connect(config))
                .isInstanceOf(ObjectStoreException.AccessDenied.class)
                .hasMessageContaining("no-such-profile")
                .hasMessageContaining("~/.aws/credentials");
    }

    @Test
    void connect_caFileMissingOrWithoutCertificates_namesSettingAndFile() throws IOException {
        Path empty = Files.createFile(folder.resolve("empty.pem"));
        Path missing = folder.resolve("missing.pem");

        assertThatThrownBy(() ->
                        S3ObjectStore.connect(config("bucket").caFile(empty).build()))
                .isInstanceOf(ObjectStoreException.Unavailable.class)
                .hasMessageContaining("s3.ca-file: " + empty + " holds no certificate");
        assertThatThrownBy(() ->
                        S3ObjectStore.connect(config("bucket").caFile(missing).build()))
                .isInstanceOf(ObjectStoreException.Unavailable.class)
                .hasMessageContaining("s3.ca-file: " + missing + " does not exist");
    }

    @Test
    void config_impossibleSetting_namesItAndWhatIsAllowed() {
        assertThatThrownBy(() -> config("bucket").connections(0).build())
                .hasMessage("connections '0': must be 1 or more");
        assertThatThrownBy(() -> config("bucket/prefix").build()).hasMessageContaining("bucket 'bucket/prefix'");
        assertThatThrownBy(() ->
                        config("bucket").endpoint(URI.create("localhost:9000")).build())
                .hasMessageContaining("endpoint 'localhost:9000': must be http://host:port");
        assertThatThrownBy(() -> config("bucket").readTimeout(Duration.ZERO).build())
                .hasMessageContaining("read timeout");
    }

    private static S3Config.Builder config(String bucket) {
        return S3Config.builder(bucket)
                .endpoint(server.endpoint())
                .pathStyle(true)
                .credentials(new S3Config.Credentials.Static("id", "secret"));
    }
}

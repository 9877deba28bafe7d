package io.penstock.objectstore.s3;

import static io.penstock.objectstore.s3.TestConfigs.at;
import static io.penstock.objectstore.s3.TestConfigs.config;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;
import io.penstock.embeddeds3.EmbeddedS3;
import io.penstock.objectstore.ObjectStore;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.RetryPolicy;
import io.penstock.objectstore.WriteCondition;
import io.penstock.objectstore.http.TlsEngine;
import io.penstock.objectstore.s3.FaultProxy.Break;
import io.penstock.objectstore.s3.S3Config.Limits;
import io.penstock.testing.BytesBody;
import io.penstock.testing.CollectingSink;
import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.CertificateException;
import java.time.Duration;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLHandshakeException;
import javax.net.ssl.SSLPeerUnverifiedException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;
import software.amazon.awssdk.core.exception.SdkClientException;

/** Retries TLS connections that break while a load balancer or a server restarts, but no refused certificates. */
@Timeout(180)
@ParameterizedClass
@EnumSource(TlsEngine.class)
final class TlsOutageTest {
    private static final byte[] CONTENT = "hello, world".getBytes(US_ASCII);

    /** More than the SDK retries. */
    private static final int CUTS = 10;

    @TempDir
    private Path folder;

    private final TlsEngine engine;
    private EmbeddedS3 server;
    private FaultProxy encrypting;

    /** Sees encrypted bytes, so it can cut handshakes. */
    private FaultProxy cutting;

    private Path certificate;

    TlsOutageTest(TlsEngine engine) {
        this.engine = engine;
    }

    @BeforeEach
    void start() throws Exception {
        server = new EmbeddedS3(Files.createDirectory(folder.resolve("buckets")), "id", "secret");
        server.createBucket("bucket");
        server.put("bucket", "key", CONTENT);
        TestCertificate made = new TestCertificate(folder, "ip:127.0.0.1");
        certificate = made.pem();
        encrypting = new FaultProxy(server.endpoint(), made);
        cutting = new FaultProxy(encrypting.endpoint());
    }

    @AfterEach
    void stop() throws IOException {
        cutting.close();
        encrypting.close();
        server.close();
    }

    @Test
    void get_handshakesCutForAWhile_arrives() throws Exception {
        try (ObjectStore store = connect(Duration.ofSeconds(50))) {
            ObjectVersion version = store.head("key").version();
            CollectingSink sink = new CollectingSink(CONTENT.length);
            cutting.breakAfter(0, CUTS, Break.END);

            store.get(version, new ByteRange(0, CONTENT.length), sink);

            assertThat(sink.bytes()).isEqualTo(CONTENT);
        }
    }

    @Test
    void put_handshakesCutForAWhile_arrives() throws Exception {
        try (ObjectStore store = connect(Duration.ofSeconds(50))) {
            cutting.breakAfter(0, CUTS, Break.END);

            store.put("new", BytesBody.of(CONTENT), WriteCondition.ALWAYS);

            assertThat(store.head("new").version().size()).isEqualTo(CONTENT.length);
        }
    }

    @Test
    void get_handshakesCutPastTheDeadline_saysSoAndNotOfCertificates() throws Exception {
        try (ObjectStore store = connect(Duration.ZERO)) {
            cutting.breakAfter(0, 1000, Break.END);
            assertThatThrownBy(() -> store.head("key")) // over the connection left by the mount's listing
                    .isInstanceOf(ObjectStoreException.Unavailable.class);

            assertThatThrownBy(() -> store.head("key"))
                    .isInstanceOf(ObjectStoreException.Unavailable.class)
                    .hasMessageContaining("no secure connection")
                    .hasMessageNotContaining("CA file");
        }
    }

    @Test
    void isPassing_certificateRefused_no() {
        assertThat(ErrorMapper.isTransient(failure(
                        new SSLHandshakeException("PKIX path building failed", new CertificateException("unknown")))))
                .isFalse();
        assertThat(ErrorMapper.isTransient(failure(new SSLPeerUnverifiedException("not its name"))))
                .isFalse();
    }

    @Test
    void isPassing_connectionBrokenUnderTls_yes() {
        assertThat(ErrorMapper.isTransient(failure(new SSLHandshakeException("Remote host terminated the handshake"))))
                .isTrue();
        assertThat(ErrorMapper.isTransient(failure(new SSLException("bad_record_mac"))))
                .isTrue();
        assertThat(ErrorMapper.isTransient(failure(new ConnectException("refused"))))
                .isTrue();
    }

    private static SdkClientException failure(IOException cause) {
        return SdkClientException.create("cannot execute the request", cause);
    }

    private ObjectStore connect(Duration deadline) throws Exception {
        URI endpoint = URI.create("https://127.0.0.1:" + cutting.endpoint().getPort());
        return S3ObjectStore.connect(config(
                "bucket", at(endpoint, certificate, engine), Limits.DEFAULT, new RetryPolicy(deadline, deadline)));
    }
}

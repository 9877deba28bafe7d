package io.penstock.objectstore.s3;

import static io.penstock.objectstore.s3.TestConfigs.at;
import static io.penstock.objectstore.s3.TestConfigs.readTimeout;
import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.RetryPolicy;
import io.penstock.objectstore.http.ResponseHead;
import io.penstock.objectstore.http.TlsEngine;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;

/** Direct requests to a server that speaks TLS, and to servers with a wrong certificate. */
@Timeout(30)
@ParameterizedClass
@EnumSource(TlsEngine.class)
final class DirectOverTlsTest {
    private static final int LENGTH = 3 << 20;
    private static final ObjectVersion VERSION = new ObjectVersion("key", "\"tag\"", 2L * LENGTH, Instant.EPOCH);
    private static final ByteRange RANGE = new ByteRange(0, LENGTH);
    private static final String HEAD = "HTTP/1.1 206 Partial Content\r\nETag: \"tag\"\r\nContent-Length: " + LENGTH
            + "\r\nContent-Range: bytes 0-" + (LENGTH - 1) + "/" + 2 * LENGTH + "\r\n\r\n";
    private static final String STORED = "HTTP/1.1 200 OK\r\nETag: \"new\"\r\nContent-Length: 0\r\n\r\n";

    @TempDir
    private static Path folder;

    private static TestCertificate certificate;
    private static byte[] content;

    private final TlsEngine engine;
    private ScriptedServer server;
    private DirectRequests requests;

    DirectOverTlsTest(TlsEngine engine) {
        this.engine = engine;
    }

    @BeforeAll
    static void makeCertificate() throws Exception {
        certificate = new TestCertificate(Files.createTempDirectory(folder, "right"), "ip:127.0.0.1");
        content = new byte[LENGTH];
        new Random(1).nextBytes(content);
    }

    @BeforeEach
    void start() throws Exception {
        server = new ScriptedServer(certificate);
        requests = requests(certificate.pem());
    }

    @AfterEach
    void stop() throws IOException {
        requests.close();
        server.close();
    }

    @Test
    void get_oneAfterAnother_areWholeAndOnOneConnection() throws Exception {
        String answer = HEAD + new String(content, ISO_8859_1);
        server.answers(answer, answer, answer);
        for (int i = 0; i < 3; i++) {
            assertThat(read(requests.get(VERSION, RANGE, false))).isEqualTo(content);
        }
        assertThat(server.connections()).isOne();
    }

    @Test
    void get_bytesAfterTheBody_areNotTheNextResponse() throws Exception {
        String answer = HEAD + new String(content, ISO_8859_1);
        String smuggled = HEAD + "x".repeat(LENGTH);
        server.answers(answer + smuggled, answer);
        assertThat(read(requests.get(VERSION, RANGE, false))).isEqualTo(content);
        assertThat(read(requests.get(VERSION, RANGE, false))).isEqualTo(content);
        assertThat(server.connections()).isEqualTo(2);
    }

    @Test
    void put_partAfterPart_arriveWholeOnOneConnection() throws Exception {
        server.answers(STORED, STORED);
        for (int i = 0; i < 2; i++) {
            ResponseHead answer = requests.put(new RetryState(), "key", Map.of(), Map.of(), this::readContent, LENGTH);
            assertThat(answer).isNotNull();
            assertThat(answer.header("ETag")).isEqualTo("\"new\"");
        }
        assertThat(server.connections()).isOne();
        assertThat(server.requests())
                .hasSize(2)
                .allSatisfy(lines -> assertThat(lines.getLast()).isEqualTo(new String(content, ISO_8859_1)));
    }

    @Test
    void get_connectionEndedMeanwhile_isLeftToTheSdkAndTheNextIsNot() throws Exception {
        server.answers(ScriptedServer.HANG_UP, HEAD + new String(content, ISO_8859_1));
        assertThat(requests.get(VERSION, RANGE, false)).isNull();
        assertThat(read(requests.get(VERSION, RANGE, false))).isEqualTo(content);
    }

    @Test
    void get_certificateNotTrusted_isLeftToTheSdkAndSoAreTheNext() throws Exception {
        try (DirectRequests distrustful = requests(null)) {
            assertThat(distrustful.get(VERSION, RANGE, false)).isNull();
            assertThat(distrustful.get(VERSION, RANGE, false)).isNull();
        }
        assertThat(server.connections()).isOne();
        assertThat(server.requests()).isEmpty();
    }

    @Test
    void get_certificateOfAnotherServer_isLeftToTheSdk() throws Exception {
        TestCertificate other = new TestCertificate(Files.createTempDirectory(folder, "other"), "dns:other");
        server.close();
        server = new ScriptedServer(other);
        server.answers(HEAD);
        try (DirectRequests direct = requests(other.pem())) {
            assertThat(direct.get(VERSION, RANGE, false)).isNull();
        }
        assertThat(server.requests()).isEmpty();
    }

    @Test
    void get_serverWithoutTls_isLeftToTheSdk() throws Exception {
        try (ScriptedServer plain = new ScriptedServer()) {
            plain.answers(HEAD);
            try (DirectRequests direct = new DirectRequests(
                    config(null, Duration.ofMillis(500)),
                    URI.create(plain.uri("/bucket/").toString().replace("http:", "https:")),
                    "r",
                    signer(),
                    engine.context("TLS", null, null),
                    new RequestCounters(),
                    System::nanoTime)) {
                assertThat(direct.get(VERSION, RANGE, false)).isNull();
            }
        }
    }

    @Test
    void read_bodyStalls_endsAfterTheReadTimeout() throws Exception {
        try (DirectRequests impatient = requests(certificate.pem(), Duration.ofSeconds(2))) {
            server.answers(HEAD + "he");
            ObjectBody body = impatient.get(VERSION, RANGE, false);
            assertThat(body).isNotNull();
            assertThat(body.read(ByteBuffer.allocateDirect(LENGTH), LENGTH)).isEqualTo(2);
            assertThatThrownBy(() -> body.read(ByteBuffer.allocateDirect(LENGTH), LENGTH - 2))
                    .isInstanceOf(SocketTimeoutException.class);
        }
    }

    @Test
    void read_interrupted_endsAtOnce() throws Exception {
        try (DirectRequests patient = requests(certificate.pem(), Duration.ofMinutes(5))) {
            server.answers(HEAD + "he");
            ObjectBody body = patient.get(VERSION, RANGE, false);
            assertThat(body).isNotNull();
            assertThat(body.read(ByteBuffer.allocateDirect(LENGTH), LENGTH)).isEqualTo(2);
            CompletableFuture<Throwable> failure = new CompletableFuture<>();
            Thread reader = Thread.ofVirtual().start(() -> {
                try {
                    body.read(ByteBuffer.allocateDirect(LENGTH), LENGTH - 2);
                    failure.complete(new AssertionError("it was read"));
                } catch (IOException e) {
                    failure.complete(e);
                }
            });
            reader.interrupt();
            assertThat(failure.get()).isInstanceOf(IOException.class);
        }
    }

    private S3Config config(@Nullable Path trusted, Duration readTimeout) {
        return TestConfigs.config(
                "bucket", at(server.uri(""), trusted, engine), readTimeout(readTimeout), RetryPolicy.DEFAULT);
    }

    private DirectRequests requests(@Nullable Path trusted) throws Exception {
        return requests(trusted, Duration.ofSeconds(30)); // a loaded machine is slow
    }

    private DirectRequests requests(@Nullable Path trusted, Duration readTimeout) throws Exception {
        S3Config config = config(trusted, readTimeout);
        return new DirectRequests(
                config,
                server.uri("/bucket/"),
                "us-east-1",
                signer(),
                TrustedCertificates.context(config.server()),
                new RequestCounters(),
                System::nanoTime);
    }

    private static StaticCredentialsProvider signer() {
        return StaticCredentialsProvider.create(AwsBasicCredentials.create("id", "secret"));
    }

    private void readContent(long offset, ByteBuffer target) {
        target.put(content, (int) offset, target.remaining());
    }

    /** Reads into one buffer from end to end, as into a page. */
    private static byte[] read(@Nullable ObjectBody body) throws IOException {
        assertThat(body).isNotNull();
        ByteBuffer target = ByteBuffer.allocateDirect(LENGTH);
        while (target.hasRemaining()) {
            assertThat(body.read(target, Math.min(target.remaining(), 1 << 20))).isPositive();
        }
        assertThat(body.finish()).isTrue();
        byte[] bytes = new byte[LENGTH];
        target.flip().get(bytes);
        return bytes;
    }
}

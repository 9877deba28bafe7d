package io.penstock.objectstore.s3;

import static io.penstock.objectstore.s3.TestConfigs.REQUESTER;
import static io.penstock.objectstore.s3.TestConfigs.at;
import static io.penstock.objectstore.s3.TestConfigs.readTimeout;
import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.RetryPolicy;
import io.penstock.objectstore.UploadBody;
import io.penstock.objectstore.http.ResponseHead;
import io.penstock.objectstore.s3.S3Config.Checksums;
import io.penstock.objectstore.s3.S3Config.HttpClient;
import io.penstock.objectstore.s3.S3Config.Integrity;
import io.penstock.objectstore.s3.S3Config.UploadChecksums;
import io.penstock.testing.BytesBody;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Map;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;

/** Which bodies are sent without the SDK, and which are left to it. */
@Timeout(30)
final class DirectUploadsTest {
    private static final String GOOD = "HTTP/1.1 200 OK\r\nETag: \"tag\"\r\nContent-Length: 0\r\n\r\n";

    private ScriptedServer server;
    private DirectRequests direct;

    private final RetryState attempts = new RetryState();

    @BeforeEach
    void start() throws Exception {
        server = new ScriptedServer();
        direct = direct(false);
    }

    @AfterEach
    void stop() throws IOException {
        direct.close();
        server.close();
    }

    @Test
    void put_part_isSignedWithItsQueryAndHasItsChecksum() throws Exception {
        server.answers(GOOD);

        ResponseHead answer = put(body("hello"), Map.of("partNumber", "7", "uploadId", "a/b=="), Map.of());

        assertThat(answer).isNotNull();
        assertThat(answer.header("ETag")).isEqualTo("\"tag\"");
        assertThat(server.requests().getFirst())
                .anyMatch(line -> line.matches("PUT /bucket/a%20key\\?.*partNumber=7.* HTTP/1.1"))
                .anyMatch(line -> line.matches("PUT .*uploadId=a%2Fb%3D%3D.*"))
                .contains("Content-Length: 5", "x-amz-checksum-crc32c: mnG7TA==", "hello")
                .anyMatch(line -> line.equalsIgnoreCase("x-amz-content-sha256: UNSIGNED-PAYLOAD"))
                .anyMatch(line -> line.matches("Authorization: .*SignedHeaders=.*x-amz-checksum-crc32c.*"));
    }

    @Test
    void put_condition_isSent() throws Exception {
        server.answers(GOOD);
        assertThat(put(body("hello"), Map.of(), Map.of("If-None-Match", "*"))).isNotNull();
        assertThat(server.requests().getFirst()).contains("If-None-Match: *");
    }

    @Test
    void put_emptyBody_isSent() throws Exception {
        server.answers(GOOD);
        assertThat(put(body(""), Map.of(), Map.of())).isNotNull();
        assertThat(server.requests().getFirst()).contains("Content-Length: 0");
    }

    @Test
    void put_oneAfterAnother_onOneConnection() throws Exception {
        server.answers(GOOD, GOOD);
        assertThat(put(body("one"), Map.of(), Map.of())).isNotNull();
        assertThat(put(body("two"), Map.of(), Map.of())).isNotNull();
        assertThat(server.connections()).isOne();
    }

    @Test
    void put_answerWithBody_isTakenAndItsConnectionIsNotUsedAgain() throws Exception {
        server.answers(GOOD.replace("Content-Length: 0\r\n\r\n", "Content-Length: 2\r\n\r\n{}"), GOOD);
        assertThat(put(body("one"), Map.of(), Map.of())).isNotNull();
        assertThat(put(body("two"), Map.of(), Map.of())).isNotNull();
        assertThat(server.connections()).isEqualTo(2);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "HTTP/1.1 412 Precondition Failed\r\nContent-Length: 0\r\n\r\n",
                "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
                "HTTP/1.1 503 Slow Down\r\nContent-Length: 0\r\n\r\n",
                ScriptedServer.HANG_UP
            })
    void put_unusualAnswer_isLeftToTheSdk(String answer) throws Exception {
        server.answers(answer);
        assertThat(put(body("hello"), Map.of(), Map.of())).isNull();
    }

    @ParameterizedTest
    @CsvSource({"412,false", "501,false", "500,true", "502,true", "503,true", "504,true", "200,true"})
    void put_answered_isInDoubtIfItMayHaveBeenDone(int status, boolean inDoubt) throws Exception {
        server.answers("HTTP/1.1 " + status + " Answer\r\nContent-Length: 0\r\n\r\n");
        put(body("hello"), Map.of(), Map.of());
        assertIsInDoubt(inDoubt);
    }

    @Test
    void put_storeIsBusy_isNotInDoubt() throws Exception {
        server.answers("HTTP/1.1 503 Slow Down\r\nx-amz-request-id: 1\r\nContent-Length: 0\r\n\r\n");
        put(body("hello"), Map.of(), Map.of());
        assertIsInDoubt(false);
    }

    @Test
    void put_answerLost_isInDoubt() throws Exception {
        server.answers(ScriptedServer.HANG_UP);
        put(body("hello"), Map.of(), Map.of());
        assertIsInDoubt(true);
    }

    @Test
    void put_nobodyListens_isNotInDoubt() throws Exception {
        server.close();
        assertThat(put(body("hello"), Map.of(), Map.of())).isNull();
        assertIsInDoubt(false);
    }

    /** The next attempt shows whether the outcome is in doubt. */
    private void assertIsInDoubt(boolean inDoubt) {
        attempts.attemptStarts();
        assertThat(attempts.isInDoubt()).isEqualTo(inDoubt);
    }

    @Test
    void put_interimResponseFirst_isSkipped() throws Exception {
        server.answers("HTTP/1.1 100 Continue\r\n\r\n" + GOOD, GOOD);
        assertThat(put(body("one"), Map.of(), Map.of())).isNotNull();
        assertThat(put(body("two"), Map.of(), Map.of())).isNotNull();
        assertThat(server.requests()).hasSize(2);
    }

    @Test
    void put_refusedBeforeTheBodyIsSent_theNextAreLeftToTheSdk() throws Exception {
        server.answersEarly("HTTP/1.1 503 Slow Down\r\nContent-Length: 0\r\n\r\n");
        UploadBody large = BytesBody.of(new byte[64 << 20]); // more than the sockets' buffers can take
        assertThat(put(large, Map.of(), Map.of())).isNull();
        assertThat(put(body("two"), Map.of(), Map.of())).isNull();
        assertThat(server.connections()).isOne();
    }

    @Test
    void put_successBeforeTheBodyIsSent_isNotBelieved() throws Exception {
        server.answersEarly(GOOD);
        UploadBody large = BytesBody.of(new byte[64 << 20]);
        assertThat(put(large, Map.of(), Map.of())).isNull();
    }

    @Test
    void put_connectionsBreakAgainAndAgain_theNextAreLeftToTheSdk() throws Exception {
        for (int i = 0; i < 20; i++) {
            server.answersEarly(ScriptedServer.HANG_UP);
            assertThat(put(body("hello"), Map.of(), Map.of())).isNull();
        }
        assertThat(server.connections()).isEqualTo(8);
    }

    @Test
    void put_signedPayloads_isLeftToTheSdk() throws Exception {
        try (DirectRequests signing = direct(true)) {
            SentBody sent = new SentBody(body("hello"), UploadChecksums.CRC32C);
            assertThat(sent.sendDirectly(signing, new RetryState(), "a key", Map.of(), Map.of()))
                    .isNull();
        }
        assertThat(server.connections()).isZero();
    }

    @Test
    void put_unreadableBody_isThrownAsItIs() {
        UploadBody broken = new UploadBody() {
            @Override
            public long length() {
                return 5;
            }

            @Override
            public OptionalInt crc32c() {
                return OptionalInt.of(1);
            }

            @Override
            public void read(long offset, ByteBuffer target) throws IOException {
                throw new IOException("the disk is broken");
            }
        };
        assertThatThrownBy(() -> put(broken, Map.of(), Map.of()))
                .isInstanceOf(IOException.class)
                .hasMessage("the disk is broken");
    }

    private @Nullable ResponseHead put(UploadBody body, Map<String, String> query, Map<String, String> headers)
            throws IOException, InterruptedException {
        return new SentBody(body, UploadChecksums.CRC32C).sendDirectly(direct, attempts, "a key", query, headers);
    }

    private static UploadBody body(String text) {
        return BytesBody.of(text.getBytes(ISO_8859_1));
    }

    private DirectRequests direct(boolean signedPayloads) throws ObjectStoreException {
        S3Config config = new S3Config(
                "bucket",
                at(server.uri("")),
                REQUESTER,
                HttpClient.DIRECT,
                readTimeout(Duration.ofMinutes(1)),
                new Integrity(Checksums.SUPPORTED, UploadChecksums.CRC32C, signedPayloads),
                RetryPolicy.DEFAULT);
        return new DirectRequests(
                config,
                server.uri("/bucket/"),
                "us-east-1",
                StaticCredentialsProvider.create(AwsBasicCredentials.create("id", "secret")),
                null,
                new RequestCounters(),
                System::nanoTime);
    }
}

package io.penstock.objectstore.s3;

import static io.penstock.objectstore.s3.TestConfigs.at;
import static io.penstock.objectstore.s3.TestConfigs.config;
import static io.penstock.objectstore.s3.TestConfigs.readTimeout;
import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.RetryPolicy;
import io.penstock.objectstore.http.HttpConnection.StalledException;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import software.amazon.awssdk.auth.credentials.AnonymousCredentialsProvider;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.core.SdkGlobalTime;

/** Which responses are accepted, and which requests are left to the SDK. */
@Timeout(60)
final class DirectRequestsTest {
    private static final ObjectVersion VERSION = new ObjectVersion("a folder/ä", "\"tag\"", 100, Instant.EPOCH);
    private static final ByteRange RANGE = new ByteRange(10, 5);
    private static final String GOOD = "HTTP/1.1 206 Partial Content\r\netag: \"tag\"\r\nContent-Length: 5\r\n"
            + "Content-Range: bytes 10-14/100\r\n\r\nhello";
    private static final String REFUSAL = "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n";
    private static final AwsCredentialsProvider CREDENTIALS =
            StaticCredentialsProvider.create(AwsBasicCredentials.create("id", "secret"));

    /** For responses that arrive, though slowly on a loaded machine. */
    private static final Duration PATIENT = Duration.ofMinutes(1);

    /** The number of responses that establish the usual time. */
    private static final int USUALLY = 16;

    private final AtomicLong nanoTime = new AtomicLong();
    private final RequestCounters counters = new RequestCounters();
    private ScriptedServer server;
    private DirectRequests gets;

    @BeforeEach
    void start() throws Exception {
        server = new ScriptedServer();
        gets = gets(CREDENTIALS);
    }

    @AfterEach
    void stop() throws IOException {
        gets.close();
        server.close();
    }

    @Test
    void get_part_isSignedAndNamesVersionAndRange() throws Exception {
        server.answers(GOOD);

        ObjectBody body = get();

        assertThat(body).isNotNull();
        assertThat(body.eTag()).isEqualTo("\"tag\"");
        assertThat(body.contentLength()).isEqualTo(5);
        assertThat(body.contentRange()).isEqualTo("bytes 10-14/100");
        assertThat(read(body)).isEqualTo("hello");
        assertThat(server.requests().getFirst())
                .startsWith("GET /bucket/a%20folder/%C3%A4 HTTP/1.1")
                .contains(
                        "Range: bytes=10-14",
                        "If-Match: \"tag\"",
                        "Host: " + server.uri("").getAuthority())
                .noneMatch(line -> line.endsWith("UNSIGNED-PAYLOAD"))
                .anyMatch(line -> line.matches("Authorization: AWS4-HMAC-SHA256 Credential=id/\\d+/us-east-1/s3/.*"));
    }

    @Test
    void get_anonymous_isNotSigned() throws Exception {
        server.answers(GOOD);
        try (DirectRequests anonymous = gets(AnonymousCredentialsProvider.create())) {
            ObjectBody body = anonymous.get(VERSION, RANGE, false);
            assertThat(body).isNotNull();
            assertThat(read(body)).isEqualTo("hello");
        }
        assertThat(server.requests().getFirst())
                .contains("Host: " + server.uri("").getAuthority())
                .noneMatch(line -> line.startsWith("Authorization"));
    }

    @Test
    void get_oneAfterAnother_onOneConnection() throws Exception {
        server.answers(GOOD, GOOD, GOOD);
        for (int i = 0; i < 3; i++) {
            assertThat(read(get())).isEqualTo("hello");
        }
        assertThat(server.connections()).isOne();
        assertThat(counters.snapshot()).isEqualTo(new RequestStatistics(3, 0, 0, 0, 0, 0, 0));
    }

    @Test
    void get_responseStalls_isAskedAgainOnAnotherConnection() throws Exception {
        try (DirectRequests patient = usually(Duration.ofMinutes(10))) {
            server.answersAndStalls("HTTP/1.1 206 Partial");
            server.answers(GOOD);

            assertThat(read(patient.get(VERSION, RANGE, false))).isEqualTo("hello");

            assertThat(server.connections()).isEqualTo(2);
            assertThat(server.requests().getLast()).contains("Range: bytes=10-14");
        }
    }

    @Test
    void get_bodyStalls_failsInAWayThatHasTheRestAskedAtOnce() throws Exception {
        try (DirectRequests patient = usually(Duration.ofMinutes(10))) {
            server.answersAndStalls(GOOD.replace("hello", "hel"));

            ObjectBody body = patient.get(VERSION, RANGE, false);

            assertThatThrownBy(() -> read(body)).isInstanceOf(StalledException.class);
        }
    }

    @Test
    void get_whereTheStoreStallsAsAWhole_isAskedAgainAFewTimesOnly() throws Exception {
        try (DirectRequests impatient = usually(Duration.ofSeconds(4))) {
            for (int i = 0; i < 20; i++) {
                server.answersAndStalls("HTTP/1.1 206 Partial");
            }

            assertThat(impatient.get(VERSION, RANGE, false))
                    .as("left to the SDK")
                    .isNull();

            assertThat(server.requests())
                    .as("twice, which is all there is to begin with")
                    .hasSize(USUALLY + 3);
        }
    }

    /**
     * A client that knows how long a response usually takes. The first is slow, so that only 0.8 s count as a stall:
     * later responses come sooner even on a loaded machine.
     */
    private DirectRequests usually(Duration readTimeout) throws Exception {
        DirectRequests requests = gets(CREDENTIALS, readTimeout);
        for (int i = 0; i < USUALLY; i++) {
            server.answersAfter(i == 0 ? Duration.ofMillis(300) : Duration.ZERO, GOOD);
            assertThat(read(requests.get(VERSION, RANGE, false))).isEqualTo("hello");
        }
        return requests;
    }

    @Test
    void get_answerSaysClose_nextOnAnotherConnection() throws Exception {
        server.answers(GOOD.replace("\r\n\r\n", "\r\nConnection: Close\r\n\r\n"), GOOD);
        assertThat(read(get())).isEqualTo("hello");
        assertThat(read(get())).isEqualTo("hello");
        assertThat(server.connections()).isEqualTo(2);
    }

    @Test
    void get_abortedBody_nextOnAnotherConnection() throws Exception {
        server.answers(GOOD, GOOD);
        ObjectBody body = get();
        assertThat(body).isNotNull();
        body.abort();
        assertThat(read(get())).isEqualTo("hello");
        assertThat(server.connections()).isEqualTo(2);
    }

    @ParameterizedTest
    @CsvSource({
        "crc32c, mnG7TA==",
        "crc32, NhCmhg==",
        "sha1, qvTGHdzF6KLavt4PO0gs2a6pQ00=",
        "sha256, LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=",
        "crc64nvme, M3eFcAZSQlc="
    })
    void get_wholeObject_isComparedWithTheChecksumThatIsAskedFor(String algorithm, String checksum) throws Exception {
        ObjectVersion whole = new ObjectVersion("key", "\"tag\"", 5, Instant.EPOCH);
        String answer = GOOD.replace("10-14/100", "0-4/5\r\nx-amz-checksum-" + algorithm + ": " + checksum);
        server.answers(answer, answer.replace("hello", "hallo"));

        assertThat(read(gets.get(whole, new ByteRange(0, 5), true))).isEqualTo("hello");
        assertThat(server.requests().getFirst()).contains("x-amz-checksum-mode: ENABLED");
        if (!algorithm.equals("crc64nvme")) { // the JDK cannot compute it
            assertThatThrownBy(() -> read(gets.get(whole, new ByteRange(0, 5), true)))
                    .isInstanceOf(DamagedBodyException.class)
                    .hasMessageContaining(algorithm.toUpperCase(Locale.ROOT));
        }
    }

    @Test
    void get_oneObjectRefusedRepeatedly_othersStayDirect() throws Exception {
        for (int i = 0; i < 20; i++) {
            server.answers(REFUSAL, GOOD);
            assertThat(get()).isNull();
            assertThat(read(get())).isEqualTo("hello");
        }
    }

    @Test
    void get_allRefused_theNextAreLeftToTheSdkToo() throws Exception {
        for (int i = 0; i < 20; i++) {
            server.answers(REFUSAL);
            assertThat(get()).isNull();
        }
        assertThat(server.requests()).hasSize(8);
    }

    @Test
    void get_refusedForAWhile_isTriedAgainAfterThePause() throws Exception {
        server.answers("HTTP/1.1 503 Slow Down\r\nContent-Length: 0\r\n\r\n", GOOD);
        assertThat(get()).isNull();
        nanoTime.addAndGet(Duration.ofSeconds(11).toNanos());
        assertThat(read(get())).isEqualTo("hello");
    }

    @Test
    void head_badRequestForOneObject_theOthersAreNotLeftToTheSdk() throws Exception {
        server.answers("HTTP/1.1 400 Bad Request\r\n\r\n", GOOD);
        assertThat(gets.head("another", false)).isNull();
        assertThat(read(get())).isEqualTo("hello");
    }

    @Test
    void get_connectionsBreakAgainAndAgain_theNextAreLeftToTheSdkToo() throws Exception {
        for (int i = 0; i < 20; i++) {
            server.answers(ScriptedServer.HANG_UP);
            assertThat(get()).isNull();
        }
        assertThat(server.connections()).isEqualTo(8);
    }

    @Test
    void get_interimResponsesFirst_areSkipped() throws Exception {
        server.answers("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" + GOOD, GOOD);
        assertThat(read(get())).isEqualTo("hello");
        assertThat(read(get())).isEqualTo("hello");
        assertThat(server.connections()).isOne();
    }

    @Test
    void get_nothingButInterimResponses_isLeftToTheSdk() throws Exception {
        server.answers("HTTP/1.1 100 Continue\r\n\r\n".repeat(1000));
        assertThat(get()).isNull();
    }

    /** Only these headers tie a response to its request. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "Content-Length: 5|Content-Range: bytes 10-14/100",
                "Content-Length: 5|ETag: \"other\"|Content-Range: bytes 10-14/100",
                "Content-Length: 5|ETag: \"tag\"",
                "Content-Length: 5|ETag: \"tag\"|Content-Range: bytes 10-140/100",
                "Content-Length: 5|ETag: \"tag\"|Content-Range: bytes 20-24/100",
                "Content-Length: 5|ETag: \"tag\"|Content-Range: bytes 10-14/99",
                "Content-Length: 5|ETag: \"tag\"|Content-Range: bytes=10-14",
                "Content-Length: 4|ETag: \"tag\"|Content-Range: bytes 10-14/100"
            })
    void get_headersOfAnotherRangeOrVersionOrNone_isLeftToTheSdk(String headers) throws Exception {
        server.answers("HTTP/1.1 206 Partial Content\r\n" + headers.replace("|", "\r\n") + "\r\n\r\nhello");
        assertThat(get()).isNull();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Content-Length: 5",
                "Content-Length: 6",
                "Transfer-Encoding: chunked",
                "ETag: \"tag\"",
                "Content-Range: bytes 10-14/100",
                "Content-Length : 5",
                " folded: line",
                "X-Lone: a\rb",
                "X-Lone: a\nb",
                "X-Nul: \0",
                "Näme: value"
            })
    void get_ambiguousHeader_isLeftToTheSdk(String header) throws Exception {
        server.answers(GOOD.replace("\r\n\r\n", "\r\n" + header + "\r\n\r\n"));
        assertThat(get()).isNull();
    }

    @Test
    void get_bytesAfterTheBody_areNotTheNextResponse() throws Exception {
        String smuggled = GOOD.replace("hello", "wrong");
        server.answers(GOOD + smuggled, GOOD);
        assertThat(read(get())).isEqualTo("hello");
        assertThat(read(get())).isEqualTo("hello");
        assertThat(server.connections()).isEqualTo(2);
    }

    @Test
    void get_entityTagWithLineBreak_isNotSentAsAHeader() throws Exception {
        ObjectVersion hostile = new ObjectVersion("key", "\"tag\"\r\nX-Injected: yes", 100, Instant.EPOCH);
        server.answers(GOOD, GOOD);
        assertThat(gets.get(hostile, RANGE, false)).isNull();
        assertThat(server.requests()).isEmpty();
        assertThat(read(get())).isEqualTo("hello");
    }

    @Test
    void get_wrongClock_isSignedByTheSdksCorrectedClock() throws Exception {
        server.answers(GOOD);
        Instant before = Instant.now();
        SdkGlobalTime.setGlobalTimeOffset((int) Duration.ofDays(2).toSeconds()); // our clock is this far ahead
        try {
            assertThat(read(get())).isEqualTo("hello");
        } finally {
            SdkGlobalTime.setGlobalTimeOffset(0);
        }
        String date = server.requests().getFirst().stream()
                .filter(line -> line.startsWith("X-Amz-Date: "))
                .findFirst()
                .orElseThrow();
        DateTimeFormatter format =
                DateTimeFormatter.ofPattern("yyyyMMdd'T'HHmmss'Z'").withZone(ZoneOffset.UTC);
        assertThat(format.parse(date.substring("X-Amz-Date: ".length()), Instant::from))
                .isBefore(before.minus(Duration.ofDays(1)));
    }

    @Test
    void get_noServer_theNextAreLeftToTheSdkToo() throws Exception {
        server.close();
        assertThat(get()).isNull();
        try (ScriptedServer back =
                new ScriptedServer("127.0.0.1", server.uri("").getPort())) {
            back.answers(GOOD);
            assertThat(get()).isNull();
            assertThat(back.connections()).isZero();
            nanoTime.addAndGet(Duration.ofSeconds(11).toNanos());
            assertThat(read(get())).isEqualTo("hello");
        }
    }

    @Test
    void get_headersWithoutEnd_isLeftToTheSdk() throws Exception {
        server.answers("HTTP/1.1 206 Partial Content\r\nX-Padding: " + "x".repeat(20_000));
        assertThat(get()).isNull();
    }

    @Test
    void get_noServer_isLeftToTheSdk() throws Exception {
        server.close();
        assertThat(get()).isNull();
    }

    @Test
    void read_bodyStalls_endsAfterTheReadTimeout() throws Exception {
        server.answers(GOOD.replace("hello", "he"));
        try (DirectRequests impatient = gets(CREDENTIALS, Duration.ofSeconds(2))) {
            ObjectBody body = impatient.get(VERSION, RANGE, false);
            assertThat(body).isNotNull();
            assertThat(body.read(ByteBuffer.allocateDirect(5), 5)).isEqualTo(2);
            assertThatThrownBy(() -> body.read(ByteBuffer.allocateDirect(5), 3))
                    .isInstanceOf(SocketTimeoutException.class);
        }
    }

    private DirectRequests gets(AwsCredentialsProvider credentials) throws ObjectStoreException {
        return gets(credentials, PATIENT);
    }

    private DirectRequests gets(AwsCredentialsProvider credentials, Duration readTimeout) throws ObjectStoreException {
        S3Config config = config("bucket", at(server.uri("")), readTimeout(readTimeout), RetryPolicy.DEFAULT);
        return new DirectRequests(
                config, server.uri("/bucket/"), "us-east-1", credentials, null, counters, nanoTime::get);
    }

    private @Nullable ObjectBody get() throws InterruptedException {
        return gets.get(VERSION, RANGE, false);
    }

    private static String read(@Nullable ObjectBody body) throws IOException {
        assertThat(body).isNotNull();
        ByteBuffer target = ByteBuffer.allocateDirect(5);
        while (target.hasRemaining()) {
            assertThat(body.read(target, target.remaining())).isPositive();
        }
        assertThat(body.finish()).isTrue();
        byte[] bytes = new byte[5];
        target.flip().get(bytes);
        return new String(bytes, ISO_8859_1);
    }
}

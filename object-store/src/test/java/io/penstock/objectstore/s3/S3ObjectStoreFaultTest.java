package io.penstock.objectstore.s3;

import static io.penstock.objectstore.s3.TestConfigs.REQUESTER;
import static io.penstock.objectstore.s3.TestConfigs.at;
import static io.penstock.objectstore.s3.TestConfigs.readTimeout;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;
import io.penstock.embeddeds3.EmbeddedS3;
import io.penstock.objectstore.ListRequest;
import io.penstock.objectstore.ObjectProperties;
import io.penstock.objectstore.ObjectStore;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.RetryPolicy;
import io.penstock.objectstore.WriteCondition;
import io.penstock.objectstore.s3.FaultProxy.Break;
import io.penstock.objectstore.s3.S3Config.HttpClient;
import io.penstock.objectstore.s3.S3Config.Integrity;
import io.penstock.testing.BytesBody;
import io.penstock.testing.CollectingSink;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Faults on the wire, with each HTTP client. */
@ParameterizedClass
@CsvSource({"DIRECT, false", "DIRECT, true", "SDK, false", "SDK, true"})
final class S3ObjectStoreFaultTest {
    private static final String BUCKET = "bucket";
    private static final String KEY = "folder/object";
    private static final byte[] CONTENT = new byte[1_000_000];

    @TempDir
    private static Path folder;

    private static EmbeddedS3 server;
    private static TestCertificate certificate;

    private final HttpClient httpClient;
    private final boolean encrypted;
    private final CollectingSink sink = new CollectingSink(CONTENT.length);
    private FaultProxy proxy;
    private S3ObjectStore store;
    private ObjectVersion version;

    S3ObjectStoreFaultTest(HttpClient httpClient, boolean encrypted) {
        this.httpClient = httpClient;
        this.encrypted = encrypted;
    }

    @BeforeAll
    static void startServer() throws Exception {
        new Random(1).nextBytes(CONTENT);
        certificate = new TestCertificate(folder, "ip:127.0.0.1");
        server = new EmbeddedS3(Files.createDirectory(folder.resolve("buckets")), "id", "secret");
        server.createBucket(BUCKET);
    }

    @AfterAll
    static void stopServer() {
        server.close();
    }

    @BeforeEach
    void connect() throws Exception {
        // One byte more than is read, so that all clients request ranges.
        server.put(BUCKET, KEY, Arrays.copyOf(CONTENT, CONTENT.length + 1));
        proxy = encrypted ? new FaultProxy(server.endpoint(), certificate) : new FaultProxy(server.endpoint());
        store = connect(Duration.ofSeconds(30), Duration.ofSeconds(30));
        version = store.head(KEY).version();
        proxy.takeRequests();
    }

    @AfterEach
    void disconnect() throws IOException {
        store.close();
        proxy.close();
    }

    @Test
    void get_connectionResetMidway_goesOnAfterTheLastByte() throws Exception {
        proxy.breakAfter(300_000, 1, Break.RESET);

        get(store);

        assertThat(sink.bytes()).isEqualTo(CONTENT);
        assertThat(proxy.takeRequests()).isEqualTo(2);
    }

    @Test
    void get_connectionBreaksAgainAndAgain_arrivesNevertheless() throws Exception {
        proxy.breakAfter(200_000, 4, Break.RESET);

        get(store);

        assertThat(sink.bytes()).isEqualTo(CONTENT);
    }

    /** Up to the cut, it looks like the response for an object with fewer properties. */
    @Test
    void head_connectionEndsWithinTheHeaders_isAskedAgain() throws Exception {
        assumeThat(httpClient).as("the SDK's client does not notice").isEqualTo(HttpClient.DIRECT);
        ObjectProperties properties = ObjectProperties.ofNew("a.html")
                .with(new TreeMap<>(Map.of(ObjectProperties.USER_METADATA + "note", "precious")));
        store.put("a.html", BytesBody.of(new byte[1000]), properties, WriteCondition.ALWAYS);
        ObjectVersion made = store.head("a.html").version(); // with the store's time, not that of the PUT here
        ObjectProperties expected = store.properties("a.html");
        assertThat(expected.headers()).containsValue("precious");

        for (int bytes = 1; bytes < 400; bytes += 31) {
            proxy.breakAfter(bytes, 1, Break.END);
            assertThat(store.properties("a.html")).as("cut after " + bytes).isEqualTo(expected);
            proxy.breakAfter(bytes, 1, Break.END);
            assertThat(store.head("a.html").version()).as("cut after " + bytes).isEqualTo(made);
        }
        store.delete("a.html");
    }

    @Test
    void head_noObject_isOneRequest() throws Exception {
        assertThatThrownBy(() -> store.head("missing")).isInstanceOf(ObjectStoreException.NotFound.class);
        assertThat(proxy.takeRequests()).isEqualTo(1);
    }

    /** An ingress that has no server at the moment. */
    @Test
    void head_pageNotFoundByWhatIsOnTheWay_isAskedAgain() throws Exception {
        proxy.answerPage(1, 404, "default backend - 404");
        assertThat(store.head(KEY).version()).isEqualTo(version);

        proxy.answerPage(3, 404, "default backend - 404");
        assertThat(store.properties(KEY).headers())
                .isEqualTo(store.describe(KEY).headers());

        proxy.answerPage(3, 404, "default backend - 404");
        assertThatThrownBy(() -> store.head("missing")).isInstanceOf(ObjectStoreException.NotFound.class);
    }

    @Test
    void head_pageNotFoundPastTheDeadline_isUnavailable() throws Exception {
        try (S3ObjectStore impatient = connect(Duration.ofSeconds(30), Duration.ZERO)) {
            proxy.answerPage(1000, 404, "default backend - 404");

            assertThatThrownBy(() -> impatient.head(KEY))
                    .isInstanceOf(ObjectStoreException.Unavailable.class)
                    .hasMessageContaining("404");
        }
    }

    @Test
    void get_bodyEndsEarly_goesOnAfterTheLastByte() throws Exception {
        proxy.breakAfter(300_000, 1, Break.END);

        get(store);

        assertThat(sink.bytes()).isEqualTo(CONTENT);
    }

    @Test
    void get_bodyStalls_goesOnAfterTheReadTimeout() throws Exception {
        try (S3ObjectStore impatient = connect(Duration.ofSeconds(1), Duration.ofSeconds(30))) {
            proxy.breakAfter(300_000, 1, Break.STALL);

            get(impatient);
        }
        assertThat(sink.bytes()).isEqualTo(CONTENT);
    }

    @Test
    void get_objectChangesWhileABodyIsBroken_failsThePrecondition() throws Exception {
        proxy.breakAfter(300_000, 1, Break.STALL);
        CompletableFuture<Exception> failure = start(store);
        proxy.awaitBreak();
        server.put(BUCKET, KEY, new byte[CONTENT.length + 1]);
        proxy.resetAll();

        assertThat(failure.get())
                .isInstanceOf(ObjectStoreException.PreconditionFailed.class)
                .hasMessageContaining(KEY);
        byte[] came = sink.bytes();
        assertThat(came).isEqualTo(Arrays.copyOf(CONTENT, came.length));
    }

    @Test
    void call_throttledForAWhile_succeeds() throws Exception {
        onceForAllClients();
        proxy.answer(1, 503, "SlowDown");

        get(store);

        assertThat(sink.bytes()).isEqualTo(CONTENT);
    }

    @Test
    void call_serverErrorForAWhile_succeeds() throws Exception {
        proxy.answer(5, 500, "InternalError");

        assertThat(store.head(KEY).version()).isEqualTo(version);
    }

    @Test
    void call_throttledPastTheDeadline_isThrottled() throws Exception {
        onceForAllClients();
        try (S3ObjectStore impatient = connect(Duration.ofSeconds(30), Duration.ZERO)) {
            proxy.answer(1000, 503, "SlowDown");

            assertThatThrownBy(() -> get(impatient))
                    .isInstanceOf(ObjectStoreException.Throttled.class)
                    .hasMessageContaining(KEY)
                    .hasMessageContaining("SlowDown");
        }
    }

    @Test
    void get_archived_isInvalidStateAndNotRetried() {
        proxy.answer(attempts(), 403, "InvalidObjectState");

        assertThatThrownBy(() -> get(store))
                .isInstanceOf(ObjectStoreException.InvalidState.class)
                .hasMessageContaining("restore");
        assertThat(proxy.takeRequests()).isEqualTo(attempts());
    }

    @Test
    void get_credentialsExpired_isAccessDenied() {
        proxy.answer(attempts(), 400, "ExpiredToken");

        assertThatThrownBy(() -> get(store))
                .isInstanceOf(ObjectStoreException.AccessDenied.class)
                .hasMessageContaining("expired");
    }

    @Test
    void list_throttledForAWhile_succeeds() throws Exception {
        onceForAllClients();
        proxy.answer(1, 503, "SlowDown");

        assertThat(store.list(ListRequest.of("", "")).objects()).hasSize(1);
    }

    @Test
    void get_serverGone_isUnavailableAndNamesIt() throws Exception {
        try (S3ObjectStore impatient = connect(Duration.ofSeconds(30), Duration.ZERO)) {
            proxy.close();

            assertThatThrownBy(() -> get(impatient)).isInstanceOf(ObjectStoreException.Unavailable.class);
        }
    }

    @Test
    void get_interruptedWhileStalled_endsAtOnce() throws Exception {
        proxy.breakAfter(300_000, 1, Break.STALL);
        CompletableFuture<Exception> failure = new CompletableFuture<>();
        Thread reader = Thread.startVirtualThread(() -> failure.complete(failureOf(store)));
        proxy.awaitBreak();

        reader.interrupt();

        assertThat(failure.get()).isInstanceOf(InterruptedException.class);
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 300_000})
    void requestsInFlight_whileAGetIsStalled_isOne(long bytesBefore) throws Exception {
        proxy.breakAfter(bytesBefore, 1, Break.STALL);
        CompletableFuture<Exception> failure = new CompletableFuture<>();
        Thread reader = Thread.startVirtualThread(() -> failure.complete(failureOf(store)));
        proxy.awaitBreak();
        assertThat(store.requestsInFlight()).isOne();

        reader.interrupt();

        assertThat(failure.get()).isInstanceOf(InterruptedException.class);
        assertThat(store.requestsInFlight()).isZero();
    }

    @Test
    void close_whileAGetIsStalled_endsIt() throws Exception {
        proxy.breakAfter(300_000, 1, Break.STALL);
        CompletableFuture<Exception> failure = start(store);
        proxy.awaitBreak();

        store.close();

        assertThat(failure.get()).isInstanceOf(ObjectStoreException.Unavailable.class);
    }

    /** A request that is refused on our own connections is repeated by the SDK, which can explain the refusal. */
    private int attempts() {
        return httpClient == HttpClient.DIRECT ? 2 : 1;
    }

    /** Pauses of the layers above the HTTP client take time and do not depend on it. */
    private void onceForAllClients() {
        assumeThat(httpClient).isEqualTo(HttpClient.SDK);
    }

    private S3ObjectStore connect(Duration readTimeout, Duration retryDeadline) throws Exception {
        return S3ObjectStore.connect(new S3Config(
                BUCKET,
                at(proxy.endpoint(), encrypted ? certificate.pem() : null),
                REQUESTER,
                httpClient,
                readTimeout(readTimeout),
                Integrity.DEFAULT,
                new RetryPolicy(retryDeadline, Duration.ZERO)));
    }

    private void get(ObjectStore from) throws ObjectStoreException, InterruptedException {
        from.get(version, new ByteRange(0, CONTENT.length), sink);
    }

    private CompletableFuture<Exception> start(ObjectStore from) {
        CompletableFuture<Exception> failure = new CompletableFuture<>();
        Thread.startVirtualThread(() -> failure.complete(failureOf(from)));
        return failure;
    }

    private Exception failureOf(ObjectStore from) {
        try {
            get(from);
            return new Exception("the GET succeeded");
        } catch (ObjectStoreException | InterruptedException | RuntimeException e) {
            return e;
        }
    }
}

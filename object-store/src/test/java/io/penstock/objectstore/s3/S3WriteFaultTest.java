package io.penstock.objectstore.s3;

import static io.penstock.objectstore.s3.TestConfigs.at;
import static io.penstock.objectstore.s3.TestConfigs.config;
import static io.penstock.objectstore.s3.TestConfigs.readTimeout;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;
import io.penstock.embeddeds3.EmbeddedS3;
import io.penstock.objectstore.MultipartUpload;
import io.penstock.objectstore.ObjectProperties;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.RetryPolicy;
import io.penstock.objectstore.UploadedPart;
import io.penstock.objectstore.WriteCondition;
import io.penstock.objectstore.s3.FaultProxy.Break;
import io.penstock.testing.BytesBody;
import io.penstock.testing.CollectingSink;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Faults on the wire during a write. */
final class S3WriteFaultTest {
    private static final String BUCKET = "bucket";
    private static final String KEY = "folder/object";
    private static final BytesBody BODY = BytesBody.random(3_000_000, 1);
    private static final BytesBody EMPTY = BytesBody.random(0, 1);

    @TempDir
    private static Path folder;

    private static EmbeddedS3 server;

    private FaultProxy proxy;
    private S3ObjectStore store;

    @BeforeAll
    static void startServer() throws IOException {
        server = new EmbeddedS3(folder, "id", "secret");
        server.createBucket(BUCKET);
    }

    @AfterAll
    static void stopServer() {
        server.close();
    }

    @BeforeEach
    void connect() throws Exception {
        proxy = new FaultProxy(server.endpoint());
        store = connect(Duration.ofSeconds(30), Duration.ofSeconds(30));
    }

    @AfterEach
    void disconnect() throws Exception {
        proxy.close();
        try (S3ObjectStore direct = S3ObjectStore.connect(config(BUCKET, at(server.endpoint())))) {
            direct.delete(KEY);
        }
        store.close();
    }

    /** Makes the store probe for conditions, so that later faults hit the tested request. */
    private static void probe(S3ObjectStore store) throws Exception {
        store.put("probed", EMPTY, WriteCondition.ABSENT);
        store.delete("probed");
        MultipartUpload upload = store.createUpload("probed");
        store.complete(upload, List.of(store.uploadPart(upload, 1, EMPTY)), WriteCondition.ABSENT);
        store.delete("probed");
    }

    @Test
    void put_connectionResetMidway_isSentAgain() throws Exception {
        proxy.breakRequestsAfter(1_000_000, 2, Break.RESET);

        ObjectVersion version = store.put(KEY, BODY, WriteCondition.ALWAYS);

        assertIsThere(version, BODY);
    }

    @Test
    void put_serverTakesNoMoreBytes_isSentAgainAfterTheReadTimeout() throws Exception {
        try (S3ObjectStore impatient = connect(Duration.ofSeconds(1), Duration.ofSeconds(30))) {
            proxy.breakRequestsAfter(1_000_000, 1, Break.STALL);
            BytesBody more = BytesBody.random(20_000_000, 2); // than the sockets' buffers can take

            assertIsThere(impatient.put(KEY, more, WriteCondition.ALWAYS), more);
        }
    }

    @Test
    void put_answerLost_isRecognisedByItsOperation() throws Exception {
        probe(store);
        proxy.breakAfter(10, 1, Break.RESET);

        ObjectVersion version = store.put(KEY, BODY, WriteCondition.ABSENT);

        assertIsThere(version, BODY);
    }

    @Test
    void uploadPart_connectionResetMidway_isSentAgain() throws Exception {
        MultipartUpload upload = store.createUpload(KEY);
        proxy.breakRequestsAfter(1_000_000, 1, Break.RESET);

        UploadedPart part = store.uploadPart(upload, 1, BODY);

        assertIsThere(store.complete(upload, List.of(part), WriteCondition.ALWAYS), BODY);
    }

    /** More often than the SDK retries. */
    @Test
    void uploadPart_connectionResetRepeatedly_isSentUntilTheDeadline() throws Exception {
        MultipartUpload upload = store.createUpload(KEY);
        proxy.breakRequestsAfter(100_000, 9, Break.RESET);

        UploadedPart part = store.uploadPart(upload, 1, BODY);

        assertIsThere(store.complete(upload, List.of(part), WriteCondition.ALWAYS), BODY);
    }

    /** More often than the SDK would retry. */
    @ParameterizedTest
    @CsvSource({"InternalError,6", "SlowDown,1", "ServiceUnavailable,1"})
    void complete_passingErrorWithStatus200_isTriedAgain(String code, int times) throws Exception {
        MultipartUpload upload = store.createUpload(KEY);
        List<UploadedPart> parts = List.of(store.uploadPart(upload, 1, BODY));
        proxy.answer(times, 200, code);

        assertIsThere(store.complete(upload, parts, WriteCondition.ALWAYS), BODY);
    }

    @ParameterizedTest
    @CsvSource({
        "PreconditionFailed,PreconditionFailed",
        "NoSuchUpload,NotFound",
        "InvalidPart,Refused",
        "AccessDenied,AccessDenied"
    })
    void complete_finalErrorWithStatus200_isWhatItsCodeSays(String code, String kind) throws Exception {
        probe(store);
        MultipartUpload upload = store.createUpload(KEY);
        List<UploadedPart> parts = List.of(store.uploadPart(upload, 1, BODY));
        proxy.answer(1, 200, code);

        assertThatThrownBy(() -> store.complete(upload, parts, WriteCondition.ABSENT))
                .extracting(e -> e.getClass().getSimpleName())
                .isEqualTo(kind);
        store.abort(upload);
    }

    @ParameterizedTest
    @ValueSource(ints = {200, 500})
    void copy_internalErrors_areTriedAgain(int status) throws Exception {
        ObjectVersion source = store.put(KEY, BODY, WriteCondition.ALWAYS);
        MultipartUpload upload = store.createUpload(KEY);
        proxy.answer(6, status, "InternalError");

        UploadedPart part = store.copyPart(upload, 1, source, new ByteRange(0, BODY.length()));
        proxy.answer(6, status, "InternalError");

        assertIsThere(store.complete(upload, List.of(part), WriteCondition.ALWAYS), BODY);
    }

    /** An ingress that has no server at the moment. */
    @Test
    void write_pageNotFoundByWhatIsOnTheWay_isTriedAgain() throws Exception {
        proxy.answerPage(2, 404, "default backend - 404");
        MultipartUpload upload = store.createUpload(KEY);
        proxy.answerPage(2, 404, "default backend - 404");
        UploadedPart part = store.uploadPart(upload, 1, BODY);
        proxy.answerPage(2, 404, "default backend - 404");

        assertIsThere(store.complete(upload, List.of(part), WriteCondition.ALWAYS), BODY);
    }

    @Test
    void put_pageNotFoundPastTheDeadline_isUnavailable() throws Exception {
        try (S3ObjectStore impatient = connect(Duration.ofSeconds(30), Duration.ZERO)) {
            proxy.answerPage(1000, 404, "default backend - 404");

            assertThatThrownBy(() -> impatient.put(KEY, EMPTY, WriteCondition.ALWAYS))
                    .isInstanceOf(ObjectStoreException.Unavailable.class)
                    .hasMessageContaining("404");
        }
    }

    /** No request reached the store: another client's object is not ours, even with the same content. */
    @ParameterizedTest
    @CsvSource({"503,SlowDown", "409,ConditionalRequestConflict"})
    void put_refusedForNowAndTheSameIsThere_failsThePrecondition(int status, String code) throws Exception {
        store.put(KEY, EMPTY, WriteCondition.ABSENT);
        proxy.answer(3, status, code);

        assertThatThrownBy(() -> store.put(KEY, EMPTY, WriteCondition.ABSENT))
                .isInstanceOf(ObjectStoreException.PreconditionFailed.class);
    }

    /** A proxy may have lost the store's response. Only an object of the same operation is the one put here. */
    @Test
    void put_unavailableByWhatIsOnTheWay_isRecognisedByItsOperation() throws Exception {
        ObjectProperties ours = ObjectProperties.ofNew(KEY).sent(KEY);
        ObjectVersion there = store.put(KEY, EMPTY, ours, WriteCondition.ABSENT);

        proxy.answerPage(1, 503, "upstream connect error or disconnect/reset before headers");
        assertThat(store.put(KEY, EMPTY, ours, WriteCondition.ABSENT).etag()).isEqualTo(there.etag());

        proxy.answerPage(1, 503, "upstream connect error or disconnect/reset before headers");
        assertThatThrownBy(() -> store.put(KEY, EMPTY, WriteCondition.ABSENT))
                .isInstanceOf(ObjectStoreException.PreconditionFailed.class);
    }

    @Test
    void complete_answerLost_isRecognisedAsDone() throws Exception {
        probe(store);
        MultipartUpload upload = store.createUpload(KEY);
        List<UploadedPart> parts = List.of(store.uploadPart(upload, 1, BODY));
        proxy.breakAfter(10, 1, Break.RESET);

        assertIsThere(store.complete(upload, parts, WriteCondition.ABSENT), BODY);
    }

    @Test
    void complete_answerTimesOutAfterItSucceeded_isRecognisedAsDone() throws Exception {
        try (S3ObjectStore impatient = connect(Duration.ofSeconds(1), Duration.ofSeconds(30))) {
            probe(impatient);
            MultipartUpload upload = impatient.createUpload(KEY);
            List<UploadedPart> parts = List.of(impatient.uploadPart(upload, 1, BODY));
            proxy.breakAfter(10, 1, Break.STALL);

            assertIsThere(impatient.complete(upload, parts, WriteCondition.ABSENT), BODY);
        }
    }

    @ParameterizedTest
    @CsvSource({"503,SlowDown", "500,InternalError", "409,ConditionalRequestConflict", "400,RequestTimeout"})
    void write_passingAnswer_isTriedAgain(int status, String code) throws Exception {
        proxy.answer(1, status, code);
        store.delete("anything");
        MultipartUpload upload = store.createUpload(KEY);
        proxy.answer(1, status, code);

        store.abort(upload);
    }

    @ParameterizedTest
    @CsvSource({
        "400,ExpiredToken,AccessDenied",
        "403,AccessDenied,AccessDenied",
        "403,QuotaExceeded,QuotaExceeded",
        "507,XMinioStorageFull,OutOfSpace",
        "400,InvalidArgument,Refused",
        "405,MethodNotAllowed,Refused",
        "501,NotImplemented,Refused",
        "301,PermanentRedirect,Refused"
    })
    void write_finalAnswer_isNotTriedAgain(int status, String code, String kind) {
        proxy.takeRequests();
        proxy.answer(1, status, code);

        assertThatThrownBy(() -> store.createUpload(KEY))
                .isInstanceOf(ObjectStoreException.class)
                .hasMessageContaining(code)
                .extracting(e -> e.getClass().getSimpleName())
                .isEqualTo(kind);
        assertThat(proxy.takeRequests()).isOne();
    }

    @Test
    void put_throttledPastTheDeadline_isThrottled() throws Exception {
        try (S3ObjectStore impatient = connect(Duration.ofSeconds(30), Duration.ZERO)) {
            proxy.answer(1000, 503, "SlowDown");

            assertThatThrownBy(() -> impatient.delete(KEY)).isInstanceOf(ObjectStoreException.Throttled.class);
        }
    }

    @Test
    void write_bucketDeleted_isNotFound() throws Exception {
        String gone = "gone";
        server.createBucket(gone);
        try (S3ObjectStore bereft = S3ObjectStore.connect(config(gone, at(proxy.endpoint())))) {
            Files.delete(folder.resolve(gone));

            assertThatThrownBy(() -> bereft.put(KEY, BODY, WriteCondition.ALWAYS))
                    .isInstanceOf(ObjectStoreException.NotFound.class)
                    .hasMessageContaining(gone);
            assertThatThrownBy(() -> bereft.createUpload(KEY)).isInstanceOf(ObjectStoreException.NotFound.class);
        }
    }

    @Test
    void put_interruptedWhileStalled_endsAtOnce() throws Exception {
        proxy.breakRequestsAfter(1_000_000, 1, Break.STALL);
        CompletableFuture<Exception> failure = new CompletableFuture<>();
        Thread writer = Thread.startVirtualThread(() -> failure.complete(failureOfPut()));
        proxy.awaitBreak();

        writer.interrupt();

        assertThat(failure.get()).isInstanceOf(InterruptedException.class);
    }

    @Test
    void close_whileAPutIsStalled_endsIt() throws Exception {
        proxy.breakRequestsAfter(1_000_000, 1, Break.STALL);
        CompletableFuture<Exception> failure = new CompletableFuture<>();
        Thread.startVirtualThread(() -> failure.complete(failureOfPut()));
        proxy.awaitBreak();

        store.close();

        assertThat(failure.get()).isInstanceOf(ObjectStoreException.Unavailable.class);
    }

    private Exception failureOfPut() {
        try {
            store.put(KEY, BytesBody.random(20_000_000, 3), WriteCondition.ALWAYS);
            return new Exception("the PUT succeeded");
        } catch (ObjectStoreException | IOException | InterruptedException | RuntimeException e) {
            return e;
        }
    }

    private void assertIsThere(ObjectVersion version, BytesBody body) throws Exception {
        assertThat(store.head(KEY).version().etag()).isEqualTo(version.etag());
        CollectingSink sink = new CollectingSink((int) body.length());
        store.get(version, new ByteRange(0, body.length()), sink);
        assertThat(sink.bytes()).isEqualTo(body.bytes());
    }

    private S3ObjectStore connect(Duration readTimeout, Duration deadline) throws Exception {
        RetryPolicy retries = new RetryPolicy(RetryPolicy.DEFAULT.reading(), deadline);
        return S3ObjectStore.connect(config(BUCKET, at(proxy.endpoint()), readTimeout(readTimeout), retries));
    }
}

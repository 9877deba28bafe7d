package io.penstock.objectstore.s3;

import static io.penstock.objectstore.s3.TestConfigs.at;
import static io.penstock.objectstore.s3.TestConfigs.config;
import static io.penstock.objectstore.s3.TestConfigs.readTimeout;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;
import io.penstock.embeddeds3.EmbeddedS3;
import io.penstock.objectstore.Deadline;
import io.penstock.objectstore.ListPage;
import io.penstock.objectstore.ListRequest;
import io.penstock.objectstore.MultipartUpload;
import io.penstock.objectstore.ObjectProperties;
import io.penstock.objectstore.ObjectStore;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.OperationId;
import io.penstock.objectstore.RetryPolicy;
import io.penstock.objectstore.StoredObject;
import io.penstock.objectstore.UploadedPart;
import io.penstock.objectstore.WriteCondition;
import io.penstock.objectstore.s3.FaultProxy.Break;
import io.penstock.objectstore.s3.S3Config.Limits;
import io.penstock.testing.BytesBody;
import io.penstock.testing.CollectingSink;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Calls while the store is away: they end within their deadline, or succeed once it is back. */
@Timeout(120)
final class OutageTest {
    private static final String BUCKET = "bucket";
    private static final String KEY = "folder/object";
    private static final byte[] CONTENT = "hello, world".getBytes(US_ASCII);
    private static final int FOR_EVER = Integer.MAX_VALUE;
    private static final Duration SHORT = Duration.ofMillis(300);

    /** More than a loaded machine needs from one line of a test to the next. */
    private static final Duration MOMENT = Duration.ofSeconds(3);

    private static final Duration LONG = Duration.ofMinutes(10);

    /** Never compared with an object: no call gets that far. */
    private static final ObjectVersion VERSION =
            new ObjectVersion(KEY, "\"tag\"", CONTENT.length + 1, Instant.ofEpochSecond(1));

    private static final MultipartUpload UPLOAD = new MultipartUpload(KEY, "upload", OperationId.random());
    private static final UploadedPart PART = new UploadedPart(1, "\"tag\"", CONTENT.length, OptionalInt.empty());

    enum Kind {
        GET,
        HEAD,
        PROPERTIES,
        LIST,
        PARTS,
        PUT,
        CREATE_UPLOAD,
        UPLOAD_PART,
        COPY_PART,
        COMPLETE,
        ABORT,
        COPY,
        DELETE,
        DELETE_VERSION;

        String setting() {
            return compareTo(PUT) < 0 ? "s3.retry-deadline" : "write.retry-deadline";
        }

        void call(ObjectStore store) throws Exception {
            call(store, VERSION);
        }

        void call(ObjectStore store, ObjectVersion version) throws Exception {
            BytesBody body = BytesBody.of(CONTENT);
            ByteRange range = new ByteRange(0, CONTENT.length);
            switch (this) {
                case GET -> store.get(version, range, new CollectingSink(CONTENT.length));
                case HEAD -> store.head(KEY);
                case PROPERTIES -> store.properties(KEY);
                case LIST -> store.list(ListRequest.of("", "/"));
                case PARTS -> store.parts(UPLOAD);
                case PUT -> store.put(KEY, body, WriteCondition.ALWAYS);
                case CREATE_UPLOAD -> store.createUpload(KEY);
                case UPLOAD_PART -> store.uploadPart(UPLOAD, 1, body);
                case COPY_PART -> store.copyPart(UPLOAD, 1, version, range);
                case COMPLETE -> store.complete(UPLOAD, List.of(PART), WriteCondition.ALWAYS);
                case ABORT -> store.abort(UPLOAD);
                case COPY -> store.copy(version, "copy", ObjectProperties.ofNew("copy"), WriteCondition.ALWAYS);
                case DELETE -> store.delete(KEY);
                case DELETE_VERSION -> store.delete(version);
            }
        }
    }

    @TempDir
    private Path folder;

    private EmbeddedS3 server;
    private FaultProxy proxy;

    @BeforeEach
    void start() throws Exception {
        server = new EmbeddedS3(folder, "id", "secret");
        server.createBucket(BUCKET);
        server.put(BUCKET, KEY, CONTENT);
        proxy = new FaultProxy(server.endpoint());
    }

    @AfterEach
    void stop() throws Exception {
        proxy.close();
        server.close();
    }

    @ParameterizedTest
    @EnumSource
    void call_storeFailsForEver_endsAndNamesTheSetting(Kind kind) throws Exception {
        try (ObjectStore store = connect(SHORT)) {
            proxy.answer(FOR_EVER, 500, "InternalError");
            assertThatThrownBy(() -> kind.call(store))
                    .isInstanceOf(ObjectStoreException.Unavailable.class)
                    .hasMessageContaining("given up after 300 ms")
                    .hasMessageContaining(kind.setting());
        }
    }

    /** Ended by the deadline, not by the connection's timeout. */
    @ParameterizedTest
    @EnumSource(names = {"GET", "HEAD", "PUT", "DELETE"})
    void call_storeSaysNothing_endsAndNamesTheSetting(Kind kind) throws Exception {
        try (ObjectStore store = connect(SHORT)) {
            proxy.breakAfter(0, FOR_EVER, Break.STALL);
            assertThatThrownBy(() -> kind.call(store))
                    .isInstanceOf(ObjectStoreException.Unavailable.class)
                    .hasMessageContaining(kind.setting());
        }
    }

    @ParameterizedTest
    @EnumSource
    void call_interruptedBetweenAttempts_ends(Kind kind) throws Exception {
        try (ObjectStore store = connect(LONG)) {
            proxy.answer(FOR_EVER, 503, "SlowDown");
            proxy.takeRequests();
            CompletableFuture<Throwable> failure = new CompletableFuture<>();
            Thread caller = Thread.startVirtualThread(() -> {
                try {
                    kind.call(store);
                } catch (Throwable e) {
                    failure.complete(e);
                }
            });
            while (proxy.takeRequests() == 0) {
                Thread.sleep(1);
            }

            caller.interrupt();

            assertThat(failure.get()).isInstanceOf(InterruptedException.class);
        }
    }

    /** All of the SDK's connections are used by requests without a response. */
    @Test
    void call_deadlineEndsBeforeAConnection_namesTheSetting() throws Exception {
        int connections = 2;
        try (ObjectStore store = connect(new Limits(connections, Limits.DEFAULT.connectTimeout(), LONG), LONG);
                ExecutorService others = Executors.newVirtualThreadPerTaskExecutor()) {
            proxy.breakAfter(0, FOR_EVER, Break.STALL);
            proxy.takeRequests();
            for (int i = 0; i < connections; i++) {
                Future<ListPage> _ = others.submit(() -> store.list(ListRequest.of("", "/")));
            }
            for (int sent = 0; sent < connections; sent += proxy.takeRequests()) {
                Thread.sleep(1);
            }

            Deadline deadline = new RetryPolicy(SHORT, SHORT).forReading();
            Throwable failure = catchThrowable(() -> deadline.call(() -> store.list(ListRequest.of("", "/"))));
            others.shutdownNow();

            assertThat(failure)
                    .isInstanceOf(ObjectStoreException.Unavailable.class)
                    .hasMessageContaining(Kind.LIST.setting());
        }
    }

    @Test
    void call_storeComesBack_succeeds() throws Exception {
        try (ObjectStore store = connect(LONG)) {
            ObjectVersion version = store.head(KEY).version();
            CollectingSink sink = new CollectingSink(CONTENT.length);

            proxy.answer(5, 500, "InternalError");
            store.get(version, new ByteRange(0, CONTENT.length), sink);
            proxy.answerPage(3, 404, "default backend - 404");
            store.put("new", BytesBody.of(CONTENT), WriteCondition.ALWAYS);

            assertThat(sink.bytes()).isEqualTo(CONTENT);
            assertThat(store.head("new").version().size()).isEqualTo(CONTENT.length);
        }
    }

    @Test
    void callsOfOneDeadline_thatIsOver_areOneAttemptEach() throws Exception {
        try (ObjectStore store = connect(LONG)) {
            proxy.answer(FOR_EVER, 500, "InternalError");
            Deadline deadline = new RetryPolicy(SHORT, SHORT).forReading();
            assertThatThrownBy(() -> deadline.call(() -> store.head(KEY)))
                    .isInstanceOf(ObjectStoreException.Unavailable.class);
            proxy.takeRequests();

            assertThatThrownBy(() -> deadline.call(() -> store.head(KEY)))
                    .isInstanceOf(ObjectStoreException.Unavailable.class);

            assertThat(proxy.takeRequests()).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"GET", "LIST", "PUT", "DELETE"})
    void progress_givesAllOfTheTimeAnew(Kind kind) throws Exception {
        try (ObjectStore store = connect(LONG)) {
            ObjectVersion version = store.head(KEY).version();
            Deadline deadline = new RetryPolicy(MOMENT, MOMENT).forReading();
            awaitEnd(deadline);

            deadline.call(() -> {
                kind.call(store, version);
                return null;
            });

            assertThat(deadline.isOver()).isFalse();
        }
    }

    @Test
    void head_isNoProgress() throws Exception {
        try (ObjectStore store = connect(LONG)) {
            Deadline deadline = new RetryPolicy(SHORT, SHORT).forReading();
            awaitEnd(deadline);
            StoredObject _ = deadline.call(() -> store.head(KEY));
            assertThat(deadline.isOver()).isTrue();
        }
    }

    /**
     * A request that waits for its turn does not time out while the store responds to others; a store that responds to
     * none is away for all.
     */
    @Test
    void standingInLine_countsOnlyWhileTheStoreIsAway() throws Exception {
        Deadline deadline = new RetryPolicy(LONG, MOMENT).forWriting();
        long began = System.nanoTime();
        awaitEnd(deadline);

        deadline.stoodInLine();
        deadline.storeResponded(began - 1);
        assertThat(deadline.isOver()).isTrue();

        deadline.storeResponded(System.nanoTime() + LONG.toNanos());
        assertThat(deadline.isOver()).as("it has not stood in line since").isTrue();

        deadline.stoodInLine();
        deadline.storeResponded(System.nanoTime() + LONG.toNanos());
        assertThat(deadline.isOver()).isFalse();
    }

    @Test
    void standingInLine_repeatedly_doesNotHideFailuresOfTheCall() throws Exception {
        Deadline deadline = new RetryPolicy(SHORT, SHORT).forReading();

        while (!deadline.isOver()) {
            deadline.stoodInLine(System.nanoTime());
            Thread.sleep(1); // its own request fails while the store responds to others
            deadline.storeResponded(System.nanoTime());
        }

        assertThat(deadline.isOver()).isTrue();
    }

    private static void awaitEnd(Deadline deadline) throws InterruptedException {
        while (!deadline.isOver()) {
            Thread.sleep(1);
        }
    }

    /** Tries until it succeeds: a loaded machine may need longer than a short deadline. */
    private ObjectStore connect(Duration deadline) throws Exception {
        while (true) {
            try {
                return connect(readTimeout(LONG), deadline);
            } catch (ObjectStoreException.Unavailable _) {
                // the test's timeout ends this
            }
        }
    }

    private ObjectStore connect(Limits limits, Duration deadline) throws Exception {
        return S3ObjectStore.connect(config(BUCKET, at(proxy.endpoint()), limits, new RetryPolicy(deadline, deadline)));
    }
}

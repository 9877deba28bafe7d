package io.penstock.objectstore.s3;

import static io.penstock.objectstore.s3.TestConfigs.REQUESTER;
import static io.penstock.objectstore.s3.TestConfigs.at;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;
import io.penstock.embeddeds3.EmbeddedS3;
import io.penstock.objectstore.ListRequest;
import io.penstock.objectstore.MultipartUpload;
import io.penstock.objectstore.ObjectProperties;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.OperationId;
import io.penstock.objectstore.RetryPolicy;
import io.penstock.objectstore.UploadedPart;
import io.penstock.objectstore.WriteCondition;
import io.penstock.objectstore.s3.FaultProxy.Break;
import io.penstock.objectstore.s3.S3Config.HttpClient;
import io.penstock.objectstore.s3.S3Config.Integrity;
import io.penstock.objectstore.s3.S3Config.Limits;
import io.penstock.testing.BytesBody;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Responses to writes that end within their headers or their body, with each HTTP client. The SDK's client takes a
 * connection's end for that of the headers.
 */
@ParameterizedClass
@EnumSource
@Timeout(120)
final class CutResponseTest {
    private static final String KEY = "folder/object";
    private static final BytesBody BODY = BytesBody.random(1000, 1);
    private static final String MD5 = "\"5d41402abc4b2a76b9719d911017c592\"";

    private static final String NAMELESS = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

    private static final String NAME_CUT = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nETag: \"5d4140";
    private static final String NAMED = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nETag: " + MD5 + "\r\n\r\n";

    @TempDir
    private Path folder;

    private final HttpClient httpClient;
    private EmbeddedS3 embedded;
    private FaultProxy proxy;
    private ScriptedServer server;
    private S3ObjectStore store;
    private S3ObjectStore scripted;

    CutResponseTest(HttpClient httpClient) {
        this.httpClient = httpClient;
    }

    @BeforeEach
    void connect() throws Exception {
        embedded = new EmbeddedS3(folder, "id", "secret");
        embedded.createBucket("bucket");
        proxy = new FaultProxy(embedded.endpoint());
        store = connect(proxy.endpoint(), httpClient);
        server = new ScriptedServer();
        server.answers(
                "HTTP/1.1 200 OK\r\n\r\n",
                "HTTP/1.1 200 OK\r\nContent-Length: 37\r\n\r\n<ListBucketResult></ListBucketResult>");
        scripted = connect(server.uri(""), HttpClient.SDK);
    }

    private static S3ObjectStore connect(URI endpoint, HttpClient client) throws Exception {
        RetryPolicy retries = new RetryPolicy(Duration.ofSeconds(30), Duration.ofSeconds(30));
        return S3ObjectStore.connect(
                new S3Config("bucket", at(endpoint), REQUESTER, client, Limits.DEFAULT, Integrity.DEFAULT, retries));
    }

    @AfterEach
    void disconnect() throws IOException {
        store.close();
        scripted.close();
        proxy.close();
        server.close();
        embedded.close();
    }

    @FunctionalInterface
    private interface Write<T> {
        T make() throws Exception;
    }

    /** Makes a write whose response ends after this many bytes. */
    private <T> T cut(int bytes, Write<T> write) throws Exception {
        proxy.breakAfter(bytes, 1, Break.END);
        T made = write.make();
        proxy.breakAfter(0, 0, Break.END);
        return made;
    }

    @Test
    void write_responseEndsAnywhere_isAsIfItWereLost() throws Exception {
        ObjectProperties properties = ObjectProperties.ofNew(KEY);
        for (int end = 1; end < 450; end += 23) {
            int bytes = end;
            String after = "cut after " + bytes;
            ObjectVersion source = store.put("source", BODY, WriteCondition.ALWAYS);
            ObjectVersion put = cut(bytes, () -> store.put(KEY, BODY, WriteCondition.ALWAYS));
            assertThat(put.etag()).as(after).isEqualTo(source.etag());
            MultipartUpload upload = cut(bytes, () -> store.createUpload(KEY));
            UploadedPart part = cut(bytes, () -> store.uploadPart(upload, 1, BODY));
            assertThat(part.etag()).as(after).isEqualTo(source.etag());
            ObjectVersion completed = cut(bytes, () -> store.complete(upload, List.of(part), WriteCondition.ALWAYS));
            assertThat(completed.etag())
                    .as(after)
                    .isEqualTo(store.head(KEY).version().etag());
            MultipartUpload second = store.createUpload(KEY);
            UploadedPart copied = cut(bytes, () -> store.copyPart(second, 1, source, new ByteRange(0, BODY.length())));
            assertThat(copied.etag()).as(after).isEqualTo(source.etag());
            assertThat(cut(bytes, () -> store.parts(second))).as(after).hasSize(1);
            store.abort(second);
            ObjectVersion copy = cut(bytes, () -> store.copy(source, KEY, properties, WriteCondition.ALWAYS));
            assertThat(copy.etag()).as(after).isEqualTo(source.etag());
            List<ObjectVersion> left = cut(bytes, () -> store.deleteAll(List.of(copy, source)));
            assertThat(left).as(after).isEmpty();
            assertThat(store.list(ListRequest.of("", "")).objects()).as(after).isEmpty();
        }
    }

    @Test
    void put_responseCutBeforeTheEtagEnds_isFoundByItsOperation() throws Exception {
        ObjectProperties properties = ObjectProperties.ofNew(KEY).sent(KEY);
        for (String response : List.of(NAMELESS, NAME_CUT)) {
            server.answersAndHangsUp(response);
            server.answers(there(MD5, properties.operation()));

            ObjectVersion version = scripted.put(KEY, BODY, properties, WriteCondition.ALWAYS);

            assertThat(version).isEqualTo(new ObjectVersion(KEY, MD5, 1000, Instant.parse("2026-11-22T12:00:00Z")));
        }
    }

    @Test
    void put_responseCutAndReplacedSince_failsThePrecondition() {
        server.answersAndHangsUp(NAMELESS);
        server.answers(there(MD5, OperationId.random()));

        assertThatThrownBy(() -> scripted.put(KEY, BODY, WriteCondition.ALWAYS))
                .isInstanceOf(ObjectStoreException.PreconditionFailed.class);
    }

    /** The store has no ETags, and may not keep the metadata of such an object. */
    @Test
    void put_neitherResponseHasAnEtag_isMadeNevertheless() throws Exception {
        String there = there("", null).replace("ETag: \r\n", "");
        server.answers(NAMELESS, there, there);

        assertThat(scripted.put(KEY, BODY, WriteCondition.ALWAYS).etag()).isEqualTo(ResponseValues.NO_ETAG);
    }

    @Test
    void uploadPart_responseCutWithinOrBeforeTheEtag_isSentAgain() throws Exception {
        MultipartUpload upload = new MultipartUpload(KEY, "u", OperationId.random());
        server.answers(NAMELESS, NAMED);
        assertThat(scripted.uploadPart(upload, 1, BODY).etag()).isEqualTo(MD5);

        server.answersAndHangsUp(NAME_CUT);
        server.answers(NAMELESS, NAMED); // repeated if the store is known to send ETags
        assertThat(scripted.uploadPart(upload, 1, BODY).etag()).isEqualTo(MD5);
    }

    @Test
    void uploadPart_storeHasNoEtags_isSentTwice() throws Exception {
        server.answers(NAMELESS, NAMELESS);

        MultipartUpload upload = new MultipartUpload(KEY, "u", OperationId.random());
        assertThat(scripted.uploadPart(upload, 1, BODY).etag()).isEqualTo(ResponseValues.NO_ETAG);
    }

    /** The response to a HEAD. */
    private static String there(String etag, @Nullable OperationId operation) {
        return "HTTP/1.1 200 OK\r\nETag: " + etag + "\r\nContent-Length: 1000\r\n"
                + (operation == null ? "" : OperationId.HEADER + ": " + operation.text() + "\r\n")
                + "Last-Modified: Sun, 22 Nov 2026 12:00:00 GMT\r\n\r\n";
    }
}

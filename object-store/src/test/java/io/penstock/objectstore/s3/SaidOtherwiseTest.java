package io.penstock.objectstore.s3;

import static io.penstock.objectstore.s3.TestConfigs.REQUESTER;
import static io.penstock.objectstore.s3.TestConfigs.at;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.RetryPolicy;
import io.penstock.objectstore.s3.S3Config.HttpClient;
import io.penstock.objectstore.s3.S3Config.Integrity;
import io.penstock.objectstore.s3.S3Config.Limits;
import io.penstock.testing.CollectingSink;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** Stores and proxies whose GETs contradict their listings, with each HTTP client. */
@ParameterizedClass
@EnumSource
@Timeout(60)
final class SaidOtherwiseTest {
    private static final String ETAG = "\"5d41402abc4b2a76b9719d911017c592\"";
    private static final ObjectVersion VERSION = new ObjectVersion("a", ETAG, 5, Instant.parse("2026-11-23T12:00:00Z"));

    private final HttpClient httpClient;
    private final CollectingSink sink = new CollectingSink(5);
    private ScriptedServer server;
    private S3ObjectStore store;

    SaidOtherwiseTest(HttpClient httpClient) {
        this.httpClient = httpClient;
    }

    @BeforeEach
    void connect() throws Exception {
        server = new ScriptedServer();
        server.answers(
                "HTTP/1.1 200 OK\r\n\r\n",
                "HTTP/1.1 200 OK\r\nContent-Length: 39\r\n\r\n<ListBucketResult></ListBucketResult>  ");
        store = S3ObjectStore.connect(new S3Config(
                "bucket",
                at(server.uri("")),
                REQUESTER,
                httpClient,
                Limits.DEFAULT,
                Integrity.DEFAULT,
                new RetryPolicy(Duration.ofSeconds(10), Duration.ofSeconds(10))));
    }

    @AfterEach
    void disconnect() throws IOException {
        store.close();
        server.close();
    }

    /** Twice, because the SDK repeats a request whose direct response is not accepted. */
    private void answers(String response) {
        server.answers(response, response);
    }

    private static String part(String etag, String body, int size) {
        return "HTTP/1.1 206 Partial Content\r\n" + (etag.isEmpty() ? "" : "ETag: " + etag + "\r\n")
                + "Last-Modified: Mon, 23 Nov 2026 12:00:00 GMT\r\nContent-Length: " + body.length()
                + "\r\nContent-Range: bytes 0-" + (body.length() - 1) + "/" + size + "\r\n\r\n" + body;
    }

    private void get() throws ObjectStoreException, InterruptedException {
        store.get(VERSION, new ByteRange(0, 5), sink);
    }

    @Test
    void get_weakEtag_isTheVersion() throws Exception {
        answers(part("W/" + ETAG, "hello", 5));

        get();

        assertThat(sink.bytes()).isEqualTo("hello".getBytes(UTF_8));
    }

    @Test
    void get_noEtag_isNotTakenForTheVersion() {
        answers(part("", "hello", 5));

        assertThatThrownBy(this::get)
                .isInstanceOf(ObjectStoreException.Corrupt.class)
                .hasMessageContaining("has no ETag");
    }

    /** The name is looked up again, as after a change. */
    @Test
    void get_anotherSizeThanListed_isAChange() {
        answers(part(ETAG, "hell", 4));

        assertThatThrownBy(this::get)
                .isInstanceOf(ObjectStoreException.PreconditionFailed.class)
                .hasMessageContaining("has 4 bytes, not 5");
    }

    @Test
    void get_moreThanListed_isAChange() {
        answers(part(ETAG, "hello", 7));

        assertThatThrownBy(this::get).isInstanceOf(ObjectStoreException.PreconditionFailed.class);
    }

    /** Otherwise Google's store decompresses it. The header is not signed, because proxies change it. */
    @Test
    void get_packedObject_isAskedForAsStored() throws Exception {
        answers(part(ETAG, "hello", 5).replace("\r\n\r\n", "\r\nContent-Encoding: gzip\r\n\r\n"));

        get();

        assertThat(sink.bytes()).isEqualTo("hello".getBytes(UTF_8));
        List<String> request = server.requests().getLast();
        assertThat(request).anyMatch(line -> line.equalsIgnoreCase("Accept-Encoding: gzip"));
        assertThat(request).noneMatch(line -> line.startsWith("Authorization") && line.contains("accept-encoding"));
    }
}

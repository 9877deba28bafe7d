package io.penstock.objectstore.s3;

import static io.penstock.objectstore.s3.TestConfigs.at;
import static io.penstock.objectstore.s3.TestConfigs.config;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.ListRequest;
import io.penstock.objectstore.ObjectProperties;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.WriteCondition;
import io.penstock.testing.Bodies;
import io.penstock.testing.CollectingSink;
import java.io.IOException;
import java.time.Instant;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Servers whose ETags are not derived from the content, or that send none. */
@Timeout(30)
final class OpaqueEtagTest {
    private static final String OLD = "Mon, 23 Nov 2026 12:00:00 GMT";
    private static final String NEW = "Mon, 23 Nov 2026 12:00:01 GMT";
    private static final Instant OLD_TIME = Instant.parse("2026-11-23T12:00:00Z");
    private static final String MD5 = "\"5d41402abc4b2a76b9719d911017c592\"";

    private ScriptedServer server;
    private S3ObjectStore store;

    @BeforeEach
    void connect() throws Exception {
        server = new ScriptedServer();
        server.answers(answer("200 OK", "", ""), answer("200 OK", "", "<ListBucketResult></ListBucketResult>"));
        store = S3ObjectStore.connect(config("bucket", at(server.uri(""))));
    }

    @AfterEach
    void disconnect() throws IOException {
        store.close();
        server.close();
    }

    @Test
    void list_emptyEtag_isAnObjectThatIsReadWithoutCondition() throws Exception {
        server.answers(
                answer(
                        "200 OK",
                        "",
                        "<ListBucketResult><Contents><Key>a</Key><Size>5</Size><ETag/>"
                            + "<LastModified>2026-11-23T12:00:00.000Z</LastModified></Contents></ListBucketResult>"),
                answer("206 Partial Content", part("", OLD), "ell"));

        ObjectVersion listed = store.list(new ListRequest("", "", null, null, 10))
                .objects()
                .getFirst()
                .version();
        CollectingSink sink = new CollectingSink(3);
        store.get(listed, new ByteRange(1, 3), sink);

        assertThat(sink.bytes()).isEqualTo("ell".getBytes(UTF_8));
        assertThat(server.requests().getLast()).noneMatch(line -> line.matches("(?i)if-match:.*"));
    }

    @ParameterizedTest
    @CsvSource({"1, 3, 206 Partial Content", "0, 5, 200 OK"})
    void get_writtenSince_isNotTheVersion(long offset, long length, String status) {
        String headers = length == 5 ? tag("\"x\"") + "Last-Modified: " + NEW + "\r\n" : part(tag("\"x\""), NEW);
        server.answers(answer(status, headers, "hello".substring((int) offset, (int) (offset + length))));
        ObjectVersion version = new ObjectVersion("a", "\"x\"", 5, OLD_TIME);

        assertThatThrownBy(() -> store.get(version, new ByteRange(offset, length), new CollectingSink((int) length)))
                .isInstanceOf(ObjectStoreException.PreconditionFailed.class);
    }

    @Test
    void put_opaqueEtag_hasTheTimeThatIsListed() throws Exception {
        server.answers(answer("200 OK", tag("\"x\"") + "Date: " + NEW + "\r\n", ""), head("\"x\"", 5));

        assertThat(put()).isEqualTo(new ObjectVersion("a", "\"x\"", 5, OLD_TIME));
    }

    @Test
    void put_opaqueEtagAndReplacedAtOnce_isNotTakenForTheOther() throws Exception {
        server.answers(answer("200 OK", tag("\"x\"") + "Date: " + NEW + "\r\n", ""), head("\"x\"", 6));

        assertThat(put()).isEqualTo(new ObjectVersion("a", "\"x\"", 5, OLD_TIME.plusSeconds(1)));
    }

    @Test
    void put_etagOfContent_isOneRequest() throws Exception {
        server.answers(answer("200 OK", tag(MD5), ""));
        int before = server.requests().size();

        assertThat(put().etag()).isEqualTo(MD5);

        assertThat(server.requests()).hasSize(before + 1);
    }

    private ObjectVersion put() throws Exception {
        return store.put("a", Bodies.of("hello".getBytes(UTF_8)), ObjectProperties.ofNew("a"), WriteCondition.ALWAYS);
    }

    private static String part(String etag, String modified) {
        return etag + "Content-Range: bytes 1-3/5\r\nLast-Modified: " + modified + "\r\n";
    }

    private static String tag(String etag) {
        return "ETag: " + etag + "\r\n";
    }

    /** For a HEAD, so without a body. */
    private static String head(String etag, long size) {
        return "HTTP/1.1 200 OK\r\n" + tag(etag) + "Content-Length: " + size + "\r\nLast-Modified: " + OLD + "\r\n\r\n";
    }

    private static String answer(String status, String headers, String body) {
        return "HTTP/1.1 " + status + "\r\n" + headers + "Content-Length: " + body.length() + "\r\n\r\n" + body;
    }
}

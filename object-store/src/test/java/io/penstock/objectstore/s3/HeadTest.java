package io.penstock.objectstore.s3;

import static io.penstock.objectstore.s3.TestConfigs.REQUESTER;
import static io.penstock.objectstore.s3.TestConfigs.at;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.ObjectDescription;
import io.penstock.objectstore.ObjectProperties;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.RetryPolicy;
import io.penstock.objectstore.StoredObject;
import io.penstock.objectstore.UploadBody;
import io.penstock.objectstore.WriteCondition;
import io.penstock.objectstore.s3.S3Config.HttpClient;
import io.penstock.objectstore.s3.S3Config.Integrity;
import io.penstock.objectstore.s3.S3Config.Limits;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** HEADs, with each HTTP client. */
@ParameterizedClass
@EnumSource
@Timeout(60)
final class HeadTest {
    private static final String PAGE_NOT_FOUND = "HTTP/1.1 404 Not Found\r\nServer: nginx\r\n\r\n";

    private static final String STORED =
            "HTTP/1.1 200 OK\r\nETag: \"d41d8cd98f00b204e9800998ecf8427e\"\r\nContent-Length: 0\r\n\r\n";

    private final HttpClient httpClient;
    private ScriptedServer server;
    private S3ObjectStore store;

    HeadTest(HttpClient httpClient) {
        this.httpClient = httpClient;
    }

    @BeforeEach
    void connect() throws Exception {
        server = new ScriptedServer();
        server.answers("HTTP/1.1 200 OK\r\n\r\n", listing());
        store = S3ObjectStore.connect(new S3Config(
                "bucket",
                at(server.uri("")),
                REQUESTER,
                httpClient,
                Limits.DEFAULT,
                Integrity.DEFAULT,
                new RetryPolicy(Duration.ofSeconds(30), Duration.ofSeconds(30))));
    }

    @AfterEach
    void disconnect() throws IOException {
        store.close();
        server.close();
    }

    /** Some servers send no request id with their responses. */
    @Test
    void head_notFoundWithoutRequestIdAndNotListed_isNotFound() {
        server.answers(PAGE_NOT_FOUND, listing("a.bak"));

        assertThatThrownBy(() -> store.head("a")).isInstanceOf(ObjectStoreException.NotFound.class);

        assertThat(server.requests().getLast().getFirst()).contains("list-type=2", "prefix=a", "max-keys=1");
    }

    @Test
    void head_notFoundWithoutRequestIdButListed_isRepeated() throws Exception {
        server.answers(PAGE_NOT_FOUND, listing("a"), PAGE_NOT_FOUND, listing("a"), there(""));

        assertThat(store.head("a").version().size()).isEqualTo(5);
    }

    @Test
    void head_notFoundWithoutRequestIdListingDenied_isNotFound() {
        server.answers(PAGE_NOT_FOUND, error("403 Forbidden", "AccessDenied"));

        assertThatThrownBy(() -> store.head("a")).isInstanceOf(ObjectStoreException.NotFound.class);
    }

    @Test
    void head_withoutRequestIdCredentialsExpired_isAccessDenied() {
        server.answers(PAGE_NOT_FOUND, error("400 Bad Request", "ExpiredToken"));

        assertThatThrownBy(() -> store.head("a")).isInstanceOf(ObjectStoreException.AccessDenied.class);
    }

    /** Otherwise an overwriting object would lose the tags. */
    @Test
    void properties_credentialsExpireBeforeTheTags_isAccessDenied() {
        server.answers(there("x-amz-tagging-count: 1\r\n"), error("400 Bad Request", "ExpiredToken"));

        assertThatThrownBy(() -> store.properties("a")).isInstanceOf(ObjectStoreException.AccessDenied.class);
    }

    @Test
    void properties_tagsMayNotBeRead_hasNone() throws Exception {
        server.answers(there("x-amz-tagging-count: 1\r\n"), error("403 Forbidden", "AccessDenied"));

        assertThat(store.properties("a").tags()).isEmpty();
    }

    /** The form in which Ceph's gateway sends it. */
    @Test
    void properties_metadataInUtf8_isAnEncodedWordThatRequestsCarry() throws Exception {
        server.answers(there("x-amz-meta-title: \u00c3\u00bc\r\n"), STORED);

        ObjectProperties properties = store.properties("a");
        ObjectVersion _ = store.put("a", UploadBody.EMPTY, properties, WriteCondition.ALWAYS);

        assertThat(server.requests().getLast()).contains("x-amz-meta-title: =?UTF-8?B?w7w=?=");
    }

    /** S3 requires the right to decrypt for checksums. */
    @Test
    void head_exceptForChecksums_asksForNone() throws Exception {
        server.answers(there(""), there(""), there(""), there("x-amz-checksum-crc32c: mnG7TA==\r\n"));

        StoredObject object = store.head("a");
        ObjectDescription _ = store.describe("a");
        ObjectProperties _ = store.properties("a");
        assertThat(server.requests()).noneMatch(HeadTest::asksForChecksums);

        assertThat(store.checksums(object.version())).containsExactly(Map.entry("CRC32C", "mnG7TA=="));
        assertThat(asksForChecksums(server.requests().getLast())).isTrue();
    }

    @Test
    void head_noLength_hasTheSizeThatIsListed() throws Exception {
        String noLength = there("").replace("Content-Length: 5\r\n", "");
        // The SDK's client takes a connection's end for that of the headers, so the HEAD is repeated there.
        server.answers(noLength, listing("a"));
        if (httpClient != HttpClient.DIRECT) {
            server.answers(noLength, listing("a"));
        }

        assertThat(store.head("a").version().size()).isEqualTo(5);
    }

    @Test
    void head_noLengthAndAnotherVersionIsListed_isAskedAgain() throws Exception {
        String noLength = there("").replace("Content-Length: 5\r\n", "").replace("\"x\"", "\"y\"");
        server.answers(noLength, listing("a"), there(""));

        assertThat(store.head("a").version().etag()).isEqualTo("\"x\"");
    }

    private static boolean asksForChecksums(List<String> request) {
        return request.stream().anyMatch(line -> line.equalsIgnoreCase("x-amz-checksum-mode: ENABLED"));
    }

    private static String listing(String... keys) {
        StringBuilder contents = new StringBuilder();
        for (String key : keys) {
            contents.append("<Contents><Key>")
                    .append(key)
                    .append("</Key><ETag>x</ETag><Size>5</Size>")
                    .append("<LastModified>2026-11-22T12:00:00.000Z</LastModified></Contents>");
        }
        return withBody("200 OK", "<ListBucketResult>" + contents + "</ListBucketResult>");
    }

    /** @param headers in addition to those of every object */
    private static String there(String headers) {
        return "HTTP/1.1 200 OK\r\nETag: \"x\"\r\n" + headers
                + "Content-Length: 5\r\nLast-Modified: Sun, 22 Nov 2026 12:00:00 GMT\r\n\r\n";
    }

    private static String error(String status, String code) {
        return withBody(status, "<Error><Code>" + code + "</Code><Message>No</Message></Error>");
    }

    private static String withBody(String status, String body) {
        return "HTTP/1.1 " + status + "\r\nContent-Type: application/xml\r\nContent-Length: " + body.length()
                + "\r\n\r\n" + body;
    }
}

package io.penstock.objectstore.s3;

import static io.penstock.objectstore.s3.TestConfigs.at;
import static io.penstock.objectstore.s3.TestConfigs.config;
import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.RetryPolicy;
import io.penstock.objectstore.s3.S3Config.Limits;
import io.penstock.testing.CollectingSink;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Whole objects whose bytes do not match the checksum in their response. */
@Timeout(30)
final class DamagedBodyTest {
    private static final ObjectVersion VERSION = new ObjectVersion("object", "\"tag\"", 5, Instant.EPOCH);
    private static final String GOOD = answer("hello", checksum("hello"));
    private static final String DAMAGED = answer("hallo", checksum("hello"));

    /** The number of requests for connecting. */
    private static final int REQUESTS_BEFORE = 2;

    private ScriptedServer server;
    private S3ObjectStore store;
    private CollectingSink sink = new CollectingSink(5);

    @BeforeEach
    void connect() throws Exception {
        server = new ScriptedServer();
        String listing = "<ListBucketResult><Name>bucket</Name><KeyCount>0</KeyCount></ListBucketResult>";
        server.answers(
                "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
                "HTTP/1.1 200 OK\r\nContent-Length: " + listing.length() + "\r\n\r\n" + listing);
        RetryPolicy retries = new RetryPolicy(Duration.ofSeconds(20), Duration.ZERO);
        store = S3ObjectStore.connect(config("bucket", at(server.uri("")), Limits.DEFAULT, retries));
    }

    @AfterEach
    void stop() throws IOException {
        store.close();
        server.close();
    }

    @Test
    void get_damagedOnce_isAskedForAgainBeforeAnybodySeesIt() throws Exception {
        server.answers(DAMAGED, GOOD);

        get();

        assertThat(sink.bytes()).isEqualTo("hello".getBytes(ISO_8859_1));
        assertThat(gets()).isEqualTo(2);
        assertThat(server.requests().getLast()).contains("x-amz-checksum-mode: ENABLED");
    }

    @Test
    void get_damagedAgain_isCorruptAndNobodySeesIt() {
        server.answers(DAMAGED, DAMAGED, GOOD);

        assertThatThrownBy(this::get)
                .isInstanceOf(ObjectStoreException.Corrupt.class)
                .hasMessageContaining("object");

        assertThat(sink.bytes()).isEmpty();
        assertThat(gets()).isEqualTo(2);
    }

    @Test
    void get_damagedInMoreThanOneBuffer_isCorruptAtOnce() {
        sink = new CollectingSink(ByteBuffer.allocateDirect(5), 2);
        server.answers(DAMAGED, GOOD);

        assertThatThrownBy(this::get).isInstanceOf(ObjectStoreException.Corrupt.class);

        assertThat(sink.bytes())
                .as("asking for the rest alone would find nothing wrong")
                .hasSize(4);
        assertThat(gets()).isEqualTo(1);
    }

    @Test
    void get_breaksBeforeItsChecksum_isRequestedAgainWhole() throws Exception {
        String broken = "HTTP/1.1 206 Partial Content\r\nETag: \"tag\"\r\nConnection: close\r\n"
                + "x-amz-checksum-crc32c: " + checksum("hello")
                + "\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhallo\r\n?\r\n";
        server.answers(broken, GOOD);

        get();

        assertThat(sink.bytes()).isEqualTo("hello".getBytes(ISO_8859_1));
        assertThat(server.requests().getLast()).contains("Range: bytes=0-4");
    }

    @Test
    void get_checksumOfPartsChecksums_isNotCompared() throws Exception {
        server.answers(answer("hello", "AAAAAA==-2"));

        get();

        assertThat(sink.bytes()).isEqualTo("hello".getBytes(ISO_8859_1));
    }

    /** S3 has been observed to send it without declaring it a checksum of checksums. */
    @Test
    void get_objectInParts_asksForNoChecksum() throws Exception {
        server.answers("HTTP/1.1 206 Partial Content\r\nETag: \"tag-2\"\r\nContent-Length: 5\r\n"
                + "Content-Range: bytes 0-4/5\r\n\r\nhello");

        store.get(new ObjectVersion("object", "\"tag-2\"", 5, Instant.EPOCH), new ByteRange(0, 5), sink);

        assertThat(sink.bytes()).isEqualTo("hello".getBytes(ISO_8859_1));
        assertThat(server.requests().getLast()).doesNotContain("x-amz-checksum-mode");
    }

    private void get() throws ObjectStoreException, InterruptedException {
        store.get(VERSION, new ByteRange(0, 5), sink);
    }

    private int gets() {
        return server.requests().size() - REQUESTS_BEFORE;
    }

    private static String answer(String body, String checksum) {
        return "HTTP/1.1 206 Partial Content\r\nETag: \"tag\"\r\nContent-Length: 5\r\n"
                + "Content-Range: bytes 0-4/5\r\nx-amz-checksum-crc32c: " + checksum + "\r\n\r\n" + body;
    }

    private static String checksum(String bytes) {
        CRC32C crc32c = new CRC32C();
        crc32c.update(bytes.getBytes(ISO_8859_1));
        return BodyChecksums.encode((int) crc32c.getValue());
    }
}

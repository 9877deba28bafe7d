package io.penstock.objectstore.s3;

import static io.penstock.objectstore.s3.TestConfigs.at;
import static io.penstock.objectstore.s3.TestConfigs.config;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;
import io.penstock.embeddeds3.EmbeddedS3;
import io.penstock.objectstore.ListRequest;
import io.penstock.objectstore.MultipartUpload;
import io.penstock.objectstore.ObjectProperties;
import io.penstock.objectstore.StoredObject;
import io.penstock.objectstore.UploadListener;
import io.penstock.objectstore.UploadedPart;
import io.penstock.objectstore.WriteCondition;
import io.penstock.testing.BytesBody;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Changes on stores that each lack one request or header of S3. {@link GapsContractTest} covers the whole contract. */
final class GapsTest {
    private static final String BUCKET = "bucket";

    /** What the store lacks, and how it reports that. */
    enum Off {
        COPY_OBJECT("CopyObject", 501, head -> isCopy(head) && !isPart(head)),
        UPLOAD_PART_COPY("UploadPartCopy", 501, head -> isCopy(head) && isPart(head)),
        SOURCE_CONDITION("x-amz-copy-source-if-match", 501, head -> has(head, "x-amz-copy-source-if-match")),
        SOURCE_CONDITION_INVALID("x-amz-copy-source-if-match", 400, head -> has(head, "x-amz-copy-source-if-match")),
        SOURCE_CONDITION_NEVER_MET("x-amz-copy-source-if-match", 412, head -> has(head, "x-amz-copy-source-if-match")),
        DELETE_OBJECTS("DeleteObjects", 501, head -> head.matches("(?s)post \\S+[?&]delete.*")),
        DELETE_OBJECTS_INVALID("DeleteObjects", 400, head -> head.matches("(?s)post \\S+[?&]delete.*")),
        IF_MATCH("", 501, head -> isChange(head) && has(head, "if-match")),
        IF_MATCH_INVALID("", 400, head -> isChange(head) && has(head, "if-match")),
        IF_NONE_MATCH("", 501, head -> isChange(head) && has(head, "if-none-match")),
        LIST_PARTS("", 501, head -> head.matches("(?s)get \\S+[?&]uploadid=.*")),
        LIST_MULTIPART_UPLOADS("", 501, head -> head.matches("(?s)get \\S+[?&]uploads.*")),
        GET_OBJECT_TAGGING("", 501, head -> head.matches("(?s)get \\S+[?&]tagging.*"));

        private final String gap;
        private final int status;

        @SuppressWarnings("ImmutableEnumChecker") // A lambda that captures nothing.
        private final Predicate<String> requests;

        Off(String gap, int status, Predicate<String> requests) {
            this.gap = gap;
            this.status = status;
            this.requests = requests;
        }

        void switchOff(FaultProxy front) {
            front.refuse(requests, status, code());
        }

        private String code() {
            return switch (status) {
                case 412 -> "PreconditionFailed";
                case 400 -> "InvalidArgument";
                default -> "NotImplemented";
            };
        }

        private static boolean isCopy(String head) {
            return has(head, "x-amz-copy-source");
        }

        private static boolean isPart(String head) {
            return head.matches("(?s)put \\S+partnumber=.*");
        }

        private static boolean isChange(String head) {
            return !head.startsWith("get ") && !head.startsWith("head ");
        }

        private static boolean has(String head, String header) {
            return head.contains("\r\n" + header + ": ");
        }
    }

    @TempDir
    private static Path folder;

    private static EmbeddedS3 server;
    private static FaultProxy front;

    @BeforeAll
    static void startServer() throws Exception {
        server = new EmbeddedS3(folder, "id", "secret");
        server.createBucket(BUCKET);
        front = new FaultProxy(server.endpoint());
    }

    @AfterAll
    static void stopServer() throws IOException {
        front.close();
        server.close();
    }

    /** Edits, renames and removals, twice: the second time, nothing that was refused before is tried. */
    @ParameterizedTest
    @EnumSource
    void changes_anyGap_areMadeAndTheGapIsRemembered(Off off) throws Exception {
        off.switchOff(front);
        try (S3ObjectStore store = S3ObjectStore.connect(config(BUCKET, at(front.endpoint())))) {
            change(store, "one");
            int refusals = front.refusals();
            change(store, "two");

            assertThat(front.refusals()).isEqualTo(refusals);
            assertThat(store.gaps()).containsAll(off.gap.isEmpty() ? List.of() : List.of(off.gap));
        }
    }

    private static void change(S3ObjectStore store, String key) throws Exception {
        BytesBody body = BytesBody.random((int) UploadedPart.MIN_SIZE, 1);
        ObjectVersion original = store.put(key, body, WriteCondition.ABSENT);
        MultipartUpload upload = store.createUpload(key);
        List<UploadedPart> parts = List.of(
                store.copyPart(upload, 1, original, new ByteRange(0, original.size())),
                store.uploadPart(upload, 2, BytesBody.random(10, 2)));
        ObjectVersion edited = store.complete(upload, parts, new WriteCondition.Unchanged(original.etag()));
        StoredObject there = store.head(key);
        assertThat(there.version().size()).isEqualTo(body.length() + 10);
        ObjectVersion renamed = store.duplicate(there, key + "-renamed", UploadListener.NOBODY);
        ObjectVersion changed =
                store.copy(edited, key, ObjectProperties.ofNew(key), new WriteCondition.Unchanged(edited.etag()));
        assertThat(store.deleteAll(List.of(renamed, changed))).isEmpty();
        assertThat(store.list(ListRequest.of(key, "")).objects()).isEmpty();
    }

    @Test
    void put_checksumHeaderNotImplemented_sendsAnMd5FromThenOn() throws Exception {
        String refusal = "<Error><Code>NotImplemented</Code><Message>x-amz-checksum-crc32c</Message></Error>";
        String refused = "HTTP/1.1 501 Not Implemented\r\nx-amz-request-id: 1\r\nContent-Length: " + refusal.length()
                + "\r\n\r\n" + refusal;
        String stored = "HTTP/1.1 200 OK\r\nETag: \"900150983cd24fb0d6963f7d28e17f72\"\r\nContent-Length: 0\r\n\r\n";
        String list = "<ListBucketResult></ListBucketResult>";
        try (ScriptedServer scripted = new ScriptedServer()) {
            scripted.answers(
                    "HTTP/1.1 200 OK\r\n\r\n",
                    "HTTP/1.1 200 OK\r\nContent-Length: " + list.length() + "\r\n\r\n" + list,
                    refused, // once for the direct request, once for the SDK's
                    refused,
                    stored,
                    stored);
            try (S3ObjectStore store = S3ObjectStore.connect(config(BUCKET, at(scripted.uri(""))))) {
                for (int i = 0; i < 2; i++) {
                    ObjectVersion _ = store.put("a", BytesBody.of("abc".getBytes(US_ASCII)), WriteCondition.ALWAYS);
                    assertThat(scripted.requests().getLast())
                            .contains("Content-MD5: kAFQmDzST7DWlj99KOF/cg==")
                            .noneMatch(line -> line.startsWith("x-amz-checksum-crc32c:"));
                }
                assertThat(store.gaps()).containsExactly("x-amz-checksum-crc32c");
            }
        }
    }
}

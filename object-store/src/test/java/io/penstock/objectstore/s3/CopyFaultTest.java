package io.penstock.objectstore.s3;

import static io.penstock.objectstore.s3.TestConfigs.at;
import static io.penstock.objectstore.s3.TestConfigs.config;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.MultipartUpload;
import io.penstock.objectstore.ObjectProperties;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.ObjectStoreException.PreconditionFailed;
import io.penstock.objectstore.OperationId;
import io.penstock.objectstore.StoredObject;
import io.penstock.objectstore.UploadListener;
import io.penstock.objectstore.WriteCondition;
import io.penstock.objectstore.WriteCondition.Unchanged;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Copies whose responses are lost, with a server that honours conditions on their targets as S3 does; S3Proxy and MinIO
 * do not.
 */
@Timeout(30)
final class CopyFaultTest {
    private static final String MD5 = "\"5d41402abc4b2a76b9719d911017c592\"";
    private static final String OTHER = "\"7d793037a0760186574b0282f2f435e7\"";
    private static final String OF_PARTS = "\"5d41402abc4b2a76b9719d911017c592-2\"";

    private static final OperationId OPERATION = OperationId.random();
    private static final ObjectProperties PROPERTIES = ObjectProperties.ofNew("target");

    /** The requests to connect, to probe whether conditions on copies are honoured, and for one copy. */
    private static final int REQUESTS_TO_BEGIN = 6;

    private static final String DONE = "HTTP/1.1 204 No Content\r\n\r\n";
    private static final String NOTHING_THERE = "HTTP/1.1 404 Not Found\r\nx-amz-request-id: 1\r\n\r\n";
    private static final String ANSWER_LOST = ScriptedServer.HANG_UP;
    private static final String REFUSED = withBody(
            "412 Precondition Failed", "<Error><Code>PreconditionFailed</Code><Message>At least one</Message></Error>");
    private static final String BUSY =
            withBody("503 Slow Down", "<Error><Code>SlowDown</Code><Message>Less</Message></Error>");
    private static final String COPIED =
            withBody("200 OK", "<CopyObjectResult><ETag>" + MD5 + "</ETag></CopyObjectResult>");
    private static final String SOURCE_DENIED =
            withBody("403 Forbidden", "<Error><Code>AccessDenied</Code><Message>No</Message></Error>");
    private static final String UPLOAD_CREATED =
            withBody("200 OK", "<InitiateMultipartUploadResult><UploadId>u</UploadId></InitiateMultipartUploadResult>");
    private static final String SOURCE_GONE =
            withBody("404 Not Found", "<Error><Code>NoSuchKey</Code><Message>Not there</Message></Error>");

    private static final String PART_COPIED =
            withBody("200 OK", "<CopyPartResult><ETag>" + MD5 + "</ETag></CopyPartResult>");
    private static final String UPLOAD_GONE =
            withBody("404 Not Found", "<Error><Code>NoSuchUpload</Code><Message>Not there</Message></Error>");
    private static final String NOT_KNOWN = "HTTP/1.1 501 Not Implemented\r\nx-amz-request-id: 1\r\n\r\n";

    private static final String SKEWED = withBody(
                    "403 Forbidden", "<Error><Code>RequestTimeTooSkewed</Code><Message>Late</Message></Error>")
            .replace("\r\n\r\n", "\r\nDate: Wed, 02 Jan 2036 12:00:00 GMT\r\n\r\n");

    private ScriptedServer server;
    private S3ObjectStore store;

    @BeforeEach
    void connect() throws Exception {
        server = new ScriptedServer();
        server.answers("HTTP/1.1 200 OK\r\n\r\n", withBody("200 OK", "<ListBucketResult></ListBucketResult>"));
        store = S3ObjectStore.connect(config("bucket", at(server.uri(""))));
        server.answers("HTTP/1.1 200 OK\r\nETag: " + MD5 + "\r\nContent-Length: 0\r\n\r\n", REFUSED, DONE, COPIED);
        ObjectVersion _ = copy(source(MD5), WriteCondition.ABSENT);
    }

    @AfterEach
    void disconnect() throws IOException {
        store.close();
        server.close();
    }

    @Test
    void copy_answerLost_isRecognisedByItsOperation() throws Exception {
        server.answers(ANSWER_LOST, REFUSED, there(OTHER, 5, OPERATION));

        ObjectVersion copy = copy(source(MD5), WriteCondition.ABSENT);

        assertThat(copy).isEqualTo(new ObjectVersion("target", OTHER, 5, Instant.parse("2026-11-22T12:00:00Z")));
        List<String> request = server.requests().get(REQUESTS_TO_BEGIN);
        assertThat(request).contains("If-None-Match: *", OperationId.HEADER + ": " + OPERATION.text());
    }

    @Test
    void copy_answerLostAndSourceGoneSince_isRecognisedByItsOperation() throws Exception {
        server.answers(ANSWER_LOST, SOURCE_GONE, there(MD5, 5, OPERATION));

        assertThat(copy(source(MD5), WriteCondition.ABSENT).etag()).isEqualTo(MD5);
    }

    @Test
    void copy_answerLostOntoAnOldVersion_isRecognisedByItsOperation() throws Exception {
        server.answers(ANSWER_LOST, REFUSED, there(OF_PARTS, 5, OPERATION));

        assertThat(copy(source(OF_PARTS), new Unchanged(OTHER)).etag()).isEqualTo(OF_PARTS);
        assertThat(server.requests().get(REQUESTS_TO_BEGIN)).contains("If-Match: " + OTHER);
    }

    /** Another client has just made the same copy. Each attempt got a response, so the copy is not ours. */
    @Test
    void copy_refusedAtOnce_failsThePreconditionWithoutALook() {
        server.answers(REFUSED);

        assertRefused(source(MD5), WriteCondition.ABSENT);
        assertThat(server.requests()).hasSize(REQUESTS_TO_BEGIN + 1);
    }

    @Test
    void copy_askedToWaitThenRefused_failsThePreconditionWithoutALook() {
        server.answers(BUSY, REFUSED);

        assertRefused(source(MD5), WriteCondition.ABSENT);
    }

    @Test
    void copy_answerLostAndTheSameOfAnotherThere_failsThePrecondition() {
        server.answers(ANSWER_LOST, REFUSED, there(MD5, 5, OperationId.random()));
        assertRefused(source(MD5), WriteCondition.ABSENT);

        server.answers(ANSWER_LOST, REFUSED, there(MD5, 5, null));
        assertRefused(source(MD5), WriteCondition.ABSENT);
    }

    @Test
    void copy_answerLostThenDenied_isRecognisedOrDenied() throws Exception {
        server.answers(ANSWER_LOST, SOURCE_DENIED, there(MD5, 5, OPERATION));
        assertThat(copy(source(MD5), WriteCondition.ABSENT).etag()).isEqualTo(MD5);

        server.answers(ANSWER_LOST, SOURCE_DENIED, there(MD5, 5, null));
        assertThatThrownBy(() -> copy(source(MD5), WriteCondition.ABSENT))
                .isInstanceOf(ObjectStoreException.AccessDenied.class);
    }

    @Test
    void copy_answerLostAndTheObjectMayNotBeRead_outcomeIsUnknown() {
        String denied = "HTTP/1.1 403 Forbidden\r\nx-amz-request-id: 1\r\n\r\n";
        server.answers(ANSWER_LOST, REFUSED, denied, denied); // the SDK repeats the HEAD

        assertThatThrownBy(() -> copy(source(MD5), WriteCondition.ABSENT))
                .isInstanceOf(ObjectStoreException.OutcomeUnknown.class);
    }

    /** A duplicate has the metadata of its source, so it carries no operation id. */
    @Test
    void duplicate_answerLostAndRefused_outcomeIsUnknown() {
        server.answers(ANSWER_LOST, REFUSED);
        StoredObject source = new StoredObject(source(MD5), "STANDARD");

        assertThatThrownBy(() -> store.duplicate(source, "target", UploadListener.NOBODY))
                .isInstanceOf(ObjectStoreException.OutcomeUnknown.class)
                .hasMessageContaining("target");
        assertThat(server.requests()).hasSize(REQUESTS_TO_BEGIN + 1); // plus the one whose answer was lost
    }

    @Test
    void duplicate_refusedAtOnce_failsThePrecondition() {
        server.answers(REFUSED);
        StoredObject source = new StoredObject(source(MD5), "STANDARD");

        assertThatThrownBy(() -> store.duplicate(source, "target", UploadListener.NOBODY))
                .isInstanceOf(PreconditionFailed.class);
    }

    @Test
    void copy_answerLostAndNothingThere_failsThePrecondition() {
        server.answers(ANSWER_LOST, REFUSED, NOTHING_THERE);

        assertRefused(source(MD5), WriteCondition.ABSENT);
    }

    /** S3 reports its time when it refuses a signature's time, and the SDK adopts it. */
    @Test
    void copy_clockWrong_isTriedOnceMoreByTheStoresClock() throws Exception {
        server.answers(SKEWED, REFUSED);

        assertRefused(source(MD5), WriteCondition.ABSENT);

        assertThat(server.requests().getLast()).anyMatch(line -> line.matches("(?i)x-amz-date: 20360102T.*"));
    }

    private ObjectVersion copy(ObjectVersion source, WriteCondition condition) throws Exception {
        return store.copy(source, "target", PROPERTIES.sentBy(OPERATION), condition);
    }

    @Test
    void copy_large_tellsOfItsUploadBeforeItsFirstPartAndOnceItIsOver() throws Exception {
        server.answers(UPLOAD_CREATED, PART_COPIED, PART_COPIED, completed(OF_PARTS));

        assertThat(copyLarge()).containsExactly("began u after 1 requests", "ended u after 4 requests");
    }

    @Test
    void copy_completeAndAbortFail_leavesUploadToTheListener() throws Exception {
        server.answers(UPLOAD_CREATED, SOURCE_DENIED, SOURCE_DENIED, SOURCE_DENIED);

        assertThat(copyLarge()).containsExactly("began u after 1 requests");
    }

    @Test
    void copy_ontoItself_isMadeInTheSameParts() throws Exception {
        server.answers(firstPart(6 << 20), UPLOAD_CREATED, PART_COPIED, PART_COPIED, completed(OF_PARTS));

        assertThat(copyOntoItself(ofTwoParts()).etag()).isEqualTo(OF_PARTS);

        List<List<String>> requests = requestsSince(REQUESTS_TO_BEGIN);
        assertThat(requests.getFirst().getFirst()).startsWith("HEAD /bucket/target?partNumber=1 ");
        assertThat(requests.get(1))
                .contains(OperationId.HEADER + ": " + OPERATION.text(), "x-amz-tagging: a=b", "content-type: text/a");
        assertThat(requests.subList(2, 4))
                .allSatisfy(part -> assertThat(part).contains("x-amz-copy-source-if-match: " + OF_PARTS))
                .satisfiesExactlyInAnyOrder(
                        part -> assertThat(part).contains("x-amz-copy-source-range: bytes=0-6291455"),
                        part -> assertThat(part).contains("x-amz-copy-source-range: bytes=6291456-10485759"));
        assertThat(requests).hasSize(5);
    }

    @Test
    void copy_ontoItselfCompletionLost_isRecognisedByItsOperation() throws Exception {
        server.answers(firstPart(6 << 20), UPLOAD_CREATED, PART_COPIED, PART_COPIED);
        server.answers(ANSWER_LOST, UPLOAD_GONE, there(OF_PARTS, 10 << 20, OPERATION));

        assertThat(copyOntoItself(ofTwoParts()).etag()).isEqualTo(OF_PARTS);
    }

    /** The object is another client's, written in the meantime with the same ETag. */
    @Test
    void copy_ontoItselfCompletionLostAndForeignObject_isNotOurs() {
        server.answers(firstPart(6 << 20), UPLOAD_CREATED, PART_COPIED, PART_COPIED);
        server.answers(ANSWER_LOST, UPLOAD_GONE, there(OF_PARTS, 10 << 20, OperationId.random()), DONE);

        assertThatThrownBy(() -> copyOntoItself(ofTwoParts())).isInstanceOf(ObjectStoreException.class);
    }

    @Test
    void copy_ontoItselfOfWhichAPartFails_isAborted() {
        server.answers(firstPart(8 << 20), UPLOAD_CREATED, REFUSED, REFUSED, DONE, DONE);

        assertThatThrownBy(() -> copyOntoItself(ofTwoParts())).isInstanceOf(PreconditionFailed.class);
        assertThat(server.requests().getLast().getFirst()).startsWith("DELETE /bucket/target?uploadId=u ");
    }

    /** The size of the first part is unknown, that of the object, less than half of it, or below S3's minimum. */
    @ParameterizedTest
    @ValueSource(ints = {0, 10 << 20, 4 << 20, 5 << 19})
    void copy_ontoItselfOfOtherParts_isMadeByOneRequest(int first) throws Exception {
        server.answers(first == 0 ? NOT_KNOWN : firstPart(first), COPIED);

        assertThat(copyOntoItself(ofTwoParts()).etag()).isEqualTo(MD5);
    }

    @Test
    void copy_ontoItselfOfManyPartsOrNone_isMadeByOneRequest() throws Exception {
        server.answers(COPIED, COPIED);

        copyOntoItself(new ObjectVersion("target", OF_PARTS.replace("-2", "-1001"), 10 << 20, Instant.EPOCH));
        copyOntoItself(new ObjectVersion("target", MD5, 10 << 20, Instant.EPOCH));

        assertThat(requestsSince(REQUESTS_TO_BEGIN)).hasSize(2);
    }

    /** Each copy there has another ETag. */
    @Test
    void copy_ontoItselfEncryptedWithKms_isMadeByOneRequest() throws Exception {
        server.answers(COPIED);

        ObjectProperties encrypted = PROPERTIES.with(Map.of("x-amz-server-side-encryption", "aws:kms"));
        assertThat(store.copy(ofTwoParts(), "target", encrypted, WriteCondition.ALWAYS)
                        .etag())
                .isEqualTo(MD5);
    }

    /** S3 accepts no range for such a small source. */
    @Test
    void copy_ontoItselfOfOneSmallPart_hasOnePartWithoutARange() throws Exception {
        String ofOnePart = OF_PARTS.replace("-2", "-1");
        server.answers(UPLOAD_CREATED, PART_COPIED, completed(ofOnePart));

        assertThat(copyOntoItself(new ObjectVersion("target", ofOnePart, 5, Instant.EPOCH))
                        .etag())
                .isEqualTo(ofOnePart);
        assertThat(requestsSince(REQUESTS_TO_BEGIN + 1).getFirst())
                .noneMatch(line -> line.startsWith("x-amz-copy-source-range"));
    }

    private ObjectVersion copyOntoItself(ObjectVersion source) throws Exception {
        ObjectProperties properties =
                new ObjectProperties(new TreeMap<>(Map.of("content-type", "text/a")), Map.of("a", "b"));
        return store.copy(source, "target", properties.sentBy(OPERATION), WriteCondition.ALWAYS);
    }

    private static ObjectVersion ofTwoParts() {
        return new ObjectVersion("target", OF_PARTS, 10 << 20, Instant.EPOCH);
    }

    private List<List<String>> requestsSince(int first) {
        List<List<String>> requests = server.requests();
        return requests.subList(first, requests.size());
    }

    private static String firstPart(int size) {
        return "HTTP/1.1 206 Partial Content\r\nETag: " + OF_PARTS + "\r\nContent-Length: " + size
                + "\r\nx-amz-mp-parts-count: 2\r\n\r\n";
    }

    private static String completed(String etag) {
        return withBody("200 OK", "<R><ETag>" + etag + "</ETag></R>");
    }

    /** The listener's events for a copy in two parts. */
    private List<String> copyLarge() throws InterruptedException {
        List<String> told = new ArrayList<>();
        ObjectVersion source = new ObjectVersion("source", MD5, 300L << 20, Instant.EPOCH);
        try {
            store.copy(source, "target", PROPERTIES, WriteCondition.ALWAYS, new UploadListener() {
                @Override
                public void began(MultipartUpload upload) {
                    told.add("began " + upload.id() + after());
                }

                @Override
                public void ended(MultipartUpload upload) {
                    told.add("ended " + upload.id() + after());
                }

                private String after() {
                    return " after " + (server.requests().size() - REQUESTS_TO_BEGIN) + " requests";
                }
            });
        } catch (ObjectStoreException e) {
            assertThat(e).isInstanceOf(ObjectStoreException.AccessDenied.class);
        }
        return told;
    }

    private void assertRefused(ObjectVersion source, WriteCondition condition) {
        assertThatThrownBy(() -> copy(source, condition)).isInstanceOf(PreconditionFailed.class);
    }

    private static ObjectVersion source(String etag) {
        return new ObjectVersion("source", etag, 5, Instant.EPOCH);
    }

    /** The response to a HEAD. */
    private static String there(String etag, long size, @Nullable OperationId operation) {
        return "HTTP/1.1 200 OK\r\nETag: " + etag + "\r\nContent-Length: " + size
                + (operation == null ? "" : "\r\n" + OperationId.HEADER + ": " + operation.text())
                + "\r\nLast-Modified: Sun, 22 Nov 2026 12:00:00 GMT\r\n\r\n";
    }

    private static String withBody(String status, String body) {
        return "HTTP/1.1 " + status + "\r\nContent-Type: application/xml\r\nContent-Length: " + body.length()
                + "\r\n\r\n" + body;
    }
}

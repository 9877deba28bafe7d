package io.penstock.objectstore.s3;

import static io.penstock.objectstore.s3.TestConfigs.REQUESTER;
import static io.penstock.objectstore.s3.TestConfigs.at;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.MultipartUpload;
import io.penstock.objectstore.ObjectProperties;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.ObjectStoreException.PreconditionFailed;
import io.penstock.objectstore.OperationId;
import io.penstock.objectstore.RetryPolicy;
import io.penstock.objectstore.UploadedPart;
import io.penstock.objectstore.WriteCondition;
import io.penstock.objectstore.WriteCondition.Unchanged;
import io.penstock.objectstore.s3.S3Config.Checksums;
import io.penstock.objectstore.s3.S3Config.HttpClient;
import io.penstock.objectstore.s3.S3Config.Integrity;
import io.penstock.objectstore.s3.S3Config.Limits;
import io.penstock.objectstore.s3.S3Config.UploadChecksums;
import io.penstock.testing.BytesBody;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Writes to a store that honours conditions only on some kinds of requests, and how conditions are enforced there. */
@Timeout(30)
final class ConditionalWritesTest {
    private static final String MINE = "\"5d41402abc4b2a76b9719d911017c592\"";
    private static final String THEIRS = "\"7d793037a0760186574b0282f2f435e7\"";

    private static final String DONE = "HTTP/1.1 204 No Content\r\n\r\n";
    private static final String NOTHING_THERE = "HTTP/1.1 404 Not Found\r\nx-amz-request-id: 1\r\n\r\n";
    private static final String STORED = "HTTP/1.1 200 OK\r\nETag: " + MINE + "\r\nContent-Length: 0\r\n\r\n";
    private static final String REFUSED = error("412 Precondition Failed", "PreconditionFailed");
    private static final String UNKNOWN = error("501 Not Implemented", "NotImplemented");
    private static final String CREATED = withBody(
            "200 OK", "<InitiateMultipartUploadResult><UploadId>probe</UploadId></InitiateMultipartUploadResult>");
    private static final String COMPLETED = withBody(
            "200 OK", "<CompleteMultipartUploadResult><ETag>" + MINE + "</ETag></CompleteMultipartUploadResult>");
    private static final String COPIED =
            withBody("200 OK", "<CopyObjectResult><ETag>" + MINE + "</ETag></CopyObjectResult>");
    private static final String DELETED = withBody("200 OK", "<DeleteResult></DeleteResult>");
    private static final String NO_UPLOADS = uploads();

    /** The time of the objects that {@link #there} shows. */
    private static final Instant WRITTEN = Instant.parse("2026-11-22T12:00:00Z");

    private ScriptedServer server;
    private S3ObjectStore store;

    @BeforeEach
    void connect() throws Exception {
        server = new ScriptedServer();
        store = connect(HttpClient.SDK, Integrity.DEFAULT, RetryPolicy.DEFAULT); // makes each request once
    }

    private S3ObjectStore connect(HttpClient client, Integrity integrity, RetryPolicy retries) throws Exception {
        server.answers("HTTP/1.1 200 OK\r\n\r\n", withBody("200 OK", "<ListBucketResult></ListBucketResult>"));
        return S3ObjectStore.connect(
                new S3Config("bucket", at(server.uri("")), REQUESTER, client, Limits.DEFAULT, integrity, retries),
                "mounted/");
    }

    private void reconnect(HttpClient client, Integrity integrity, RetryPolicy retries) throws Exception {
        store.close();
        store = connect(client, integrity, retries);
    }

    @AfterEach
    void disconnect() throws IOException {
        store.close();
        server.close();
    }

    @Test
    void complete_onlyPutsAreHonoured_isLookedForAndNotSent() throws Exception {
        server.answers(REFUSED, STORED); // the probe of PutObject, and the PUT
        store.put("mounted/a", BytesBody.random(5, 1), WriteCondition.ABSENT);
        server.answers(NO_UPLOADS, CREATED, STORED, COMPLETED, DONE); // the probe of CompleteMultipartUpload
        server.answers(there(THEIRS));

        assertThatThrownBy(() -> store.complete(upload(), parts(), new Unchanged(MINE)))
                .isInstanceOf(PreconditionFailed.class);

        assertThat(firstLines()).noneMatch(line -> line.contains("uploadId=mine") && line.startsWith("POST"));
        assertThat(firstLines()).anyMatch(line -> line.startsWith("DELETE /bucket/mounted/.penstock/probe-"));
    }

    @Test
    void complete_honoured_isSentWithoutALook() throws Exception {
        server.answers(NO_UPLOADS, CREATED, STORED, REFUSED, DONE); // the probe, then the abort of its upload
        server.answers(COMPLETED, COMPLETED);

        store.complete(upload(), parts(), new Unchanged(THEIRS));
        store.complete(upload(), parts(), new Unchanged(THEIRS));

        assertThat(server.requests().getLast()).contains("If-Match: " + THEIRS);
        assertThat(firstLines()).noneMatch(line -> line.startsWith("HEAD /bucket/mounted/a"));
        assertThat(firstLines()).filteredOn(line -> line.contains("probe")).hasSize(5);
    }

    @Test
    void complete_aMountWasKilledWhileItProbed_abortsWhatThatHasLeft() throws Exception {
        server.answers(
                uploads(begun("killed", "2026-11-20T11:59:59Z"), begun("probing", "2026-11-20T12:00:01Z")), DONE);
        server.answers(CREATED, STORED, REFUSED, DONE, COMPLETED);

        store.complete(upload(), parts(), new Unchanged(THEIRS));

        assertThat(firstLines())
                .filteredOn(line -> line.startsWith("DELETE"))
                .map(line -> line.substring(line.indexOf("uploadId=")))
                .containsExactly("uploadId=killed HTTP/1.1", "uploadId=probe HTTP/1.1");
    }

    @ParameterizedTest
    @ValueSource(strings = {"403 Forbidden", "501 Not Implemented", "503 Service Unavailable"})
    void complete_uploadsAreNotListed_probesNevertheless(String status) throws Exception {
        server.answers(error(status, "No"), CREATED, STORED, REFUSED, DONE, COMPLETED);

        store.complete(upload(), parts(), new Unchanged(THEIRS));

        assertThat(server.requests().getLast()).contains("If-Match: " + THEIRS);
    }

    @Test
    void put_storeDoesNotImplementTheCondition_isLookedForFromThenOn() throws Exception {
        server.answers(REFUSED, UNKNOWN, NOTHING_THERE, STORED);
        store.put("mounted/a", BytesBody.random(5, 1), WriteCondition.ABSENT);
        assertThat(server.requests().getLast()).noneMatch(line -> line.startsWith("If-None-Match"));

        server.answers(there(MINE));
        assertThatThrownBy(() -> store.put("mounted/a", BytesBody.random(5, 1), WriteCondition.ABSENT))
                .isInstanceOf(PreconditionFailed.class);
    }

    @Test
    void put_notImplementedForAnotherReason_isRefused() {
        server.answers(REFUSED, UNKNOWN, NOTHING_THERE, UNKNOWN);

        assertThatThrownBy(() -> store.put("mounted/a", BytesBody.random(5, 1), WriteCondition.ABSENT))
                .isInstanceOf(ObjectStoreException.Refused.class);
    }

    @Test
    void put_ignoredAndRepeated_isLookedForAgain() {
        server.answers(STORED, DONE); // the probe, made despite its condition
        server.answers(NOTHING_THERE, error("503 Slow Down", "SlowDown"), there(THEIRS));

        assertThatThrownBy(() -> store.put("mounted/a", BytesBody.random(5, 1), WriteCondition.ABSENT))
                .isInstanceOf(PreconditionFailed.class);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void put_ignored_isLookedForOnceForOneAttempt(boolean signedPayloads) throws Exception {
        Integrity integrity = new Integrity(Checksums.SUPPORTED, UploadChecksums.CRC32C, signedPayloads);
        reconnect(HttpClient.DIRECT, integrity, RetryPolicy.DEFAULT);
        server.answers(STORED, DONE, NOTHING_THERE, STORED);

        store.put("mounted/a", BytesBody.random(5, 1), WriteCondition.ABSENT);

        assertThat(firstLines())
                .filteredOn(line -> line.contains("/mounted/a "))
                .containsExactly("HEAD /bucket/mounted/a HTTP/1.1", "PUT /bucket/mounted/a HTTP/1.1");
    }

    @Test
    void delete_honoured_isSentWithItsVersion() throws Exception {
        answerProbeOfDelete();
        server.answers(DONE);

        store.delete(version(MINE));

        assertThat(server.requests().getLast()).contains("If-Match: " + MINE);
    }

    /** The object that another client has written after the first attempt stays. */
    @Test
    void delete_answerLostAndAnotherIsThere_isDone() throws Exception {
        answerProbeOfDelete();
        server.answers(ScriptedServer.HANG_UP, there(THEIRS));

        store.delete(version(MINE));

        assertThat(firstLines().getLast()).startsWith("HEAD");
    }

    @Test
    void delete_answerLostAndNothingIsThere_isDone() throws Exception {
        answerProbeOfDelete();
        server.answers(ScriptedServer.HANG_UP, NOTHING_THERE, ScriptedServer.HANG_UP, NOTHING_THERE);

        store.delete(version(MINE));
        store.delete("mounted/a");

        assertThat(firstLines().getLast()).startsWith("HEAD");
    }

    /** Such as another node's lock: all empty files have the same ETag. */
    @Test
    void delete_answerLostAndAnEqualOneOfALaterTimeIsThere_isDone() throws Exception {
        answerProbeOfDelete();
        server.answers(ScriptedServer.HANG_UP, there(MINE));

        store.delete(new ObjectVersion("mounted/a", MINE, 5, WRITTEN.minusSeconds(1)));

        assertThat(firstLines().getLast()).startsWith("HEAD");
    }

    @Test
    void delete_answerLostAndItIsStillThere_isMadeAgain() throws Exception {
        answerProbeOfDelete();
        server.answers(ScriptedServer.HANG_UP, there(MINE), DONE);
        store.delete(new ObjectVersion("mounted/a", MINE, 5, WRITTEN));
        assertThat(server.requests().getLast()).contains("If-Match: " + MINE);

        String denied = "HTTP/1.1 403 Forbidden\r\nx-amz-request-id: 1\r\n\r\n";
        server.answers(ScriptedServer.HANG_UP, denied, DONE);
        store.delete(new ObjectVersion("mounted/a", MINE, 5, WRITTEN));
        assertThat(firstLines().getLast()).startsWith("DELETE");
    }

    @Test
    void delete_refusedBecauseItIsGone_isDone() throws Exception {
        answerProbeOfDelete();
        server.answers(REFUSED, NOTHING_THERE);

        store.delete(version(MINE));
    }

    @Test
    void delete_ignored_isLookedForBeforeEachAttempt() throws Exception {
        // the probe: created, deleted despite its condition, looked up, and deleted again
        server.answers(STORED, DONE, NOTHING_THERE, DONE);
        server.answers(there(MINE), error("500 Internal Server Error", "InternalError"), there(THEIRS));

        store.delete(version(MINE));

        assertThat(firstLines().getLast()).startsWith("HEAD");
    }

    @Test
    void delete_writingIsDenied_isSentWithItsVersion() throws Exception {
        server.answers(error("403 Forbidden", "AccessDenied"), DONE);

        store.delete(version(MINE));

        assertThat(server.requests().getLast()).contains("If-Match: " + MINE);
    }

    /** Such refusals are transient. */
    @ParameterizedTest
    @ValueSource(strings = {"ExpiredToken", "InvalidTokenId", "InvalidAccessKeyId"})
    void delete_credentialsAreBadDuringTheProbe_probesAgain(String code) throws Exception {
        server.answers(error("403 Forbidden", code));
        assertThatThrownBy(() -> store.delete(version(MINE))).isInstanceOf(ObjectStoreException.AccessDenied.class);
        server.answers(STORED, error("403 Forbidden", code), DONE);
        assertThatThrownBy(() -> store.delete(version(MINE))).isInstanceOf(ObjectStoreException.AccessDenied.class);

        answerProbeOfDelete();
        server.answers(DONE);
        store.delete(version(MINE));

        assertThat(server.requests().getLast()).contains("If-Match: " + MINE);
        assertThat(firstLines())
                .filteredOn(line -> line.startsWith("PUT /bucket/mounted/.penstock/probe-"))
                .hasSize(3);
    }

    /** A deletion is what frees space. */
    @ParameterizedTest
    @ValueSource(strings = {"403 Forbidden QuotaExceeded", "507 Insufficient Storage XMinioStorageFull"})
    void delete_noRoomToProbeWith_isLookedForUntilThereIs(String answer) throws Exception {
        int code = answer.lastIndexOf(' ');
        server.answers(error(answer.substring(0, code), answer.substring(code + 1)), there(MINE), DONE);
        store.delete(version(MINE));
        assertThat(server.requests().getLast()).noneMatch(line -> line.startsWith("If-Match"));

        answerProbeOfDelete();
        server.answers(DONE);
        store.delete(version(MINE));
        assertThat(server.requests().getLast()).contains("If-Match: " + MINE);
    }

    /** A client that may write may lack the right to abort. */
    @Test
    void complete_abortingIsDenied_isSent() throws Exception {
        server.answers(NO_UPLOADS, CREATED, STORED, REFUSED, error("403 Forbidden", "AccessDenied"), COMPLETED);

        store.complete(upload(), parts(), new Unchanged(THEIRS));

        assertThat(server.requests().getLast()).contains("If-Match: " + THEIRS);
    }

    @Test
    void deleteAll_fewAmongManyWithoutConditions_boundsItsListing() throws Exception {
        answerProbesOfIgnoredDeletions();
        server.answers(
                withBody(
                        "200 OK",
                        "<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>x</NextContinuationToken>"
                            + "<Contents><Key>mounted/a</Key><ETag>" + MINE + "</ETag><Size>5</Size>"
                                                                                + "<LastModified>2026-11-22T12:00:00.000Z</LastModified></Contents></ListBucketResult>"),
                DELETED);
        server.answers(there(MINE), DONE);
        ObjectVersion far =
                new ObjectVersion("mounted/z", MINE, 5, version(MINE).lastModified());

        assertThat(store.deleteAll(List.of(version(MINE), far))).isEmpty();

        assertThat(firstLines().getLast()).startsWith("DELETE /bucket/mounted/z");
    }

    /** The store's listings before each attempt are not progress. */
    @Test
    void deleteAll_onlyListingsSucceed_endsByItsDeadline() throws Exception {
        RetryPolicy retries = new RetryPolicy(RetryPolicy.DEFAULT.reading(), Duration.ofMillis(300));
        reconnect(HttpClient.SDK, Integrity.DEFAULT, retries);
        answerProbesOfIgnoredDeletions();
        for (int i = 0; i < 1_000; i++) {
            server.answers(listing("a", MINE, "b", MINE), error("500 Internal Server Error", "InternalError"));
        }

        assertThatThrownBy(() -> store.deleteAll(two()))
                .isInstanceOf(ObjectStoreException.Unavailable.class)
                .hasMessageContaining("write.retry-deadline");
    }

    /** Only the code shows whether the condition has preserved the object. */
    @ParameterizedTest
    @ValueSource(strings = {"InternalError", "SlowDownWrite"})
    void deleteAll_theStoreIsInTroubleDuringTheProbe_probesAgain(String trouble) throws Exception {
        server.answers(STORED, kept(trouble), kept("PreconditionFailed"), DONE);
        server.answers(DELETED);

        assertThat(store.deleteAll(two())).isEmpty();

        assertThat(server.requests().getLast().getLast()).contains("<ETag>");
    }

    /** A policy may allow deletions in some folders only. */
    @Test
    void deleteAll_deletionOfProbesDenied_looksFirstAndProbesNoMore() throws Exception {
        String denied = error("403 Forbidden", "AccessDenied");
        server.answers(STORED, kept("AccessDenied"), denied); // the probe of DeleteObjects
        server.answers(STORED, denied, denied); // the probe of DeleteObject
        server.answers(listing("a", MINE, "b", MINE), DELETED, listing("a", MINE, "b", MINE), DELETED);

        assertThat(store.deleteAll(two())).isEmpty();
        assertThat(store.deleteAll(two())).isEmpty();

        assertThat(server.requests().getLast().getLast()).doesNotContain("<ETag>");
        assertThat(firstLines()).filteredOn(line -> line.startsWith("PUT")).hasSize(2);
    }

    /** A listing says nothing about the time before the next attempt. */
    @Test
    void deleteAll_repeatedWithoutConditions_listsBeforeEachAttempt() throws Exception {
        answerProbesOfIgnoredDeletions();
        server.answers(
                listing("a", MINE, "b", MINE), error("503 Slow Down", "SlowDown"), listing("a", THEIRS, "b", MINE));
        server.answers(DELETED, there(THEIRS), there(THEIRS));
        ObjectVersion other =
                new ObjectVersion("mounted/b", MINE, 5, version(MINE).lastModified());

        assertThat(store.deleteAll(List.of(version(MINE), other))).containsExactly(version(MINE));

        assertThat(server.requests())
                .filteredOn(request -> request.getFirst().startsWith("POST"))
                .last()
                .satisfies(request -> assertThat(request.getLast())
                        .contains("<Key>mounted/b</Key>")
                        .doesNotContain("mounted/a"));
        assertThat(firstLines()).noneMatch(line -> line.startsWith("DELETE /bucket/mounted/a"));
    }

    /** The first attempt may have deleted the object, so its refusal is not a failure. But here the object exists. */
    @Test
    void delete_responseToTheProbeLostAndThenRefused_isHonoured() throws Exception {
        server.answers(STORED, error("500 Internal Server Error", "InternalError"), there(MINE), REFUSED);
        server.answers(there(MINE), DONE);
        server.answers(DONE);

        store.delete(version(MINE));

        assertThat(server.requests().getLast()).contains("If-Match: " + MINE);
    }

    @Test
    void copy_responsesToTheProbeLostAndThenRefused_isHonoured() throws Exception {
        server.answers(STORED, ScriptedServer.HANG_UP, REFUSED, ScriptedServer.HANG_UP, REFUSED, REFUSED, DONE);
        server.answers(COPIED);

        ObjectVersion _ = copy();

        assertThat(server.requests().getLast()).contains("If-None-Match: *");
        assertThat(firstLines()).noneMatch(line -> line.startsWith("HEAD /bucket/mounted/"));
    }

    @Test
    void copy_responseToTheProbeLostAndThenMade_isLookedFor() throws Exception {
        server.answers(STORED, ScriptedServer.HANG_UP, COPIED, DONE, DONE);
        server.answers(NOTHING_THERE, COPIED);

        ObjectVersion _ = copy();

        assertThat(server.requests().getLast()).noneMatch(line -> line.startsWith("If-None-Match"));
    }

    /** After a 412 to a PUT or a completion whose first response was lost, a HEAD looks for the operation. */
    @Test
    void write_responseToTheProbeLostAndThenRefused_isHonoured() throws Exception {
        server.answers(ScriptedServer.HANG_UP, REFUSED, NOTHING_THERE, STORED);
        ObjectVersion _ = store.put("mounted/a", BytesBody.random(5, 1), WriteCondition.ABSENT);
        assertThat(server.requests().getLast()).contains("If-None-Match: *");

        server.answers(NO_UPLOADS, CREATED, STORED, ScriptedServer.HANG_UP, REFUSED, NOTHING_THERE, DONE);
        server.answers(COMPLETED);
        ObjectVersion _ = store.complete(upload(), parts(), new Unchanged(THEIRS));
        assertThat(server.requests().getLast()).contains("If-Match: " + THEIRS);
    }

    @Test
    void deleteAll_responseToTheProbeLostAndThenRefused_isHonoured() throws Exception {
        server.answers(STORED, ScriptedServer.HANG_UP, kept("PreconditionFailed"), DONE);
        server.answers(DELETED);

        assertThat(store.deleteAll(two())).isEmpty();

        assertThat(server.requests().getLast().getLast()).contains("<ETag>");
    }

    private ObjectVersion copy() throws Exception {
        ObjectProperties properties = ObjectProperties.ofNew("mounted/b").sent("mounted/b");
        return store.copy(version(MINE), "mounted/b", properties, WriteCondition.ABSENT);
    }

    /** For the probes of DeleteObjects and DeleteObject. */
    private void answerProbesOfIgnoredDeletions() {
        server.answers(STORED, DELETED, DONE, STORED, DONE, NOTHING_THERE, DONE);
    }

    private void answerProbeOfDelete() {
        server.answers(STORED, REFUSED, there(MINE), DONE);
    }

    private List<String> firstLines() {
        return server.requests().stream().map(List::getFirst).toList();
    }

    private static MultipartUpload upload() {
        return new MultipartUpload("mounted/a", "mine", OperationId.random());
    }

    private static List<UploadedPart> parts() {
        return List.of(new UploadedPart(1, MINE, 5));
    }

    private static List<ObjectVersion> two() {
        ObjectVersion a = version(MINE);
        return List.of(a, new ObjectVersion("mounted/b", MINE, a.size(), a.lastModified()));
    }

    private static ObjectVersion version(String etag) {
        return new ObjectVersion("mounted/a", etag, 5, Instant.EPOCH);
    }

    /** A listing of uploads that were created on 21 November 2026 at noon. */
    private static String uploads(String... uploads) {
        String body = "<ListMultipartUploadsResult>" + String.join("", uploads) + "</ListMultipartUploadsResult>";
        return withBody("200 OK\r\nDate: Sat, 21 Nov 2026 12:00:00 GMT", body);
    }

    private static String begun(String id, String time) {
        return "<Upload><Key>mounted/.penstock/probe-complete</Key><UploadId>" + id + "</UploadId><Initiated>" + time
                + "</Initiated></Upload>";
    }

    /** @param entries name and ETag of each object */
    private static String listing(String... entries) {
        StringBuilder contents = new StringBuilder();
        for (int i = 0; i < entries.length; i += 2) {
            contents.append("<Contents><Key>mounted/")
                    .append(entries[i])
                    .append("</Key><ETag>")
                    .append(entries[i + 1])
                    .append("</ETag><Size>5</Size><LastModified>2026-11-22T12:00:00.000Z</LastModified></Contents>");
        }
        return withBody("200 OK", "<ListBucketResult>" + contents + "</ListBucketResult>");
    }

    /** The response to a HEAD. */
    private static String there(String etag) {
        return "HTTP/1.1 200 OK\r\nETag: " + etag
                + "\r\nContent-Length: 5\r\nLast-Modified: Sun, 22 Nov 2026 12:00:00 GMT\r\n\r\n";
    }

    /** The response to a DeleteObjects request that has not deleted an object. */
    private static String kept(String code) {
        return withBody(
                "200 OK",
                "<DeleteResult><Error><Key>mounted/a</Key><Code>" + code
                        + "</Code><Message>No</Message></Error></DeleteResult>");
    }

    private static String error(String status, String code) {
        return withBody(status, "<Error><Code>" + code + "</Code><Message>No</Message></Error>");
    }

    private static String withBody(String status, String body) {
        return "HTTP/1.1 " + status + "\r\nContent-Type: application/xml\r\nContent-Length: " + body.length()
                + "\r\n\r\n" + body;
    }
}

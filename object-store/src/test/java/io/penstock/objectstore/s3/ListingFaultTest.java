package io.penstock.objectstore.s3;

import static io.penstock.objectstore.s3.TestConfigs.at;
import static io.penstock.objectstore.s3.TestConfigs.config;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.objectstore.ListPage;
import io.penstock.objectstore.ListRequest;
import io.penstock.objectstore.ObjectStore;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.RetryPolicy;
import io.penstock.objectstore.s3.S3Config.Limits;
import java.io.IOException;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Responses to a listing that are not a page of it. */
@Timeout(60)
final class ListingFaultTest {
    private static final String PAGE = "<ListBucketResult><Contents><Key>folder/k</Key><Size>5</Size>"
            + "<LastModified>2026-11-23T12:00:00.000Z</LastModified></Contents></ListBucketResult>";

    private ScriptedServer server;
    private S3ObjectStore store;

    @BeforeEach
    void connect() throws Exception {
        server = new ScriptedServer();
        store = connect(RetryPolicy.DEFAULT);
    }

    @AfterEach
    void disconnect() throws IOException {
        store.close();
        server.close();
    }

    @Test
    void list_pageAfterPage_takesOneConnection() throws Exception {
        server.answers(answer("200 OK", PAGE), answer("200 OK", PAGE));

        list(store);
        list(store);

        assertThat(server.connections()).isOne();
    }

    @Test
    void list_bodyBreaksOff_isAskedForAgain() throws Exception {
        String whole = answer("200 OK", PAGE);
        server.answersAndHangsUp(whole.substring(0, whole.length() - 20));
        server.answers(whole);

        assertThat(list(store).objects()).hasSize(1);
    }

    @Test
    void list_xmlBreaksOff_isAskedForAgain() throws Exception {
        server.answers(answer("200 OK", PAGE.substring(0, PAGE.length() - 20)), answer("200 OK", PAGE));

        assertThat(list(store).objects()).hasSize(1);
    }

    @Test
    void list_xmlBreaksOffPastTheDeadline_isUnavailableAndSaysWhere() throws Exception {
        try (S3ObjectStore impatient = connect(new RetryPolicy(Duration.ZERO, Duration.ZERO))) {
            server.answers(answer("200 OK", PAGE.substring(0, 30)));

            assertThatThrownBy(() -> list(impatient))
                    .isInstanceOf(ObjectStoreException.Unavailable.class)
                    .hasMessageContaining("bucket 'bucket'")
                    .hasMessageContaining("the listing of 'folder/' cannot be read: it ends early, after 30 bytes");
        }
    }

    @Test
    void list_errorOfSuccess_isWhatItSays() {
        server.answers(answer("200 OK", "<Error><Code>AccessDenied</Code><Message>not you</Message></Error>"));

        assertThatThrownBy(() -> list(store))
                .isInstanceOf(ObjectStoreException.AccessDenied.class)
                .hasMessageContaining("not you");
    }

    @Test
    void list_passingErrorOfSuccess_isAskedForAgain() throws Exception {
        server.answers(answer("200 OK", "<Error><Code>InternalError</Code></Error>"), answer("200 OK", PAGE));

        assertThat(list(store).objects()).hasSize(1);
    }

    @Test
    void list_refused_isWhatItSays() {
        server.answers(answer("403 Forbidden", "<Error><Code>AccessDenied</Code><Message>not you</Message></Error>"));

        assertThatThrownBy(() -> list(store))
                .isInstanceOf(ObjectStoreException.AccessDenied.class)
                .hasMessageContaining("not you");
    }

    @Test
    void list_throttled_isAskedForAgain() throws Exception {
        server.answers(
                answer("503 Slow Down", "<Error><Code>SlowDown</Code></Error>"),
                answer("500 Internal Server Error", ""),
                answer("200 OK", PAGE));

        assertThat(list(store).objects()).hasSize(1);
    }

    @Test
    void list_unavailableWithoutAReason_mayBeDownOrThrottle() throws Exception {
        try (S3ObjectStore impatient = connect(new RetryPolicy(Duration.ZERO, Duration.ZERO))) {
            server.answers(
                    answer("503 Service Unavailable", "<html>No server is available</html>"),
                    answer("503 Slow Down", "<Error><Code>SlowDown</Code></Error>"));

            assertThatThrownBy(() -> list(impatient))
                    .isInstanceOf(ObjectStoreException.Throttled.class)
                    .hasMessageContaining("the store, or a proxy on the way to it, responded with status 503");
            assertThatThrownBy(() -> list(impatient))
                    .isInstanceOf(ObjectStoreException.Throttled.class)
                    .hasMessageContaining("the store throttles requests (SlowDown)");
        }
    }

    @Test
    void list_refusedWithoutAReasonOrAnIdentifier_namesAProxyAsWell() {
        server.answers(
                answer("403 Forbidden", "<html>Not this site</html>"),
                answer("403 Forbidden\r\nx-amz-request-id: 17", ""),
                answer("407 Proxy Authentication Required", ""));

        assertThatThrownBy(() -> list(store))
                .isInstanceOf(ObjectStoreException.AccessDenied.class)
                .hasMessageContaining("perhaps by a proxy on the way to the store; check it, the credentials");
        assertThatThrownBy(() -> list(store))
                .isInstanceOf(ObjectStoreException.AccessDenied.class)
                .hasMessageNotContaining("proxy");
        assertThatThrownBy(() -> list(store))
                .isInstanceOf(ObjectStoreException.Refused.class)
                .hasMessageContaining("the proxy demands a user and a password");
    }

    @Test
    void list_anotherDocument_isNoEmptyListing() throws Exception {
        try (S3ObjectStore impatient = connect(new RetryPolicy(Duration.ZERO, Duration.ZERO))) {
            server.answers(answer("200 OK", "<html><body>Sign in</body></html>"));

            assertThatThrownBy(() -> list(impatient))
                    .isInstanceOf(ObjectStoreException.Unavailable.class)
                    .hasMessageContaining("it is not a listing");
        }
    }

    @Test
    void list_endlessPage_isRefused() throws Exception {
        try (S3ObjectStore impatient = connect(new RetryPolicy(Duration.ZERO, Duration.ZERO))) {
            server.answers(answer("200 OK", "<ListBucketResult>" + " ".repeat(17 << 20)));

            assertThatThrownBy(() -> list(impatient))
                    .isInstanceOf(ObjectStoreException.Unavailable.class)
                    .hasMessageContaining("16 MiB");
        }
    }

    private S3ObjectStore connect(RetryPolicy retries) throws Exception {
        server.answers("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", answer("200 OK", PAGE));
        return S3ObjectStore.connect(config("bucket", at(server.uri("")), Limits.DEFAULT, retries));
    }

    private static ListPage list(ObjectStore from) throws Exception {
        return from.list(ListRequest.of("folder/", ""));
    }

    private static String answer(String status, String body) {
        return "HTTP/1.1 " + status + "\r\nContent-Type: application/xml\r\nContent-Length: " + body.length()
                + "\r\n\r\n" + body;
    }
}

package io.penstock.objectstore.s3;

import static io.penstock.objectstore.s3.TestConfigs.REQUESTER;
import static io.penstock.objectstore.s3.TestConfigs.at;
import static io.penstock.objectstore.s3.TestConfigs.config;
import static io.penstock.objectstore.s3.TestConfigs.requester;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.penstock.embeddeds3.EmbeddedS3;
import io.penstock.objectstore.ListRequest;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.ObjectStoreException.AccessDenied;
import io.penstock.objectstore.ObjectStoreException.AccessDenied.Reason;
import io.penstock.objectstore.RetryPolicy;
import io.penstock.objectstore.http.TlsEngine;
import io.penstock.objectstore.s3.S3Config.HttpClient;
import io.penstock.objectstore.s3.S3Config.Integrity;
import io.penstock.objectstore.s3.S3Config.Limits;
import io.penstock.objectstore.s3.S3Config.Server;
import io.penstock.objectstore.s3.S3ObjectStore.FoundCredentials;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What can be found out about a server and its user beyond what a mount needs. */
@Timeout(60)
final class S3DiagnosisTest {
    @TempDir
    private Path folder;

    @Test
    void clockOffset_refusalWithATime_isTheDifferenceOfTheClocks() throws Exception {
        try (ScriptedServer server = new ScriptedServer()) {
            Instant slow = Instant.now().minus(Duration.ofHours(3));
            server.answers("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nDate: "
                    + DateTimeFormatter.RFC_1123_DATE_TIME.format(slow.atOffset(ZoneOffset.UTC)) + "\r\n\r\n");

            Optional<Duration> offset = S3ObjectStore.clockOffset(config("bucket", at(server.uri(""))));

            assertThat(offset)
                    .hasValueSatisfying(found -> assertThat(found.plusHours(3).abs())
                            .isLessThan(Duration.ofMinutes(1))); // the duration of the test
            assertThat(server.requests())
                    .singleElement()
                    .satisfies(request -> assertThat(request)
                            .noneMatch(line -> line.toLowerCase(Locale.ROOT).startsWith("authorization")));
        }
    }

    @Test
    void clockOffset_noTimeOrNoneThatCanBeRead_isUnknown() throws Exception {
        try (ScriptedServer server = new ScriptedServer()) {
            server.answers(
                    "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
                    "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nDate: soon\r\n\r\n");
            S3Config config = config("bucket", at(server.uri("")));
            assertThat(S3ObjectStore.clockOffset(config)).isEmpty();
            assertThat(S3ObjectStore.clockOffset(config)).isEmpty();
        }
    }

    @Test
    void clockOffset_nobodyListens_namesTheEndpoint() {
        assertThatThrownBy(() -> S3ObjectStore.clockOffset(config("bucket", at(URI.create("http://127.0.0.1:1")))))
                .isInstanceOf(ObjectStoreException.Unavailable.class)
                .hasMessageContaining("http://127.0.0.1:1 does not accept connections");
    }

    /** The default profile does not ignore the endpoint, which the configuration does not contain. */
    @Test
    void clockOffset_theProfileIgnoresConfiguredEndpoints_asksAws() throws IOException {
        Path profiles = Files.writeString(folder.resolve("config"), """
            [profile x]
            ignore_configured_endpoint_urls = true
            """);
        URI proxy = URI.create("http://127.0.0.1:1");
        S3Config config =
                config("bucket", new Server(null, "us-east-1", false, proxy, null, TlsEngine.AUTO), requester("x"));
        System.setProperty("aws.configFile", profiles.toString());
        System.setProperty("aws.endpointUrl", "http://127.0.0.1:2");
        try {
            assertThatThrownBy(() -> S3ObjectStore.clockOffset(config))
                    .isInstanceOf(ObjectStoreException.Unavailable.class)
                    .hasMessageContaining("the proxy " + proxy + " does not accept connections");
        } finally {
            System.clearProperty("aws.configFile");
            System.clearProperty("aws.endpointUrl");
        }
    }

    @Test
    void credentials_ofAKey_haveItsNameAndLast() throws Exception {
        FoundCredentials found = S3ObjectStore.credentials(config("bucket", at(URI.create("http://127.0.0.1:1"))));

        assertThat(found.accessKeyId()).isEqualTo("id");
        assertThat(found.expires()).isEmpty();
        assertThat(found.toString()).doesNotContain("secret");
    }

    @Test
    void credentials_profileWithoutAny_areDeniedForThatReason() {
        S3Config config = config("bucket", at(URI.create("http://127.0.0.1:1")), requester("no-such-profile"));

        assertThat(catchThrowableOfType(AccessDenied.class, () -> S3ObjectStore.credentials(config)))
                .extracting(AccessDenied::reason)
                .isEqualTo(Reason.NO_CREDENTIALS);
    }

    @Test
    void connect_refusals_haveTheirReasons() throws Exception {
        assertThat(reasonOf("InvalidAccessKeyId")).isEqualTo(Reason.WRONG_CREDENTIALS);
        assertThat(reasonOf("SignatureDoesNotMatch")).isEqualTo(Reason.WRONG_CREDENTIALS);
        assertThat(reasonOf("ExpiredToken")).isEqualTo(Reason.EXPIRED);
        assertThat(reasonOf("AccessDenied")).isEqualTo(Reason.NOT_ALLOWED);
    }

    /** The response to a HEAD has no body that could give the reason. */
    @ParameterizedTest
    @EnumSource(HttpClient.class)
    void head_credentialsHaveExpired_isDeniedForThatReason(HttpClient client) throws Exception {
        try (ScriptedServer server = new ScriptedServer()) {
            server.answers(
                    "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
                    answer("200 OK", "<ListBucketResult></ListBucketResult>"));
            S3Config config = new S3Config(
                    "bucket",
                    at(server.uri("")),
                    REQUESTER,
                    client,
                    Limits.DEFAULT,
                    Integrity.DEFAULT,
                    RetryPolicy.DEFAULT);
            try (S3ObjectStore store = S3ObjectStore.connect(config)) {
                String refused = "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n";
                for (int made = client == HttpClient.DIRECT ? 2 : 1; made > 0; made--) {
                    server.answersAndHangsUp(refused);
                }
                server.answers(answer("400 Bad Request", "<Error><Code>ExpiredToken</Code></Error>"));

                assertThat(catchThrowableOfType(AccessDenied.class, () -> store.head("key")))
                        .extracting(AccessDenied::reason)
                        .isEqualTo(Reason.EXPIRED);
            }
        }
    }

    /** For example, an object with a customer key. */
    @Test
    void head_refusedAsSuchWhereListingsAreNot_isRefused() throws Exception {
        try (ScriptedServer server = new ScriptedServer()) {
            String nothing = answer("200 OK", "<ListBucketResult></ListBucketResult>");
            server.answers("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", nothing);
            try (S3ObjectStore store = S3ObjectStore.connect(config("bucket", at(server.uri(""))))) {
                server.answersAndHangsUp("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n");
                server.answersAndHangsUp("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n");
                server.answers(nothing);

                assertThatThrownBy(() -> store.head("key"))
                        .isInstanceOf(ObjectStoreException.Refused.class)
                        .hasMessageContaining("400");
            }
        }
    }

    private static Reason reasonOf(String code) throws Exception {
        String body = "<Error><Code>" + code + "</Code><Message>no</Message></Error>";
        try (ScriptedServer server = new ScriptedServer()) {
            server.answers("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", answer("403 Forbidden", body));
            return catchThrowableOfType(
                            AccessDenied.class, () -> S3ObjectStore.connect(config("bucket", at(server.uri("")))))
                    .reason();
        }
    }

    private static String answer(String status, String body) {
        return "HTTP/1.1 " + status + "\r\nContent-Type: application/xml\r\nContent-Length: " + body.length()
                + "\r\n\r\n" + body;
    }

    @Test
    void conditions_areThoseOfAllKindsOfRequestsAndLeaveNothing() throws Exception {
        try (EmbeddedS3 server = new EmbeddedS3(Files.createDirectory(folder.resolve("data")), "id", "secret")) {
            server.createBucket("bucket");
            try (S3ObjectStore store = S3ObjectStore.connect(config("bucket", at(server.endpoint())))) {
                assertThat(store.conditions())
                        .containsOnlyKeys(
                                "CompleteMultipartUpload", "CopyObject", "DeleteObject", "DeleteObjects", "PutObject");
                assertThat(store.list(ListRequest.of("", "")).objects()).isEmpty();
            }
        }
    }
}

package io.penstock.objectstore.s3;

import static io.penstock.objectstore.s3.TestConfigs.at;
import static io.penstock.objectstore.s3.TestConfigs.requester;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.embeddeds3.EmbeddedS3;
import io.penstock.objectstore.BucketProof;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.RetryPolicy;
import io.penstock.objectstore.s3.S3Config.Credentials;
import io.penstock.objectstore.s3.S3Config.HttpClient;
import io.penstock.objectstore.s3.S3Config.Integrity;
import io.penstock.objectstore.s3.S3Config.Limits;
import io.penstock.objectstore.s3.S3Config.Requester;
import io.penstock.testing.ObjectStoreContract;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import software.amazon.awssdk.auth.credentials.AnonymousCredentialsProvider;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.core.SdkGlobalTime;
import software.amazon.awssdk.http.SdkHttpClient;

/** Runs against MinIO if the machine has one, otherwise against S3Proxy. */
@Timeout(60)
final class PresignedProofTest {
    private static final String OK = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
    private static final Credentials.Static KEY =
            new Credentials.Static(MinioServer.ACCESS_KEY, MinioServer.SECRET_KEY);

    @TempDir
    private static Path folder;

    private static AutoCloseable server;
    private static URI endpoint;
    private static S3Buckets buckets;
    private static ObjectStoreContract.TestBucket bucket;
    private static S3ObjectStore store;

    @BeforeAll
    static void startServer() throws Exception {
        Optional<Path> program = MinioServer.program();
        if (program.isPresent()) {
            MinioServer minio = MinioServer.start(program.get(), folder);
            server = minio;
            endpoint = minio.endpoint();
        } else {
            EmbeddedS3 embedded = new EmbeddedS3(
                    Files.createDirectory(folder.resolve("data")), KEY.accessKeyId(), KEY.secretAccessKey());
            server = embedded;
            endpoint = embedded.endpoint();
        }
        buckets = new S3Buckets(endpoint, KEY.accessKeyId(), KEY.secretAccessKey());
        bucket = buckets.create(at(endpoint), HttpClient.DIRECT);
        store = (S3ObjectStore) bucket.store();
    }

    @AfterAll
    static void stopServer() throws Exception {
        bucket.close();
        buckets.close();
        server.close();
    }

    @Test
    void holds_ofTheSameBucket_doesAndCoversKeysBelowThePrefix() throws Exception {
        try (S3ObjectStore below = S3ObjectStore.connect(config(store.bucket(), requester(KEY)), "some data/é+&=?/")) {
            String proof = below.proof().make();

            String wider = store.proof().make();

            assertThat(proof).hasSizeLessThan(BucketProof.LONGEST).doesNotContain(KEY.secretAccessKey());
            assertThat(store.proof().holds(proof)).isTrue();
            assertThat(store.proof().covers(proof, "some data/é+&=?/file")).isTrue();
            assertThat(store.proof().covers(proof, "some")).isFalse();
            assertThat(below.proof().holds(wider)).isTrue();
            assertThat(below.proof().covers(wider, "some data/é+&=?/file")).isTrue();
            assertThat(below.proof().covers(wider, "elsewhere")).isFalse();
        }
    }

    @Test
    void holds_ofAnotherBucket_doesNotAndAsksNobody() throws Exception {
        ObjectStoreContract.TestBucket other = buckets.create(at(endpoint), HttpClient.DIRECT);
        try (S3ObjectStore otherStore = (S3ObjectStore) other.store()) {
            String proof = otherStore.proof().make();

            assertThat(holdsUnasked(proof)).isFalse();
            assertThat(store.proof().covers(proof, "key")).isFalse();
        }
    }

    @Test
    void holds_ofAnotherKey_doesNot() throws Exception {
        PresignedProof stranger = proof(endpoint, "", new Credentials.Static("stranger", "x".repeat(40)));
        PresignedProof forger = proof(endpoint, "", new Credentials.Static(KEY.accessKeyId(), "x".repeat(40)));

        assertThat(store.proof().holds(stranger.make())).isFalse();
        assertThat(store.proof().holds(forger.make())).isFalse();
    }

    @Test
    void holds_unsignedWhereNotAllowed_doesNot() throws Exception {
        String unsigned = proof(endpoint, "", new Credentials.Anonymous()).make();

        assertThat(unsigned).contains("list-type=2").doesNotContain("X-Amz");
        assertThat(store.proof().holds(unsigned)).isFalse();
    }

    @Test
    void holds_changedAfterSigning_doesNot() throws Exception {
        String narrow = proof(endpoint, "mine/", KEY).make();
        String good = store.proof().make();

        assertThat(store.proof().holds(narrow)).isTrue();
        assertThat(store.proof().holds(narrow.replace("mine%2F", ""))).isFalse();
        assertThat(store.proof().holds(good.replace("X-Amz-Expires=900", "X-Amz-Expires=9000")))
                .isFalse();
        assertThat(store.proof().holds(good.replaceAll("Signature=[0-9a-f]{4}", "Signature=0000")))
                .isFalse();
    }

    @Test
    void holds_expired_doesNot() throws Exception {
        String old;
        int offset = SdkGlobalTime.getGlobalTimeOffset();
        SdkGlobalTime.setGlobalTimeOffset(3600);
        try {
            old = store.proof().make();
        } finally {
            SdkGlobalTime.setGlobalTimeOffset(offset);
        }

        assertThat(holdsUnasked(old)).isFalse();
    }

    /** BUCKET and QUERY are placeholders for this mount's address and a valid query. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "?",
                "BUCKET",
                "BUCKET?",
                "QUERY",
                "http://127.0.0.1:1/b?QUERY",
                "http://user:secret@HOST/NAME/?QUERY",
                "https://HOST/NAME/?QUERY",
                "ftp://HOST/NAME/?QUERY",
                "file:///etc/passwd?QUERY",
                "http://HOST/NAME/../other/?QUERY",
                "http://HOST/NAME/key?QUERY",
                "http://HOST//NAME/?QUERY",
                "http://HOST/?QUERY",
                "http://HOST.example.com/NAME/?QUERY",
                "http://example.com/NAME/?QUERY",
                "http://NAME.example.com/?QUERY",
                " BUCKET?QUERY",
                "BUCKET?QUERY#fragment",
                "BUCKET?QUERY\r\nX-Header: 1",
                "BUCKET?QUERY ",
                "BUCKET?QUERY&prefix=",
                "BUCKET?QUERY&delete=",
                "BUCKET?QUERY&list-type=2",
                "BUCKET?QUERY&",
                "BUCKET?QUERY&location",
                "BUCKET?QUERY&=x",
                "BUCKET?prefix=%ZZ&list-type=2&max-keys=1",
                "BUCKET?prefix=&list-type=2&max-keys=1000",
                "BUCKET?prefix=&list-type=1&max-keys=1",
                "BUCKET?list-type=2&max-keys=1",
                "BUCKET?prefix=&list-type=2&max-keys=1&X-Amz-Signature=00",
                "BUCKET?prefix=&list-type=2&max-keys=1&X-Amz-Algorithm=AWS4-HMAC-SHA256",
            })
    void holds_hostile_doesNotAndAsksNobody(String text) throws Exception {
        String good = store.proof().make();
        int mark = good.indexOf('?');
        String proof = text.replace("BUCKET", good.substring(0, mark))
                .replace("QUERY", good.substring(mark + 1))
                .replace("HOST", endpoint.getAuthority())
                .replace("NAME", store.bucket());

        assertThat(holdsUnasked(proof)).isFalse();
        assertThat(store.proof().holds(good)).isTrue();
    }

    @Test
    void holds_huge_doesNotAndAsksNobody() throws Exception {
        assertThat(holdsUnasked(store.proof().make() + "&X-Amz-Security-Token=" + "x".repeat(1 << 20)))
                .isFalse();
    }

    @Test
    void holds_redirected_doesNotAndDoesNotFollow() throws Exception {
        try (ScriptedServer scripted = new ScriptedServer()) {
            PresignedProof proof = proof(scripted.uri(""), "", KEY);
            scripted.answers(
                    "HTTP/1.1 307 Temporary Redirect\r\nLocation: " + scripted.uri("/elsewhere")
                            + "\r\nContent-Length: 0\r\n\r\n",
                    OK);

            assertThat(proof.holds(proof.make())).isFalse();
            assertThat(scripted.requests()).hasSize(1);
        }
    }

    @Test
    void holds_byPathForAMountByHost_isOfTheSameBucket() throws Exception {
        try (ScriptedServer scripted = new ScriptedServer()) {
            int port = scripted.uri("").getPort();
            Credentials none = new Credentials.Anonymous();
            PresignedProof byPath = proofAt("http://localhost:" + port + "/" + store.bucket() + "/", "", none);
            PresignedProof byHost = proofAt("http://" + store.bucket() + ".localhost:" + port + "/", "", none);
            scripted.answers(OK);

            assertThat(byHost.holds(byPath.make())).isTrue();
        }
    }

    @Test
    void holds_upperCase_isTheSameServerButAnotherBucket() throws Exception {
        try (ScriptedServer scripted = new ScriptedServer()) {
            String server = ":" + scripted.uri("").getPort() + "/";
            String path = store.bucket() + "/";
            Credentials none = new Credentials.Anonymous();
            PresignedProof lower = proofAt("http://localhost" + server + path, "", none);
            PresignedProof upper = proofAt("http://LocalHost" + server + path, "", none);
            PresignedProof byHost = proofAt("http://" + store.bucket() + ".localhost" + server, "", none);
            PresignedProof other = proofAt("http://localhost" + server + path.toUpperCase(Locale.ROOT), "", none);
            scripted.answers(OK, OK);

            assertThat(lower.holds(upper.make())).isTrue();
            assertThat(byHost.holds(upper.make())).isTrue();
            assertThat(lower.holds(other.make())).isFalse();
            assertThat(scripted.requests()).hasSize(2);
        }
    }

    @Test
    void holds_storeDoesNotRespond_throwsInTime() throws Exception {
        try (ScriptedServer scripted = new ScriptedServer()) {
            PresignedProof proof = proof(scripted.uri(""), "", KEY);
            String made = proof.make();
            scripted.answersAndStalls("HTTP/1.1 200");

            assertThatThrownBy(() -> proof.holds(made)).isInstanceOf(ObjectStoreException.Unavailable.class);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"429 Too Many Requests", "500 Internal Server Error", "503 Slow Down"})
    void holds_storeDoesNotDecide_throws(String status) throws Exception {
        try (ScriptedServer scripted = new ScriptedServer()) {
            PresignedProof proof = proof(scripted.uri(""), "", KEY);
            scripted.answers("HTTP/1.1 " + status + "\r\nContent-Length: 0\r\n\r\n");

            assertThatThrownBy(() -> proof.holds(proof.make()))
                    .isInstanceOf(ObjectStoreException.Unavailable.class)
                    .hasMessageContaining(status.substring(0, 3));
        }
    }

    @Test
    void holds_ofAnAnonymousMount_isThatUnsignedRequest() throws Exception {
        try (ScriptedServer scripted = new ScriptedServer()) {
            PresignedProof proof = proof(scripted.uri(""), "a b/", new Credentials.Anonymous());
            scripted.answers(OK);

            assertThat(proof.holds(proof.make())).isTrue();
            List<String> request = scripted.requests().getFirst();
            assertThat(request.getFirst())
                    .startsWith("GET /" + store.bucket() + "/?")
                    .contains("list-type=2", "max-keys=1", "prefix=a%20b%2F")
                    .doesNotContain("X-Amz");
        }
    }

    private static boolean holdsUnasked(String proof) throws Exception {
        long lists = store.statistics().lists();
        boolean holds = store.proof().holds(proof);
        assertThat(store.statistics().lists()).isEqualTo(lists);
        return holds;
    }

    private static S3Config config(String name, Requester requester) {
        return new S3Config(
                name,
                at(endpoint),
                requester,
                HttpClient.DIRECT,
                Limits.DEFAULT,
                Integrity.DEFAULT,
                RetryPolicy.DEFAULT);
    }

    private static PresignedProof proof(URI server, String prefix, Credentials credentials) {
        return proofAt(server + "/" + store.bucket() + "/", prefix, credentials);
    }

    private static PresignedProof proofAt(String address, String prefix, Credentials credentials) {
        S3Config config = config(store.bucket(), requester(credentials));
        AwsCredentialsProvider provider = credentials instanceof Credentials.Static(String id, String secret)
                ? StaticCredentialsProvider.create(AwsBasicCredentials.create(id, secret))
                : AnonymousCredentialsProvider.create();
        SdkHttpClient http = new DeadlineHttpClient(
                HttpClients.create(config.limits(), config.server(), null),
                config.limits().readTimeout());
        return new PresignedProof(
                config, prefix, URI.create(address), "us-east-1", provider, () -> http, new RequestCounters());
    }
}

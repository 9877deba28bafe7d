package io.penstock.objectstore.s3;

import static io.penstock.objectstore.s3.TestConfigs.at;
import static io.penstock.objectstore.s3.TestConfigs.config;
import static io.penstock.objectstore.s3.TestConfigs.readTimeout;
import static io.penstock.objectstore.s3.TestConfigs.requester;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.HotSpotDiagnosticMXBean;
import com.sun.management.HotSpotDiagnosticMXBean.ThreadDumpFormat;
import io.penstock.core.ObjectVersion;
import io.penstock.embeddeds3.EmbeddedS3;
import io.penstock.objectstore.ListRequest;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.UploadBody;
import io.penstock.objectstore.WriteCondition;
import io.penstock.objectstore.http.TlsEngine;
import io.penstock.objectstore.s3.S3Config.Credentials;
import io.penstock.objectstore.s3.S3Config.Limits;
import io.penstock.objectstore.s3.S3Config.Server;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import software.amazon.awssdk.auth.credentials.AnonymousCredentialsProvider;
import software.amazon.awssdk.core.SdkGlobalTime;
import software.amazon.awssdk.http.apache5.Apache5HttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3Client;

/** The messages that a user gets before anything is mounted. */
@Timeout(60)
final class S3ConnectTest {
    @TempDir
    private static Path folder;

    private static EmbeddedS3 server;

    @BeforeAll
    static void startServer() throws IOException {
        server = new EmbeddedS3(Files.createDirectory(folder.resolve("data")), "id", "secret");
        server.createBucket("bucket");
    }

    @AfterAll
    static void stopServer() {
        server.close();
    }

    @Test
    void connect_bucketThere_opensIt() throws Exception {
        try (S3ObjectStore store = S3ObjectStore.connect(config("bucket", at(server.endpoint())))) {
            assertThat(store.bucket()).isEqualTo("bucket");
        }
    }

    @Test
    void connect_noSuchBucket_isNotFound() {
        assertThatThrownBy(() -> S3ObjectStore.connect(config("nothing", at(server.endpoint()))))
                .isInstanceOf(ObjectStoreException.NotFound.class)
                .hasMessageStartingWith("there is no bucket 'nothing'");
    }

    /** An ingress that has no server at the moment does not know whether there is a bucket. */
    @Test
    void connect_pageNotFoundByWhatIsOnTheWay_isUnavailable() throws Exception {
        try (FaultProxy proxy = new FaultProxy(server.endpoint())) {
            proxy.answerPage(2, 404, "default backend - 404");

            assertThatThrownBy(() -> S3ObjectStore.connect(config("bucket", at(proxy.endpoint()))))
                    .isInstanceOf(ObjectStoreException.Unavailable.class)
                    .hasMessageContaining("404");
        }
    }

    @Test
    void connect_prefixThatIsAnObject_isRefusedAndAnEmptyOneIsNot() throws Exception {
        S3Config config = config("bucket", at(server.endpoint()));
        try (S3ObjectStore store = S3ObjectStore.connect(config, "none/")) {
            ObjectVersion _ = store.put("models/file", UploadBody.EMPTY, WriteCondition.ALWAYS);

            assertThatThrownBy(() -> S3ObjectStore.connect(config, "models/file/"))
                    .isInstanceOf(ObjectStoreException.NotFound.class)
                    .hasMessage("s3://bucket/models/file is an object, not a folder; name the folder that it is in,"
                            + " s3://bucket/models/");
        }
        S3ObjectStore.connect(config, "models/").close();
    }

    @Test
    void connect_wrongSecret_isDeniedInTheStoresWords() {
        S3Config config = as(new Credentials.Static("id", "wrong"));

        assertThatThrownBy(() -> S3ObjectStore.connect(config))
                .isInstanceOf(ObjectStoreException.AccessDenied.class)
                .hasMessageContaining("SignatureDoesNotMatch")
                .hasMessageContaining("bucket 'bucket'");
    }

    @Test
    void connect_anonymousWhereNotAllowed_isDenied() {
        S3Config config = as(new Credentials.Anonymous());

        assertThatThrownBy(() -> S3ObjectStore.connect(config)).isInstanceOf(ObjectStoreException.AccessDenied.class);
    }

    @Test
    void connect_nobodyListens_namesTheEndpoint() {
        S3Config config = config("bucket", at(URI.create("http://127.0.0.1:1")));

        assertThatThrownBy(() -> S3ObjectStore.connect(config))
                .isInstanceOf(ObjectStoreException.Unavailable.class)
                .hasMessageContaining("http://127.0.0.1:1 does not accept connections");
    }

    @Test
    void connect_theProxyDoesNotListen_namesItAndNotTheServer() {
        Server behindAProxy = new Server(
                server.endpoint(), "us-east-1", true, URI.create("http://127.0.0.1:1"), null, TlsEngine.AUTO);

        assertThatThrownBy(() -> S3ObjectStore.connect(config("bucket", behindAProxy)))
                .isInstanceOf(ObjectStoreException.Unavailable.class)
                .hasMessageContaining("the proxy http://127.0.0.1:1 does not accept connections; check the proxy")
                .hasMessageNotContaining(server.endpoint().toString());
    }

    @Test
    void connect_unknownHost_namesIt() {
        S3Config config = config("bucket", at(URI.create("http://no-such-host.invalid")));

        assertThatThrownBy(() -> S3ObjectStore.connect(config))
                .isInstanceOf(ObjectStoreException.Unavailable.class)
                .hasMessageContaining("no-such-host.invalid")
                .hasMessageContaining("endpoint");
    }

    @ParameterizedTest
    @EnumSource(TlsEngine.class)
    void connect_httpsToAPlainPort_speaksOfTheSecureConnection(TlsEngine engine) {
        URI https = URI.create("https://127.0.0.1:" + server.endpoint().getPort());

        Server secure = new Server(https, "us-east-1", true, null, null, engine);
        assertThatThrownBy(() -> S3ObjectStore.connect(config("bucket", secure)))
                .isInstanceOf(ObjectStoreException.Unavailable.class)
                .hasMessageContaining("no secure connection to " + https + ": it does not respond with TLS; if")
                .hasMessageContaining("write http:// as the scheme of s3.endpoint (--endpoint)")
                .hasMessageNotContaining("s3.ca-file");
    }

    @Test
    void connect_httpToAServerOfHttps_namesTheScheme(@TempDir Path own) throws Exception {
        try (ScriptedServer https = new ScriptedServer(new TestCertificate(own, "ip:127.0.0.1"))) {
            assertThatThrownBy(() -> S3ObjectStore.connect(config("bucket", at(plain(https)))))
                    .hasMessageContaining("write https:// as the scheme of s3.endpoint (--endpoint)");
        }
        try (ScriptedServer likeNginx = new ScriptedServer()) {
            String refusal = "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n";
            likeNginx.answers(refusal, refusal, refusal, refusal, refusal, refusal);
            assertThatThrownBy(() -> S3ObjectStore.connect(config("bucket", at(plain(likeNginx)))))
                    .isInstanceOf(ObjectStoreException.Refused.class)
                    .hasMessageContaining("status 400; if the server speaks HTTPS")
                    .hasMessageContaining("write https:// as the scheme of s3.endpoint (--endpoint)");
        }
    }

    private static URI plain(ScriptedServer server) {
        return URI.create("http://127.0.0.1:" + server.uri("").getPort());
    }

    @Test
    void connect_unknownAuthority_namesTheSettingOfItsFile(@TempDir Path own) throws Exception {
        try (ScriptedServer https = new ScriptedServer(new TestCertificate(own, "ip:127.0.0.1"))) {
            URI endpoint = URI.create("https://127.0.0.1:" + https.uri("").getPort());
            assertThatThrownBy(() -> S3ObjectStore.connect(config("bucket", at(endpoint))))
                    .hasMessageContaining("signed by an authority that Java does not trust: set s3.ca-file"
                            + " (--s3-ca-file) to a PEM"
                            + " file with that authority's certificate");
        }
    }

    @Test
    void connect_certificateOfAnotherName_namesTheEndpointAndNoFile(@TempDir Path own) throws Exception {
        TestCertificate certificate = new TestCertificate(own, "dns:example.org");
        try (ScriptedServer https = new ScriptedServer(certificate)) {
            URI endpoint = URI.create("https://127.0.0.1:" + https.uri("").getPort());
            assertThatThrownBy(
                            () -> S3ObjectStore.connect(config("bucket", TestConfigs.at(endpoint, certificate.pem()))))
                    .hasMessageContaining("set s3.endpoint (--endpoint) to a name in the certificate")
                    .hasMessageNotContaining("s3.ca-file");
        }
    }

    @Test
    void connect_profileWithoutCredentials_saysWhetherThereIsOne() throws IOException {
        Path profiles = Files.writeString(folder.resolve("config"), "[profile empty]\nregion = us-east-1\n");
        System.setProperty("aws.configFile", profiles.toString());
        try {
            assertThatThrownBy(() -> S3ObjectStore.connect(
                            config("bucket", at(server.endpoint()), requester("no-such-profile"))))
                    .isInstanceOf(ObjectStoreException.AccessDenied.class)
                    .hasMessageContaining(
                            "there is no profile 'no-such-profile' in ~/.aws/credentials or ~/.aws/config");
            assertThatThrownBy(() -> S3ObjectStore.connect(config("bucket", at(server.endpoint()), requester("empty"))))
                    .isInstanceOf(ObjectStoreException.AccessDenied.class)
                    .hasMessageContaining("looked in the profile 'empty' in ~/.aws/credentials and ~/.aws/config");
        } finally {
            System.clearProperty("aws.configFile");
        }
    }

    /** The caches would treat its bucket as one of AWS. */
    @Test
    void connect_serverOnlyInTheProfile_isRefused() throws IOException {
        Path profiles = Files.writeString(folder.resolve("config"), """
            [profile other]
            aws_access_key_id = id
            aws_secret_access_key = secret
            endpoint_url = %s
            """.formatted(server.endpoint()));
        S3Config config =
                config("bucket", new Server(null, "us-east-1", false, null, null, TlsEngine.AUTO), requester("other"));
        System.setProperty("aws.configFile", profiles.toString());
        try {
            assertThatThrownBy(() -> S3ObjectStore.connect(config))
                    .isInstanceOf(ObjectStoreException.Unavailable.class)
                    .hasMessageContaining("is configured to use the server " + server.endpoint());
        } finally {
            System.clearProperty("aws.configFile");
        }
    }

    @ParameterizedTest
    @CsvSource({
        "aws.ignoreConfiguredEndpointUrls, yes, aws.ignoreConfiguredEndpointUrls' was defined as 'yes'",
        "aws.ignoreConfiguredEndpointUrls, '', aws.ignoreConfiguredEndpointUrls' was defined as ''",
        "aws.endpointUrl, http://a b, An invalid URI was configured in system property aws.endpointUrl",
    })
    void connect_theSdkCannotTellTheServer_saysWhatIsWrong(String property, String value, String message) {
        System.setProperty(property, value);
        try {
            assertThatTheSdkRefuses("us-east-1", message);
        } finally {
            System.clearProperty(property);
        }
    }

    @Test
    void connect_regionThatCannotBePartOfAHost_namesTheSetting() {
        assertThatTheSdkRefuses("eu-", "region (eu-)");
    }

    private static void assertThatTheSdkRefuses(String region, String message) {
        S3Config config = config("bucket", new Server(null, region, false, null, null, TlsEngine.AUTO));
        assertThatThrownBy(() -> S3ObjectStore.connect(config))
                .isInstanceOf(ObjectStoreException.Unavailable.class)
                .hasMessageStartingWith("the AWS SDK cannot create a client: ")
                .hasMessageContaining(message)
                .hasMessageEndingWith("; check s3.region, and AWS's environment variables and profiles");
    }

    @Test
    void connect_unusableCaFile_namesSettingAndFile() throws IOException {
        Path empty = Files.createFile(folder.resolve("empty.pem"));
        Path missing = folder.resolve("missing.pem");
        URI https = URI.create("https://127.0.0.1:" + server.endpoint().getPort());

        assertThatThrownBy(() -> S3ObjectStore.connect(config("bucket", at(https, empty))))
                .isInstanceOf(ObjectStoreException.Unavailable.class)
                .hasMessageContaining("s3.ca-file: " + empty + " contains no certificate");
        assertThatThrownBy(() -> S3ObjectStore.connect(config("bucket", at(https, missing))))
                .isInstanceOf(ObjectStoreException.Unavailable.class)
                .hasMessageContaining("s3.ca-file: " + missing + " does not exist");
    }

    @Test
    void connect_plainHttp_doesNotReadTheCaFile() throws Exception {
        Path missing = folder.resolve("missing.pem");

        try (S3ObjectStore store = S3ObjectStore.connect(config("bucket", at(server.endpoint(), missing)))) {
            assertThat(store).isNotNull();
        }
    }

    @Test
    void connect_refused_leavesNothingRunning() throws Exception {
        S3Config refused = as(new Credentials.Static("id", "wrong"));
        long before = watchThreads();

        assertThatThrownBy(() -> S3ObjectStore.connect(refused)).isInstanceOf(ObjectStoreException.AccessDenied.class);

        while (watchThreads() > before) {
            Thread.onSpinWait(); // an interrupted thread ends a little later; otherwise the time limit fails the test
        }
    }

    /** The threads that watch connections and request bodies. */
    private static long watchThreads() throws IOException {
        Path dump = Files.createTempDirectory(folder, "threads").resolve("dump.txt");
        ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class)
                .dumpThreads(dump.toString(), ThreadDumpFormat.TEXT_PLAIN);
        try (Stream<String> lines = Files.lines(dump)) {
            return lines.filter(line -> line.contains("\"connections\"") || line.contains("\"stalled uploads\""))
                    .count();
        }
    }

    @Test
    void connect_clockThatIsWrong_isCorrectedByTheStoresAnswer() throws Exception {
        String listing = "<ListBucketResult><Name>bucket</Name><KeyCount>0</KeyCount></ListBucketResult>";
        String refusal = "<Error><Code>RequestTimeTooSkewed</Code><Message>too skewed</Message></Error>";
        try (ScriptedServer skewed = new ScriptedServer()) {
            skewed.answers(
                    "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
                    response("200 OK", listing),
                    response("403 Forbidden\r\nDate: Sun, 01 Nov 2020 09:00:00 GMT", refusal),
                    response("200 OK", listing));
            try (S3ObjectStore store = S3ObjectStore.connect(config("bucket", at(skewed.uri(""))))) {
                assertThat(store.list(ListRequest.of("", "")).objects()).isEmpty();
            } finally {
                SdkGlobalTime.setGlobalTimeOffset(0);
            }
            assertThat(skewed.requests().getLast()).anyMatch(line -> line.startsWith("X-Amz-Date: 20201101"));
        }
    }

    private static String response(String status, String body) {
        return "HTTP/1.1 " + status + "\r\nContent-Type: application/xml\r\nContent-Length: " + body.length()
                + "\r\n\r\n" + body;
    }

    /** The alias of an access point is addressed like a bucket. */
    @Test
    void base_aliasOfAnAccessPoint_isAHostAsThatOfABucket() {
        try (S3Client client = S3Client.builder()
                .region(Region.EU_CENTRAL_1)
                .credentialsProvider(AnonymousCredentialsProvider.create())
                .httpClientBuilder(Apache5HttpClient.builder())
                .build()) {
            assertThat(S3Connector.base(client, "data-ac1b2c3d4e-s3alias"))
                    .isEqualTo(URI.create("https://data-ac1b2c3d4e-s3alias.s3.eu-central-1.amazonaws.com/"));
        }
    }

    @Test
    void config_impossibleSetting_namesItAndWhatIsAllowed() {
        assertThatThrownBy(() -> new Limits(1, Duration.ofSeconds(1), Duration.ofSeconds(1)))
                .hasMessage("connections '1': must be 2 or more");
        assertThatThrownBy(() -> config("bucket/prefix", at(server.endpoint())))
                .hasMessageContaining("bucket 'bucket/prefix'");
        assertThatThrownBy(() -> at(URI.create("localhost:9000")))
                .hasMessageContaining("endpoint 'localhost:9000': must be http://host:port");
        assertThatThrownBy(() -> readTimeout(Duration.ZERO)).hasMessageContaining("read timeout");
    }

    private static S3Config as(Credentials credentials) {
        return config("bucket", at(server.endpoint()), requester(credentials));
    }
}

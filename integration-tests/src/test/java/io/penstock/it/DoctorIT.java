package io.penstock.it;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.penstock.it.S3Front.Treatment;
import io.penstock.testing.TestData;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code penstock doctor} with real servers, disks and mounts that have a problem. */
@Timeout(300)
final class DoctorIT {
    private static final int MIB = 1 << 20;
    private static final S3Server SERVER = S3Server.shared();

    @TempDir
    private Path scratch;

    private TestBucket bucket;

    @BeforeEach
    void fillBucket() throws Exception {
        bucket = new TestBucket(SERVER);
        bucket.put(TestData.of("a/first.bin", 1000));
        bucket.put(TestData.of("a/second.bin", 4L * MIB));
    }

    @AfterEach
    void removeBucket() {
        bucket.close();
    }

    private Program.Result doctor(S3Server server, String subject, String... options) {
        List<Object> command = new ArrayList<>(List.of(server.accessKey(), server.secretKey()));
        command.addAll(MountedBucket.penstock());
        command.addAll(List.of("doctor", subject, "--json", "--endpoint", server.endpoint(), "--region", "us-east-1"));
        command.addAll(List.of("--cache", scratch.resolve("cache")));
        command.addAll(List.of(options));
        Program.Result result = Program.shell(
                scratch,
                "export AWS_ACCESS_KEY_ID=$1 AWS_SECRET_ACCESS_KEY=$2; shift 2; exec \"$@\"",
                command.toArray());
        assertThat(result.out()).contains("[ {").doesNotContain("\tat ", "internal error", "could not be examined");
        return result;
    }

    private Program.Result quick(S3Server server, String... options) {
        List<String> all = new ArrayList<>(List.of(options));
        all.add("--quick");
        return doctor(server, bucket.name(), all.toArray(String[]::new));
    }

    private static String error(String check, String found) {
        return "\"severity\" : \"error\",%n  \"check\" : \"%s\",%n  \"found\" : \"%s".formatted(check, found);
    }

    @Tag("long")
    @Test
    void bucket_nothingWrong_hasAllRightsAndIsLeftAsItWas() {
        List<String> before = bucket.keys("");

        Program.Result result = doctor(SERVER, bucket.name() + "/a", "--write");

        assertThat(result.out())
                .contains("allowed: s3:ListBucket, s3:GetObject, s3:PutObject, s3:DeleteObject,"
                        + " s3:AbortMultipartUpload, s3:ListMultipartUploadParts")
                .contains("its clock agrees with this machine's", "64 at once: ")
                // Other tests kill mounts at the same time.
                .doesNotContainPattern("\"error\",\\s+\"check\" : \"(?!mounts)");
        assertThat(bucket.keys("")).isEqualTo(before);
        assertThat(bucket.unfinishedUploads()).isEmpty();
        assertThat(scratch.resolve("cache")).doesNotExist();
    }

    @Tag("long")
    @Test
    void bucket_missing_isNamed() {
        Program.Result result = doctor(SERVER, "no-such-bucket", "--quick");

        assertThat(result.out()).contains(error("bucket", "there is no bucket 'no-such-bucket'"));
        assertThat(result.exit()).isEqualTo(2);
    }

    @Test
    void credentials_wrongSecret_isNamed() {
        Program.Result result = quick(new S3Server("", SERVER.endpoint(), SERVER.accessKey(), "wrong-secret"));

        assertThat(result.out()).contains("SignatureDoesNotMatch", "or the secret is wrong");
        assertThat(result.exit()).isEqualTo(2);
    }

    @Test
    void rights_toReadObjectsMissing_areNamedWithTheStatement() {
        assumeTrue(SERVER.hasPolicies(), SERVER + " minds no bucket policies");
        bucket.allow("s3:ListBucket");

        Program.Result result = quick(SERVER, "--anonymous", "--read-only");

        assertThat(result.out())
                .contains(error("rights", "s3:GetObject is not allowed"))
                .contains("\\\"Resource\\\": \\\"arn:aws:s3:::" + bucket.name() + "/*\\\"");
        assertThat(result.exit()).isEqualTo(2);
    }

    @Tag("long")
    @Test
    void rights_toListMissing_areNamed() {
        assumeTrue(SERVER.hasPolicies(), SERVER + " minds no bucket policies");

        Program.Result result = quick(SERVER, "--anonymous", "--read-only");

        assertThat(result.out()).contains("Allow s3:ListBucket");
        assertThat(result.exit()).isEqualTo(2);
    }

    @Tag("long")
    @Test
    void rights_toDeleteMissing_areNamedWithWhatStays() throws Exception {
        try (S3Front front = new S3Front(SERVER)) {
            front.treat(request ->
                    request.method().equals("DELETE") && !request.target().contains("uploadId=")
                            ? Treatment.answer(403, "AccessDenied")
                            : Treatment.PASS);

            Program.Result result = quick(front.fronted(), "--write");

            assertThat(result.out())
                    .contains(error("rights", "s3:DeleteObject is not allowed"))
                    .contains("remove the temporary object '.penstock/doctor-");
            assertThat(result.exit()).isEqualTo(2);
        }
    }

    @Tag("long")
    @Test
    void server_refusingChecksums_isNamedWithTheSettingThatMendsIt() throws Exception {
        try (S3Front front = new S3Front(SERVER)) {
            front.treat(request -> request.isUpload() ? Treatment.answer(501, "NotImplemented") : Treatment.PASS);

            Program.Result result = quick(front.fronted(), "--write");

            assertThat(result.out()).contains(error("server's ways", "the server refuses uploads"));
            assertThat(result.exit()).isEqualTo(2);
        }
    }

    @Tag("long")
    @Test
    void server_withAnotherTime_isNamed() throws Exception {
        try (OldServer old = new OldServer()) {
            Program.Result result = quick(new S3Server("", old.endpoint(), "id", "secret"));

            assertThat(result.out()).contains("this machine's clock is", "days ahead of the server's");
            assertThat(result.exit()).isEqualTo(2);
        }
    }

    @Tag("long")
    @Test
    void server_thatNeverResponds_isNamedWithinTheTimeouts() throws Exception {
        try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            URI endpoint = URI.create("http://127.0.0.1:" + silent.getLocalPort());

            Program.Result result = quick(new S3Server("", endpoint, "id", "secret"), "--s3-read-timeout", "500ms");

            assertThat(result.out()).contains(endpoint + " does not respond in time");
            assertThat(result.exit()).isEqualTo(2);
        }
    }

    @Tag("long")
    @Test
    void disk_fullAndInMemory_isNamed() throws Exception {
        assumeTrue("root".equals(System.getProperty("user.name")), "only root can mount a small disk");
        Path disk = Files.createDirectory(scratch.resolve("cache"));
        Program.shell(scratch, "mount -t tmpfs -o size=4m,mode=755 penstock-it \"$1\"", disk)
                .orThrow();
        try {
            Program.shell(scratch, "head -c 8M /dev/zero > \"$1\"/filler || true", disk)
                    .orThrow();

            Program.Result result = quick(SERVER);

            assertThat(result.out())
                    .contains(error("cache", "0B are free on the disk of " + disk))
                    .contains(disk + " is on tmpfs, which is memory");
            assertThat(result.exit()).isEqualTo(2);
        } finally {
            Program.shell(scratch, "umount \"$1\"", disk).orThrow();
        }
    }

    @Test
    void mount_running_isExaminedWithItsSettingsAndLeftAlone() throws Exception {
        try (MountedBucket mount = MountedBucket.mount(
                SERVER, bucket.name(), scratch, "--metadata-ttl", "0s", "--log-file", scratch + "/log")) {
            Files.readAllBytes(mount.path().resolve("a/second.bin"));

            Program.Result result = doctor(SERVER, mount.path().toString());

            assertThat(result.out())
                    .contains(
                            "\"check\" : \"mount\"",
                            "the mount's, as far as this command can tell: the access key",
                            "allowed: s3:ListBucket, s3:GetObject",
                            "metadata.ttl is 0",
                            scratch.resolve("cache").toString())
                    .doesNotContain("\"error\"", "at once: ", "reads of 4 KiB");
            assertThat(result.exit()).isEqualTo(1);
            assertThat(mount.path().resolve("a/first.bin")).hasSize(1000);
        }
    }

    @Tag("long")
    @Test
    void mount_whoseProcessHasEnded_isDead() throws Exception {
        try (MountedBucket mount = MountedBucket.mount(SERVER, bucket.name(), scratch)) {
            mount.killAndLeave();

            Program.Result result = doctor(SERVER, mount.path().toString());

            assertThat(result.out()).contains(error("mount", "the process that served " + mount.path() + " has ended"));
            assertThat(result.exit()).isEqualTo(2);
        }
    }

    /** Refuses every request, with a time of years ago. */
    private static final class OldServer implements AutoCloseable {
        private static final String REFUSAL = String.join(
                "\r\n",
                "HTTP/1.1 403 Forbidden",
                "Date: Sun, 01 Nov 2020 09:00:00 GMT",
                "Content-Length: 0",
                "Connection: close",
                "",
                "");

        private final ServerSocket listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

        OldServer() throws IOException {
            threads.execute(this::serve);
        }

        URI endpoint() {
            return URI.create("http://127.0.0.1:" + listener.getLocalPort());
        }

        private void serve() {
            while (!listener.isClosed()) {
                try (Socket client = listener.accept()) {
                    int _ = client.getInputStream().read(new byte[16 << 10]);
                    client.getOutputStream().write(REFUSAL.getBytes(ISO_8859_1));
                } catch (IOException e) {
                    // The client has closed its connection, or the test is over.
                }
            }
        }

        @Override
        public void close() throws IOException {
            listener.close();
            threads.shutdownNow();
        }
    }
}

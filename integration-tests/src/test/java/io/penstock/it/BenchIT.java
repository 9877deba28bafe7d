package io.penstock.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.penstock.testing.TestData;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code penstock bench} of a bucket, a mount and a folder: its output, and that it leaves nothing behind. */
@Timeout(300)
final class BenchIT {
    private static final int END_SECONDS = 60;
    private static final S3Server SERVER = S3Server.shared();
    private static final List<String> SMALL = List.of("--size", "8MiB", "--small-files", "20", "--seconds", "1");

    private static final List<String> OF_A_MOUNT = List.of(
            "large_write",
            "small_write",
            "large_read_cold",
            "small_read_cold",
            "large_read_again",
            "small_read_again",
            "stat");
    private static final List<String> OF_A_BUCKET = List.of(
            "bucket_upload",
            "bucket_ranges_1",
            "bucket_ranges_16",
            "bucket_ranges_64",
            "bucket_small_put",
            "bucket_small_get");

    @TempDir
    private Path scratch;

    private TestBucket bucket;
    private List<String> before;

    @BeforeEach
    void fillBucket() throws Exception {
        bucket = new TestBucket(SERVER);
        bucket.put(TestData.of("a/first.bin", 1000));
        before = bucket.keys("");
    }

    @AfterEach
    void removeBucket() {
        bucket.close();
    }

    private List<String> bench(String... arguments) {
        List<String> all =
                new ArrayList<>(List.of("--endpoint", SERVER.endpoint().toString()));
        all.addAll(List.of(
                "--region", "us-east-1", "--cache", scratch.resolve("cache").toString()));
        all.addAll(List.of("--binding", MountedBucket.BINDING));
        all.addAll(List.of(arguments));
        return command(all);
    }

    private List<String> command(List<String> arguments) {
        // As a shell starts programs in the foreground: in the background SIGINT is ignored.
        List<String> command = new ArrayList<>(List.of(
                "env",
                "--default-signal=INT",
                "AWS_ACCESS_KEY_ID=" + SERVER.accessKey(),
                "AWS_SECRET_ACCESS_KEY=" + SERVER.secretKey()));
        command.addAll(MountedBucket.penstock());
        command.add("bench");
        command.addAll(arguments);
        return command;
    }

    private Program.Result run(String... arguments) {
        return run(bench(arguments));
    }

    /** The mount has its own settings. */
    private Program.Result run(MountedBucket mount) {
        return run(command(List.of("--mount", mount.path().toString())));
    }

    private Program.Result run(List<String> command) {
        command.addAll(SMALL);
        Program.Result result = Program.run(scratch, command);
        assertThat(result.out()).doesNotContain("\tat ", "internal error", "could not remove");
        return result;
    }

    private static List<String> steps(String json) {
        return Pattern.compile("\"step\" : \"([a-z0-9_]+)\"")
                .matcher(json)
                .results()
                .map(match -> match.group(1))
                .toList();
    }

    private void assertNothingLeft() throws IOException {
        assertThat(bucket.keys("")).isEqualTo(before);
        assertThat(bucket.unfinishedUploads()).isEmpty();
        try (var files = Files.walk(scratch)) {
            assertThat(files).noneMatch(path -> path.getFileName().toString().startsWith("penstock-bench-"));
        }
        assertThat(Files.readAllLines(Path.of("/proc/self/mountinfo")))
                .noneMatch(line -> line.contains(scratch + "/penstock-bench-"));
    }

    @Test
    void bucket_isMeasuredByAMountOfItsOwn_andNothingIsLeft() throws Exception {
        String said = run(bucket.name() + "/a", "--json").orThrow();

        assertThat(steps(said)).containsSubsequence(OF_A_BUCKET).containsSubsequence(OF_A_MOUNT);
        assertThat(steps(said)).contains("disk_large_read", "disk_small_read", "disk_stat");
        assertThat(said)
                .contains("\"largeBytes\" : " + (8 << 20), "\"place\" : \"s3://" + bucket.name() + "/a\"")
                .containsPattern("\"step\" : \"large_read_cold\",\\s+\"rate\" : [0-9.]+,\\s+\"unit\" : \"MiB/s\","
                        + "\\s+\"ceiling\" : \"bucket_ranges_(1|16|64)\",\\s+\"ratio\" : [0-9.]+")
                .containsPattern("\"step\" : \"small_write\",\\s+\"rate\" : [0-9.]+,\\s+\"unit\" : \"files/s\","
                        + "\\s+\"ceiling\" : \"bucket_small_put\"");
        assertNothingLeft();
    }

    @Tag("long")
    @Test
    void interrupt_whileTheMountIsWrittenTo_leavesNothing() throws Exception {
        Process process = new ProcessBuilder(bench(bucket.name(), "--size", "64MiB", "--small-files", "300", "--quick"))
                .directory(Path.of("/").toFile())
                .redirectErrorStream(true)
                .start();
        try (BufferedReader said = process.inputReader(StandardCharsets.UTF_8)) {
            String line = said.readLine();
            while (line != null && !line.startsWith("temporary mount of the bucket")) {
                line = said.readLine();
            }
            assertThat(line).as("the mount is made").isNotNull();
            Program.shell(scratch, "kill -INT \"$1\"", process.pid()).orThrow();
            assertThat(said.lines().toList())
                    .contains("penstock: interrupted; removing the benchmark's files")
                    .noneMatch(each -> each.contains("could not remove") || each.contains("internal error"));
            assertThat(process.waitFor(END_SECONDS, TimeUnit.SECONDS)).isTrue();
        } finally {
            process.destroyForcibly();
        }
        assertThat(process.exitValue()).isEqualTo(128 + 2);
        assertNothingLeft();
    }

    @Tag("long")
    @Test
    void mount_isMeasuredThroughItsCache_beforeItsBucket() throws Exception {
        try (MountedBucket mount = MountedBucket.mount(SERVER, bucket.name(), scratch)) {
            String said = run(mount).orThrow();

            assertThat(said)
                    .contains("bucket s3://" + bucket.name() + " at " + SERVER.endpoint())
                    .contains("mount " + mount.path() + "\n  uses the mount's cache")
                    .containsPattern("large file read cold +[0-9.]+ MiB/s +[0-9]+% of the bucket's [0-9.]+")
                    .containsPattern("small files read again +[0-9.]+ files/s +[0-9]+% of the disk's [0-9.]+");
            assertThat(mount.path()).isDirectoryNotContaining("glob:penstock-bench-*");
            assertThat(mount.path().resolve("a/first.bin")).hasSize(1000);
        }
        assertNothingLeft();
    }

    @Tag("long")
    @Test
    void mountReadOnly_isRefused() throws Exception {
        try (MountedBucket mount = MountedBucket.mount(SERVER, bucket.name(), scratch, "--read-only")) {
            Program.Result result = run(mount);
            assertThat(result.out()).contains("penstock: read-only is set, but the benchmark writes\n");
            assertThat(result.exit()).isEqualTo(1);
        }
    }

    @Tag("long")
    @Test
    void folder_ofTheDisk_isMeasuredByTheSameWork() throws Exception {
        Path folder = Files.createDirectory(scratch.resolve("folder"));

        String said = run("--against", folder.toString()).orThrow();

        assertThat(said)
                .contains("disk of " + folder + "\n", folder + "\n  the kernel's pages are dropped before each read")
                .containsPattern("large file written +[0-9.]+ MiB/s +[0-9]+% of the disk's [0-9.]+")
                .containsPattern("small files read again +[0-9.]+ files/s +[0-9]+% of the disk's [0-9.]+")
                .doesNotContain("cold", "the bucket");
        assertThat(folder).isEmptyDirectory();
    }

    @Tag("long")
    @Test
    void folder_withABucket_isComparedWithIt() throws Exception {
        Path folder = Files.createDirectory(scratch.resolve("folder"));

        String said = run(bucket.name(), "--against", folder.toString()).orThrow();

        assertThat(said)
                .containsPattern("large file written +[0-9.]+ MiB/s +[0-9]+% of the bucket's [0-9.]+")
                .containsPattern("small files read again +[0-9.]+ files/s +[0-9]+% of the disk's [0-9.]+");
        assertThat(folder).isEmptyDirectory();
        assertNothingLeft();
    }

    @Test
    void bucketThatMayNotBeWrittenTo_isRefusedWithTheRight() throws Exception {
        assumeTrue(SERVER.hasPolicies(), SERVER + " minds no bucket policies");
        bucket.allow("s3:ListBucket");

        Program.Result result = run(bucket.name(), "--anonymous");

        assertThat(result.out())
                .contains(
                        "penstock: the benchmark writes to the bucket and needs s3:PutObject below '.penstock/bench-");
        assertThat(result.exit()).isEqualTo(1);
        assertNothingLeft();
    }

    @Tag("long")
    @Test
    void bucketThatDoesNotExist_isNamed() throws Exception {
        Program.Result result = run("no-such-bucket");

        assertThat(result.out()).contains("penstock: there is no bucket 'no-such-bucket'");
        assertThat(result.exit()).isEqualTo(1);
        assertNothingLeft();
    }

    @Test
    void diskWithoutRoom_isNamed() {
        assumeTrue("root".equals(System.getProperty("user.name")), "only root can mount a small disk");
        Program.shell(scratch, "mkdir small && mount -t tmpfs -o size=8m penstock-it small")
                .orThrow();
        try {
            Path small = scratch.resolve("small");
            Program.Result result = run("--against", small.toString());

            assertThat(result.out())
                    .contains("penstock: the benchmark needs 11MiB on the disk of " + small + ", but only 8MiB are"
                            + " free; use a smaller --size");
            assertThat(result.exit()).isEqualTo(1);
        } finally {
            Program.shell(scratch, "umount small").orThrow();
        }
    }
}

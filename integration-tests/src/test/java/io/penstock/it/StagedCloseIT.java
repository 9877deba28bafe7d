package io.penstock.it;

import static io.penstock.it.WrittenBucket.sh;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import eu.rekawek.toxiproxy.model.ToxicDirection;
import io.penstock.testing.TestData;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code write.close: staged}: programs continue while the store is unreachable; their files are uploaded later. */
final class StagedCloseIT {
    private static final int MIB = 1 << 20;
    private static final long DEADLINE_SECONDS = 60;

    @TempDir
    private Path scratch;

    private Path source;
    private ToxicWire wire;
    private WrittenBucket bucket;
    private Path folder;

    @BeforeEach
    void mount() throws Exception {
        source = Files.createDirectories(scratch.resolve("source"));
        for (int size : new int[] {1, 100_000, 9 * MIB + 17}) {
            Files.write(
                    source.resolve("of " + size), TestData.of("" + size, size).bytes());
        }
        Optional<Path> binary = ToxicWire.binary();
        assumeTrue(binary.isPresent(), "no toxiproxy-server: bin/test gets one where there is Go");
        wire = ToxicWire.to(S3Server.shared(), binary.get(), scratch);
        bucket = new WrittenBucket(
                wire.server(), scratch, "-o", "write.close=staged,metadata.ttl=10m,s3.connect-timeout=1s");
        bucket.bucket().put("d/old", "old ".repeat(30_000).getBytes(StandardCharsets.UTF_8));
        folder = bucket.mount().path().resolve("d");
        // From here on the present names are known and cached.
        assertThat(sh(folder, "ls && cat old | wc -c")).isEqualTo("old\n120000\n");
    }

    @AfterEach
    void unmount() throws Exception {
        try {
            if (bucket != null) {
                wire.heal();
                bucket.close();
            }
        } finally {
            if (wire != null) {
                wire.close();
            }
        }
    }

    private void write() {
        sh(folder, """
            cp "$1"/* .
            echo new >> old
            cmp "of 9437201" "$1/of 9437201"
            cmp "of 100000" "$1/of 100000"
            tail -c 8 old | grep -q new
            """, source);
    }

    private void assertNothingIsUploaded() {
        assertThat(bucket.bucket().keys("d/")).containsExactly("d/old");
        assertThat(bucket.bucket().get("d/old")).hasSize(120_000);
    }

    @Test
    void close_serverUnreachable_returnsAndTheFilesGoUpLater() throws Exception {
        wire.proxy().disable();

        write();

        assertNothingIsUploaded();
        awaitMounts(bucket.mount().path().toString(), "4 files, 9MiB");
        wire.proxy().enable();
        // Changed again, most likely before the first upload.
        sh(folder, "echo again >> 'of 1' && truncate -s 5M 'of 9437201'");
        bucket.assertStored("d");
        assertThat(bucket.bucket().get("d/of 9437201")).hasSize(5 * MIB);
        awaitMounts(bucket.mount().path().toString(), "nothing");
        bucket.assertSameWithAnEmptyCache();
    }

    @Tag("long")
    @Test
    void close_serverSlow_returnsBeforeTheFilesAreUp() throws Exception {
        wire.proxy().toxics().bandwidth("slow", ToxicDirection.UPSTREAM, 20);

        write();

        assertThat(bucket.bucket().keys("d/")).doesNotContain("d/of 9437201");
        wire.heal();
        bucket.assertStored("d");
        bucket.assertSameWithAnEmptyCache();
    }

    @Test
    void umount_serverUnreachable_leavesAProcessThatUploadsWhenItCan() throws Exception {
        wire.proxy().disable();
        write();

        sh(scratch, "umount \"$1\"", bucket.mount().path());

        awaitMounts("(unmounted)", "4 files, 9MiB");
        assertThat(bucket.mount().process().isAlive()).isTrue();
        assertNothingIsUploaded();
        wire.proxy().enable();
        assertThat(bucket.mount().awaitEnd()).as(bucket.mount().log()).isTrue();
        assertThat(bucket.mount().process().exitValue()).isZero();
        for (String name : List.of("of 1", "of 100000", "of 9437201")) {
            assertThat(bucket.bucket().get("d/" + name)).isEqualTo(Files.readAllBytes(source.resolve(name)));
        }
        assertThat(bucket.bucket().get("d/old")).hasSize(120_004);
    }

    /** As before a reboot. */
    @Test
    void sync_serverUnreachable_saysWhatItWaitsForUntilAllIsUp() throws Exception {
        wire.proxy().disable();
        write();
        String point = bucket.mount().path().toString();

        Program.Result impatient = penstock("sync", point, "--timeout", "1s");

        assertThat(impatient.exit()).as(impatient.out()).isOne();
        assertThat(impatient.out())
                .contains("penstock: d/of 9437201: not in the bucket yet, 9.0MiB left; the upload continues");
        assertNothingIsUploaded();
        assertThat(penstock("why", point + "/d/of 9437201").orThrow())
                .containsPattern("state +(staged|sent): ")
                .contains("written    9.0MiB not in the bucket yet");
        CompletableFuture<Program.Result> patient = CompletableFuture.supplyAsync(() -> penstock("sync", point));
        Await.until(
                "a job waits", () -> penstock("warm", point, "--status").out().contains("waiting for d/"));
        wire.proxy().enable();
        Program.Result end = patient.get(DEADLINE_SECONDS, SECONDS);
        assertThat(end.out()).contains("uploaded 4 files, 9.2MiB");
        assertThat(end.exit()).isZero();
        for (String name : List.of("of 1", "of 100000", "of 9437201")) {
            assertThat(bucket.bucket().get("d/" + name)).isEqualTo(Files.readAllBytes(source.resolve(name)));
        }
        assertThat(penstock("sync", point).orThrow()).endsWith("There was nothing to wait for\n");
    }

    private Program.Result penstock(String... arguments) {
        List<String> command = new ArrayList<>(MountedBucket.penstock());
        command.addAll(List.of(arguments));
        return Program.run(scratch, command);
    }

    /** Waits until penstock mounts shows a line of this process with both. */
    private void awaitMounts(String where, String left) throws Exception {
        List<String> command = new ArrayList<>(MountedBucket.penstock());
        command.add("mounts");
        String process = " " + bucket.mount().process().pid() + " ";
        long deadline = System.nanoTime() + SECONDS.toNanos(DEADLINE_SECONDS);
        while (true) {
            String shown = Program.run(scratch, command).orThrow();
            if (shown.lines().anyMatch(line -> line.contains(process) && line.contains(where) && line.contains(left))) {
                return;
            }
            assertThat(System.nanoTime()).as(shown).isLessThan(deadline);
        }
    }
}

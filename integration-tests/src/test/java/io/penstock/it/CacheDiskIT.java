package io.penstock.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.penstock.testing.TestData;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A cache folder on a failing disk: reads still give the right bytes. Needs root, to create such disks. */
@Tag("alone")
final class CacheDiskIT {
    private static final int MIB = 1 << 20;
    private static final S3Server SERVER = S3Server.shared();

    @TempDir
    private Path scratch;

    private TestBucket bucket;
    private Path disk;
    private final List<TestData> objects = IntStream.range(0, 10)
            .mapToObj(i -> TestData.of("data/%d.bin".formatted(i), 5L * MIB + i))
            .toList();

    @BeforeEach
    void fillBucket() throws Exception {
        assumeTrue("root".equals(System.getProperty("user.name")), "only root can mount a small disk");
        disk = Files.createDirectory(scratch.resolve("disk"));
        bucket = new TestBucket(SERVER);
        bucket.putAll(objects);
    }

    @AfterEach
    void removeDisk() {
        Program.shell(scratch, "umount -l \"$1\" 2>/dev/null", disk);
        bucket.close();
    }

    private void verifyAll(MountedBucket mount) throws Exception {
        for (TestData data : objects) {
            try (InputStream in = Files.newInputStream(mount.path().resolve(data.name()))) {
                TestBucket.verify(data, in);
            }
        }
    }

    private MountedBucket mountOnDisk() throws Exception {
        return MountedBucket.mount(
                SERVER, bucket.name(), scratch, "--cache", disk.resolve("cache").toString(), "-o", "cache.min-free=0");
    }

    @Test
    void fullDisk_underTheCache_readsTheRightBytes() throws Exception {
        Program.shell(scratch, "mount -t tmpfs -o size=16m penstock-it \"$1\"", disk)
                .orThrow();
        try (MountedBucket mount = mountOnDisk()) {
            verifyAll(mount);
            Program.shell(scratch, "head -c 100M /dev/zero > \"$1\"/filler || true", disk)
                    .orThrow();
            Program.shell(scratch, "echo 3 > /proc/sys/vm/drop_caches").orThrow();
            verifyAll(mount);
        }
    }

    @Test
    void diskTurningReadOnly_underTheCache_readsTheRightBytes() throws Exception {
        Path image = scratch.resolve("image");
        Program.shell(
                        scratch,
                        "truncate -s 128M \"$1\" && mkfs.ext4 -q \"$1\" && mount -o loop \"$1\" \"$2\"",
                        image,
                        disk)
                .orThrow();
        try (MountedBucket mount = mountOnDisk()) {
            try (InputStream in =
                    Files.newInputStream(mount.path().resolve(objects.getFirst().name()))) {
                TestBucket.verify(objects.getFirst(), in);
            }
            // As ext4 does after an I/O error: from here on, all writes fail with EROFS.
            Program.shell(scratch, "mount -o remount,abort \"$1\"; touch \"$1\"/probe", disk);
            verifyAll(mount);
            Await.until(
                    "a write behind has failed, which is logged",
                    () -> mount.log().toLowerCase(Locale.ROOT).contains("read-only"));
        }
    }

    /** Like a device that no longer responds: writes hang, and nothing fails. */
    @Tag("long")
    @Timeout(300)
    @Test
    void frozenDisk_underTheCache_commandsAnswerAndFilesAreRead() throws Exception {
        Path image = scratch.resolve("image");
        Program.shell(
                        scratch,
                        "truncate -s 256M \"$1\" && mkfs.ext4 -q \"$1\" && mount -o loop \"$1\" \"$2\"",
                        image,
                        disk)
                .orThrow();
        try (MountedBucket mount = mountOnDisk()) {
            String point = mount.path().toString();
            String pinned = objects.getFirst().name();
            penstock("warm", point, pinned, "--pin").orThrow();
            Program.shell(scratch, "fsfreeze -f \"$1\"", disk).orThrow();
            try {
                verifyAll(mount);
                assertThat(penstock("stats", point, "--once").orThrow()).contains("cache");
                assertThat(penstock("why", point + "/" + pinned).orThrow()).contains("pinned");
                assertThat(penstock("cache", "status", point, "data").orThrow()).contains("data");
                assertThat(penstock("set", point, "readahead.concurrency=40").orThrow())
                        .contains("-> 40");
                Program.Result unpin = penstock("unpin", point, "data");
                assertThat(unpin.out()).contains("has not responded for 5 s");
                assertThat(unpin.exit()).isOne();
            } finally {
                Program.shell(scratch, "fsfreeze -u \"$1\"", disk).orThrow();
            }
            Await.until(
                    "work in progress continues",
                    () -> penstock("why", point + "/" + pinned).out().contains("not pinned"));
            penstock("warm", point, "data").orThrow();
            verifyAll(mount);
        }
    }

    private Program.Result penstock(String... arguments) {
        List<String> command = new ArrayList<>(MountedBucket.penstock());
        command.addAll(List.of(arguments));
        return Program.run(scratch, Duration.ofMinutes(1), command);
    }
}

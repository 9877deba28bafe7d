package io.penstock.it;

import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.WRITE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.penstock.testing.TestData;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A staging folder on a full or failing disk: writing continues. Needs root, to create such disks. */
@Timeout(240)
final class WriteDiskIT {
    private static final int MIB = 1 << 20;
    private static final S3Server SERVER = S3Server.shared();

    @TempDir
    private Path scratch;

    private TestBucket bucket;
    private Path disk;

    @BeforeEach
    void makeBucket() throws Exception {
        assumeTrue("root".equals(System.getProperty("user.name")), "only root can mount a small disk");
        disk = Files.createDirectory(scratch.resolve("disk"));
        bucket = new TestBucket(SERVER);
    }

    @AfterEach
    void removeDisk() {
        if (bucket != null) {
            Program.shell(scratch, "umount -l \"$1\" 2>/dev/null", disk);
            bucket.close();
        }
    }

    private MountedBucket mount() throws Exception {
        return MountedBucket.mount(
                SERVER,
                bucket.name(),
                scratch,
                "--cache",
                disk.resolve("cache").toString(),
                "-o",
                "cache.min-free=0,write.memory=32MiB");
    }

    /**
     * Writes the data with an fsync after every {@code syncEvery} bytes, and reads it back, through the mount and from
     * the bucket.
     */
    private void writeAndVerify(MountedBucket mount, TestData data, int syncEvery) throws Exception {
        Path file = mount.path().resolve(data.name());
        try (FileChannel channel = FileChannel.open(file, CREATE, WRITE)) {
            for (long at = 0; at < data.size(); at += MIB) {
                channel.write(ByteBuffer.wrap(data.bytes(at, (int) Math.min(MIB, data.size() - at))));
                if ((at + MIB) % syncEvery == 0) {
                    channel.force(true);
                }
            }
        }
        data.verify(0, ByteBuffer.wrap(bucket.get(data.name())));
        try (InputStream in = Files.newInputStream(file)) {
            TestBucket.verify(data, in);
        }
    }

    private static int count(String log, String text) {
        return log.split(java.util.regex.Pattern.quote(text), -1).length - 1;
    }

    @Test
    void fullDisk_underTheStaging_hasOwnFileLargerThanItself() throws Exception {
        Program.shell(scratch, "mount -t tmpfs -o size=24m penstock-it \"$1\"", disk)
                .orThrow();
        try (MountedBucket mount = mount()) {
            writeAndVerify(mount, TestData.of("streamed", 100L * MIB + 7), Integer.MAX_VALUE);
            writeAndVerify(mount, TestData.of("synced", 60L * MIB), 16 * MIB);
            mount.terminate();
            assertThat(mount.log()).doesNotContain("ERROR", "The staging disk failed");
        }
        assertThat(bucket.unfinishedUploads()).isEmpty();
    }

    @Tag("long")
    @Test
    void diskTurningReadOnly_underTheStaging_isSaidOnceAndWritingGoesOn() throws Exception {
        Path image = scratch.resolve("image");
        Program.shell(
                        scratch,
                        "truncate -s 256M \"$1\" && mkfs.ext4 -q \"$1\" && mount -o loop \"$1\" \"$2\"",
                        image,
                        disk)
                .orThrow();
        try (MountedBucket mount = mount()) {
            writeAndVerify(mount, TestData.of("before", 20L * MIB), 16 * MIB);
            TestData across = TestData.of("across", 60L * MIB);
            try (FileChannel channel = FileChannel.open(mount.path().resolve(across.name()), CREATE, WRITE)) {
                write(channel, across, 0, 20L * MIB);
                channel.force(true);
                // As ext4 does after an I/O error: from here on, all writes fail with EROFS.
                Program.shell(scratch, "mount -o remount,abort \"$1\"; touch \"$1\"/probe", disk);
                write(channel, across, 20L * MIB, across.size());
                channel.force(true);
            }
            across.verify(0, ByteBuffer.wrap(bucket.get(across.name())));
            writeAndVerify(mount, TestData.of("after", 60L * MIB), 16 * MIB);
            mount.terminate();
            assertThat(count(mount.log(), "The staging disk failed"))
                    .as(mount.log())
                    .isEqualTo(1);
        }
    }

    private static void write(FileChannel channel, TestData data, long from, long end) throws IOException {
        for (long at = from; at < end; at += MIB) {
            channel.write(ByteBuffer.wrap(data.bytes(at, (int) Math.min(MIB, end - at))));
        }
    }
}

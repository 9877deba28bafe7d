package io.penstock.it;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.WRITE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.testing.TestData;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The differences where the kernel collects written bytes: only the kernel knows a file's size, and the bytes that it
 * has not sent.
 */
@Timeout(240)
final class WritebackCacheIT {
    private static final int BLOCK = 4096;

    @TempDir
    private Path scratch;

    private TestBucket bucket;

    @BeforeEach
    void makeBucket() {
        bucket = new TestBucket(S3Server.shared());
    }

    @AfterEach
    void deleteBucket() {
        bucket.close();
    }

    private MountedBucket mount() throws Exception {
        return mount("kernel");
    }

    private MountedBucket mount(String binding) throws Exception {
        String options = "fuse.writeback-cache=true,metadata.ttl=1s";
        return MountedBucket.mount(S3Server.shared(), bucket.name(), scratch, "-o", options, "--binding", binding);
    }

    private void put(String key, String text) {
        bucket.put(key, text.getBytes(UTF_8));
    }

    private static void write(FileChannel channel, String text) throws IOException {
        channel.write(ByteBuffer.wrap(text.getBytes(UTF_8)));
    }

    @Test
    void object_changedBySomebodyElse_isSeenInItsNewSize() throws Exception {
        try (MountedBucket mount = mount()) {
            mount.awaitLog("writeback cache, no passthrough");
            Path read = mount.path().resolve("read");
            Path written = mount.path().resolve("written");
            put("read", "short");
            assertThat(read).hasContent("short");
            Files.writeString(written, "what was written here");
            try (FileChannel open = FileChannel.open(read)) {
                put("read", "longer than it was");
                put("written", "theirs");

                Await.until("the longer one", () -> Files.readString(read).equals("longer than it was"));
                Await.until("the shorter one", () -> Files.readString(written).equals("theirs"));

                assertThat(Files.size(read)).isEqualTo("longer than it was".length());
                assertThat(open.size()).as("as it was opened").isEqualTo("short".length());
            }
            Files.writeString(read, "and here again");
            assertThat(bucket.get("read")).asString(UTF_8).isEqualTo("and here again");
            mount.terminate();
        }
    }

    @Test
    void close_ofAnObjectThatSomebodyElseHasChanged_failsAndShowsTheirs() throws Exception {
        put("file", "old");
        try (MountedBucket mount = mount()) {
            Path file = mount.path().resolve("file");
            FileChannel channel = FileChannel.open(file, WRITE);
            write(channel, "mine, which is longer");
            put("file", "theirs");

            assertThatThrownBy(channel::close).hasMessageContaining("Stale file handle");

            Await.until("their content", () -> Files.readString(file).equals("theirs"));
            mount.terminate();
        }
        assertThat(new Recover(S3Server.shared(), bucket.name(), scratch)
                        .run("--list")
                        .orThrow())
                .contains("'file' (21B)");
    }

    @Test
    void copy_ofAFileThatIsBeingWritten_hasWhatTheKernelHasNotSent() throws Exception {
        try (MountedBucket mount = mount()) {
            try (FileChannel channel = FileChannel.open(mount.path().resolve("file"), CREATE, WRITE)) {
                for (int i = 0; i < 100; i++) {
                    channel.write(ByteBuffer.wrap(new TestData("block", BLOCK, i).bytes()), 10L * i * BLOCK);
                }
                // When cp looks for holes, it must not take unsent bytes for one.
                WrittenBucket.sh(mount.path(), "cp --sparse=always --reflink=never file copy && cmp file copy");
                WrittenBucket.sh(mount.path(), "cp --reflink=auto file again && cmp file again");
            }
            assertThat(bucket.get("copy")).isEqualTo(bucket.get("file"));
            mount.terminate();
        }
    }

    @Test
    void fsync_beforeACrash_hasWhatTheKernelHadCollected() throws Exception {
        byte[] content = new TestData("content", 1000 * BLOCK, 0).bytes();
        try (MountedBucket mount = mount()) {
            FileChannel channel = FileChannel.open(mount.path().resolve("file"), CREATE, WRITE);
            for (int at = 0; at < content.length; at += BLOCK) {
                channel.write(ByteBuffer.wrap(content, at, BLOCK));
            }
            channel.force(false);
            mount.kill();
            assertThatThrownBy(channel::close).isInstanceOf(IOException.class);
        }
        try (MountedBucket mount = mount()) {
            assertThat(Files.readAllBytes(mount.path().resolve("file"))).isEqualTo(content);
            Await.until("its upload", () -> bucket.find("file").isPresent());
            mount.terminate();
        }
        assertThat(bucket.get("file")).isEqualTo(content);
    }

    @Test
    void mount_byLibfuse2_isRefusedInWords() {
        assertThatThrownBy(() -> mount("jnr"))
                .hasMessageContaining("not mounted")
                .hasMessageContaining("--binding kernel")
                .hasMessageContaining("fuse.writeback-cache");
    }
}

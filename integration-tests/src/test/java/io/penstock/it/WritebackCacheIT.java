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
import java.nio.file.attribute.FileTime;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The differences if the kernel collects written bytes: only the kernel knows a file's size, and the bytes that it has
 * not sent.
 */
@Timeout(240)
final class WritebackCacheIT {
    private static final int BLOCK = 4096;

    /** The largest object, in bytes. */
    private static final long LARGEST = 5L << 30;

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
        return mount(S3Server.shared(), binding);
    }

    private MountedBucket mount(S3Server server, String binding) throws Exception {
        String options = "fuse.writeback-cache=true,metadata.ttl=1s,upload.largest-object=5GiB";
        return MountedBucket.mount(server, bucket.name(), scratch, "-o", options, "--binding", binding);
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
        assertThat(new Recover(S3Server.shared(), bucket.name(), scratch).waiting("--list"))
                .contains("'file' (21B)");
    }

    @Test
    void copy_ofAFileThatIsBeingWritten_hasWhatTheKernelHasNotSent() throws Exception {
        try (MountedBucket mount = mount()) {
            try (FileChannel channel = FileChannel.open(mount.path().resolve("file"), CREATE, WRITE)) {
                for (int i = 0; i < 100; i++) {
                    channel.write(ByteBuffer.wrap(new TestData("block", BLOCK, i).bytes()), 10L * i * BLOCK);
                }
                // When cp looks for holes, unsent bytes must not look like one.
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

    /** The kernel may or may not have sent the bytes written after the fsync by then. */
    @Test
    void rename_ofWhatIsBeingWritten_movesWhatWasSyncedAndTheRestFollows() throws Exception {
        put("file", "0123456789");
        try (MountedBucket mount = mount()) {
            try (FileChannel channel = FileChannel.open(mount.path().resolve("file"), WRITE)) {
                write(channel, "sync");
                channel.force(false);
                write(channel, "late");

                Files.move(mount.path().resolve("file"), mount.path().resolve("moved"));

                assertThat(bucket.find("file")).isEmpty();
                assertThat(bucket.get("moved")).asString(UTF_8).isIn("sync456789", "synclate89");
            }
            assertThat(bucket.get("moved")).asString(UTF_8).isEqualTo("synclate89");
            assertThat(bucket.find("file")).isEmpty();
            mount.terminate();
        }
    }

    /** Then the kernel sends the last write's time again, without a handle: fuse_update_ctime in fs/fuse/dir.c. */
    @Test
    void rename_ofAClosedFile_copiesItOnce() throws Exception {
        put("theirs", "0123456789");
        try (S3Front front = new S3Front(S3Server.shared());
                MountedBucket mount = mount(front.fronted(), "kernel")) {
            Files.writeString(mount.path().resolve("mine"), "written here");
            assertThat(mount.path().resolve("theirs")).hasContent("0123456789");
            front.drainRequests();

            for (String name : List.of("mine", "theirs")) {
                FileTime modified = Files.getLastModifiedTime(mount.path().resolve(name));
                Files.move(mount.path().resolve(name), mount.path().resolve(name + "-moved"));
                assertThat(Files.getLastModifiedTime(mount.path().resolve(name + "-moved")))
                        .isEqualTo(modified);
            }

            assertThat(front.drainRequests())
                    .filteredOn(request ->
                            request.method().equals("PUT") && !request.target().contains("/.penstock/"))
                    .extracting(S3Front.Request::target)
                    .containsExactly("/" + bucket.name() + "/mine-moved", "/" + bucket.name() + "/theirs-moved");
            mount.terminate();
        }
    }

    /** Only its time is set: the kernel's message is like the one after a rename. */
    @Test
    void utimensat_ofTheModificationTimeAlone_isKept() throws Exception {
        put("file", "0123456789");
        try (MountedBucket mount = mount()) {
            WrittenBucket.sh(mount.path(), "touch -m -d @981173106 file && test $(stat -c %Y file) = 981173106");
            mount.terminate();
        }
        try (MountedBucket mount = mount()) {
            WrittenBucket.sh(mount.path(), "test $(stat -c %Y file) = 981173106");
            mount.terminate();
        }
    }

    @Test
    void truncateByName_ofWhatIsBeingWritten_cutsWhatWasSyncedAndTheRestFollows() throws Exception {
        put("file", "0123456789");
        try (MountedBucket mount = mount()) {
            try (FileChannel channel = FileChannel.open(mount.path().resolve("file"), WRITE)) {
                write(channel, "sync");
                channel.force(false);
                write(channel, "late");

                WrittenBucket.sh(mount.path(), "python3 -c 'import os; os.truncate(\"file\", 7)'");

                assertThat(bucket.get("file")).asString(UTF_8).isIn("sync456", "synclat");
            }
            assertThat(bucket.get("file")).asString(UTF_8).isEqualTo("synclat");
            mount.terminate();
        }
    }

    /** For a close the kernel keeps only whether the error was ENOSPC: mapping_set_error in include/linux/pagemap.h. */
    @Test
    void write_beyondTheLargestObject_isReportedOnceByFsyncOrClose() throws Exception {
        try (MountedBucket mount = mount()) {
            String calls = WrittenBucket.sh(mount.path(), """
                python3 -c '
                import os, sys
                def errno(call, *arguments):
                    try:
                        call(*arguments)
                        return "none"
                    except OSError as e:
                        return os.strerror(e.errno)
                def beyond(name):
                    f = os.open(name, os.O_CREAT | os.O_WRONLY)
                    assert os.pwrite(f, b"x", int(sys.argv[1])) == 1
                    return f
                f = beyond("fsynced")
                print("fsync:", errno(os.fsync, f))
                print("fsync again:", errno(os.fsync, f))
                print("close after it:", errno(os.close, f))
                print("close:", errno(os.close, beyond("closed")))
                ' "$1"
                """, LARGEST);

            assertThat(calls).isEqualTo("""
                fsync: File too large
                fsync again: none
                close after it: none
                close: Input/output error
                """);
            mount.terminate();
        }
    }

    @Test
    void mount_byLibfuse2_isRefusedInWords() {
        assertThatThrownBy(() -> mount("jnr"))
                .hasMessageContaining("not mounted")
                .hasMessageContaining("--binding kernel")
                .hasMessageContaining("fuse.writeback-cache");
    }
}

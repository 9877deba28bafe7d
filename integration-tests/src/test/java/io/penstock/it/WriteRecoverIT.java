package io.penstock.it;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.WRITE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.it.S3Front.Treatment;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.DisabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/**
 * Content that cannot be uploaded automatically, and the command that resolves it; which uploads are aborted, and which
 * are not.
 */
@Timeout(240)
final class WriteRecoverIT {
    private static final int MIB = 1 << 20;
    private static final String ONCE = "the same whichever binding was mounted";
    private static final S3Server SERVER = S3Server.shared();

    @TempDir
    private Path scratch;

    private TestBucket bucket;

    @BeforeEach
    void makeBucket() {
        bucket = new TestBucket(SERVER);
    }

    @AfterEach
    void deleteBucket() {
        bucket.close();
    }

    private Program.Result recover(String... arguments) {
        return recover(SERVER, bucket.name(), arguments);
    }

    private Program.Result recover(S3Server server, String source, String... arguments) {
        return new Recover(server, source, scratch).run(arguments);
    }

    private MountedBucket mount(String... options) throws Exception {
        return MountedBucket.mount(SERVER, bucket.name(), scratch, options);
    }

    private static void write(Path file, String text) throws IOException {
        try (FileChannel channel = FileChannel.open(file, CREATE, WRITE)) {
            channel.write(ByteBuffer.wrap(text.getBytes(UTF_8)));
        }
    }

    private String stored(String key) {
        return new String(bucket.get(key), UTF_8);
    }

    private void put(String key, String text) {
        bucket.put(key, text.getBytes(UTF_8));
    }

    private List<Path> staged() throws IOException {
        try (Stream<Path> files = Files.list(scratch.resolve("cache").resolve("staging"))) {
            return files.filter(file -> !file.endsWith("lock") && !file.endsWith("PENSTOCK.txt"))
                    .toList();
        }
    }

    /** Leaves "mine" staged for each key, where another client has stored "theirs" before the commit. */
    private void makeConflicts(String... keys) throws Exception {
        try (MountedBucket mount = mount()) {
            for (String key : keys) {
                put(key, "old");
                Path file = mount.path().resolve(key);
                assertThatThrownBy(() -> {
                            try (FileChannel channel = FileChannel.open(file, WRITE)) {
                                channel.write(ByteBuffer.wrap("mine".getBytes(UTF_8)));
                                put(key, "theirs");
                            }
                        })
                        .isInstanceOf(IOException.class)
                        .hasMessageContaining("Stale file handle");
                assertThat(stored(key)).isEqualTo("theirs");
                mount.awaitLog("'" + key + "' could not be committed");
                assertThat(mount.log()).contains("penstock recover");
                Await.until("their content", () -> Files.readString(file).equals("theirs"));
            }
            mount.terminate();
        }
    }

    @Test
    void conflict_settledByTheCommand_exportedCommittedOrDiscarded() throws Exception {
        makeConflicts("d/one", "d/two");

        Program.Result list = recover("--list");
        assertThat(list.exit()).isEqualTo(3);
        assertThat(list.out()).contains("'d/one' (4B)", "'d/two' (4B)", "another client", "staging");
        assertThat(recover().out()).isEqualTo(list.out());

        Path folder = scratch.resolve("rescued");
        assertThat(recover("--export", folder.toString()).orThrow())
                .contains(folder.resolve("d/one").toString());
        assertThat(folder.resolve("d/one")).hasContent("mine");
        assertThat(folder.resolve("d/two")).hasContent("mine");
        Program.Result again = recover("--export", folder.toString());
        assertThat(again.exit()).isEqualTo(1);
        assertThat(again.out()).contains("left unchanged", "already exists");

        assertThat(recover("--commit", "d/one").orThrow())
                .contains("'d/one' (4B): uploaded")
                .doesNotContain("d/two");
        assertThat(stored("d/one")).isEqualTo("mine");
        assertThat(stored("d/two")).isEqualTo("theirs");

        makeConflicts("d/two"); // again
        Program.Result last = recover("--commit");
        assertThat(last.exit()).isEqualTo(1);
        assertThat(last.out())
                .containsSubsequence("'d/two' (4B): left unchanged: a later version", "'d/two' (4B): uploaded");
        put("d/two", "theirs");

        assertThat(recover("--discard", "d/two").orThrow()).contains("'d/two' (4B): removed");
        assertThat(stored("d/two")).isEqualTo("theirs");
        assertThat(recover().orThrow())
                .contains("No files are waiting in " + scratch.resolve("cache/staging") + " for s3://" + bucket.name());
        assertThat(staged()).isEmpty();
    }

    /** A script that drains a node must not consider them uploaded. */
    @Test
    @DisabledIfSystemProperty(named = "penstock.test.binding", matches = "jnr", disabledReason = ONCE)
    void umount_filesOfAnEarlierMountWait_saysSo() throws Exception {
        makeConflicts("one", "two");
        for (String json : List.of("", "--json")) {
            try (MountedBucket mount = mount()) {
                assertThat(penstock("mounts", "").out())
                        .containsPattern("failed uploads: 2; see penstock recover\\s+s3://" + bucket.name());
                Program.Result umount = penstock("umount", mount.path() + " " + json);
                assertThat(umount.exit()).isEqualTo(3);
                assertThat(umount.out())
                        .contains("could not be uploaded: 2; penstock recover s3://" + bucket.name())
                        .doesNotContain("all written files are in the bucket");
                assertThat(umount.out().contains("\"failed\":2")).isEqualTo(!json.isEmpty());
                assertThat(mount.awaitEnd()).isTrue();
            }
        }
    }

    private Program.Result penstock(String command, String arguments) {
        return Program.shell(
                scratch,
                "\"$@\" " + command + " " + arguments,
                MountedBucket.penstock().toArray());
    }

    @Tag("long")
    @Test
    @DisabledIfSystemProperty(named = "penstock.test.binding", matches = "jnr", disabledReason = ONCE)
    void recover_wrongArguments_isRefusedInWords() throws Exception {
        makeConflicts("one");

        assertThat(recover("--list", "--commit").exit()).isEqualTo(2);
        assertThat(recover("--export").exit()).isEqualTo(2);
        assertThat(recover("--undo").exit()).isEqualTo(2);
        Program.Result unknownKey = recover("--commit", "two");
        assertThat(unknownKey.exit()).isEqualTo(1);
        assertThat(unknownKey.out()).contains("'two'");
        assertThat(stored("one")).isEqualTo("theirs");
        Path file = Files.createFile(scratch.resolve("file"));
        Program.Result noFolder = recover("--export", file.toString());
        assertThat(noFolder.exit()).isEqualTo(1);
        assertThat(noFolder.out()).contains(file.toString());
        try (MountedBucket mount = mount()) {
            mount.awaitLog("could not be uploaded: 1; see penstock recover s3://" + bucket.name() + " --cache ");
            Program.Result beside = recover();
            assertThat(beside.exit()).isEqualTo(3);
            assertThat(beside.out())
                    .contains(
                            "another client", scratch.resolve("cache/staging/").toString());
            assertThat(recover("--export", scratch.resolve("beside").toString()).exit())
                    .isZero();
            Program.Result whileMounted = recover("--discard");
            assertThat(whileMounted.exit()).isEqualTo(1);
            assertThat(whileMounted.out())
                    .contains(Long.toString(mount.process().pid()), "unmount first");
            mount.terminate();
        }
        Program.Result otherBucket = recover(SERVER, "it-no-such-bucket", "--commit");
        assertThat(otherBucket.exit()).isEqualTo(1);
        assertThat(otherBucket.out()).contains("it-no-such-bucket");
    }

    @Test
    @DisabledIfSystemProperty(named = "penstock.test.binding", matches = "jnr", disabledReason = ONCE)
    void recover_afterACrash_showsExportsAndCommitsWhatWaits() throws Exception {
        try (S3Front front = new S3Front(SERVER)) {
            Recover recover = new Recover(front.fronted(), bucket.name(), scratch);
            try (MountedBucket mount =
                    MountedBucket.mount(front.fronted(), bucket.name(), scratch, "-o", "write.close=staged")) {
                front.treat(request -> request.isUpload() ? Treatment.answer(503, "SlowDown") : Treatment.PASS);
                write(mount.path().resolve("waits"), "mine");
                mount.kill();
            }
            front.passAll();
            assertThat(recover.waiting()).contains("'waits' (4B)", "will be uploaded by the next mount");
            assertThat(recover.run("--discard").orThrow()).contains("give its key to remove it");
            assertThat(recover().out())
                    .contains(
                            "'waits' (4B) was written to "
                                    + front.fronted().endpoint().getAuthority() + "/",
                            "1 file of " + front.fronted().endpoint().getAuthority() + "/" + bucket.name() + " in "
                                    + scratch.resolve("cache/staging") + ": penstock recover " + bucket.name(),
                            "No files are waiting in " + scratch.resolve("cache/staging") + " for s3://"
                                    + bucket.name());
            assertThat(recover.run("--export", scratch.toString(), "none").out())
                    .contains("'none': no file is waiting for this key")
                    .doesNotContain("No files are waiting in");

            Path folder = scratch.resolve("rescued");
            assertThat(recover.run("--export", folder.toString()).orThrow()).contains("rescued/waits");
            assertThat(folder.resolve("waits")).hasContent("mine");
            assertThat(recover.run("--commit").orThrow()).contains("'waits' (4B): uploaded");
            assertThat(stored("waits")).isEqualTo("mine");
            assertThat(staged()).isEmpty();
        }
    }

    @Test
    void uploads_thatNothingWillResume_areAbortedAndOthersAreNot() throws Exception {
        String theirs = bucket.beginUpload("file");
        try (MountedBucket mount = mount()) {
            FileChannel channel = FileChannel.open(mount.path().resolve("file"), CREATE, WRITE);
            channel.write(ByteBuffer.wrap(new byte[20 * MIB]));
            // A part is sent only once the journal has the upload's id.
            Await.until(
                    "a part while the file is written",
                    () -> uploadsOf("file").stream()
                            .anyMatch(id -> bucket.parts("file", id).orElse(0) > 0));
            mount.kill();
            assertThatThrownBy(channel::close).isInstanceOf(IOException.class);
        }
        try (MountedBucket mount = mount()) {
            Await.until(
                    "the abort of what was not synced", () -> uploadsOf("file").size() == 1);
            assertThat(uploadsOf("file")).containsExactly(theirs);
            mount.terminate();
        }
        assertThat(staged()).isEmpty();
        bucket.abort("file", theirs);
    }

    @Tag("long")
    @Test
    @DisabledIfSystemProperty(named = "penstock.test.binding", matches = "jnr", disabledReason = ONCE)
    void mounts_ofOneBucketWithCachesOfTheirOwn_leaveEachOthersUploadsAlone() throws Exception {
        Path other = Files.createDirectory(scratch.resolve("other"));
        try (S3Front front = new S3Front(SERVER);
                MountedBucket mount =
                        MountedBucket.mount(front.fronted(), bucket.name(), scratch, "-o", "write.close=staged")) {
            front.limit(MIB / 4);
            Files.write(mount.path().resolve("file"), new byte[20 * MIB]);
            Await.until("an upload behind", () -> uploadsOf("file").size() == 1);
            Set<String> before = uploadsOf("file");
            for (int i = 0; i < 2; i++) {
                try (MountedBucket second = MountedBucket.mount(SERVER, bucket.name(), other)) {
                    write(second.path().resolve("theirs"), "theirs");
                    second.kill();
                }
            }
            assertThat(uploadsOf("file")).isEqualTo(before);
            front.limit(0);
            Program.shell(scratch, "umount \"$1\"", mount.path()).orThrow();
            assertThat(mount.awaitEnd()).as(mount.log()).isTrue();
        }
        assertThat(bucket.get("file")).hasSize(20 * MIB);
        assertThat(uploadsOf("file")).isEmpty();
        assertThat(stored("theirs")).isEqualTo("theirs");
    }

    private Set<String> uploadsOf(String key) {
        return bucket.unfinishedUploads(key).keySet();
    }
}

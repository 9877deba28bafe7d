package io.penstock.writeback;

import static io.penstock.writeback.content.Block.BLOCK_SIZE;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.core.KernelRequest;
import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.Call;
import io.penstock.objectstore.ListRequest;
import io.penstock.testing.Gate;
import io.penstock.testing.Seeded;
import io.penstock.writeback.WatchedFiles.Operation;
import io.penstock.writeback.staging.StagedFile;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the next process of a mount has of a written file when its process is killed. */
@Timeout(60)
final class SurvivorsTest {
    private final FileScenario s = new FileScenario();

    @AfterEach
    void close() {
        s.close();
    }

    private String content() throws Exception {
        ByteBuffer to = ByteBuffer.allocate((int) s.file().size());
        assertThat(s.file().read(0, to)).isEqualTo(to.capacity());
        return new String(to.array(), UTF_8);
    }

    @Test
    void kill_afterAWrite_leavesTheBytesAndTheTime() throws Exception {
        s.surviving().open("a", "base").write(1, "BB");
        Instant modified = s.file().modified();
        s.kill();
        assertThat(content()).isEqualTo("bBBe");
        assertThat(s.file().modified()).isEqualTo(modified);
        s.start().then(WrittenFile::commit).expect("a", "bBBe");
    }

    @Test
    void kill_beforeAnyWrite_leavesANewFileThatIsCommitted() throws Exception {
        s.surviving().create("a");
        s.kill().start().then(WrittenFile::release).settles().expect("a", "");
    }

    @Test
    void kill_twice_leavesTheBytesOfBothProcesses() throws Exception {
        s.surviving().create("a").write(0, "one").kill().start().write(3, "two").kill();
        assertThat(content()).isEqualTo("onetwo");
    }

    @Test
    void kill_ofAClosedFile_commitsIt() throws Exception {
        s.surviving().create("a").write(0, "x");
        s.kill().start().then(WrittenFile::release).settles().expect("a", "x");
    }

    @Test
    void kill_afterARename_leavesTheNewName() throws Exception {
        ObjectVersion replaced = s.bucket.put("b", "old");
        s.surviving().create("a").write(0, "new").then(file -> {
            assertThat(file.holdUncommitted()).isTrue();
            file.renamed("b", replaced);
        });
        s.kill();
        assertThat(s.file().key()).isEqualTo("b");
        assertThat(s.file().inherited()).isNull();
        s.start().then(WrittenFile::commit).expect("b", "new");
        assertThat(s.bucket.list(ListRequest.of("", "")).objects()).hasSize(1);
    }

    @Test
    void kill_afterTheNameIsGone_leavesTheBytesAndCommitsNothing() throws Exception {
        s.surviving().create("a").write(0, "x").then(WrittenFile::fsync, WrittenFile::withdraw, WrittenFile::unlink);
        s.kill();
        assertThat(s.file().hasName()).isFalse();
        assertThat(content()).isEqualTo("x");
        s.start().then(WrittenFile::release).settles();
        assertThat(s.bucket.list(ListRequest.of("", "")).objects()).isEmpty();
    }

    @Test
    void kill_afterAnAttributeWasSet_commitsIt() throws Exception {
        s.surviving().create("a").then(file -> file.setHeaders(new TreeMap<>(Map.of("x-amz-meta-file-owner", "7"))));
        s.kill().start().then(WrittenFile::commit);
        assertThat(s.bucket.properties("a").headers()).containsEntry("x-amz-meta-file-owner", "7");
    }

    @Test
    void kill_afterACommit_leavesACleanFile() throws Exception {
        s.surviving().create("a").write(0, "x").then(WrittenFile::commit);
        ObjectVersion version = s.bucket.head("a").version();
        s.kill();
        assertThat(s.file().isDirty()).isFalse();
        assertThat(s.file().committed()).isEqualTo(version);
        assertThat(content()).isEqualTo("x");
        s.start().then(WrittenFile::release).settles();
        assertThat(s.bucket.head("a").version()).isEqualTo(version);
    }

    /** The request has made the object, and the process never learned it. */
    @Test
    void kill_duringACommit_takesTheObjectForItsOwn() throws Exception {
        s.surviving().open("a", "base").write(0, "BASE");
        WrittenFile before = s.file();
        try (Gate gate = s.delays.holdAnswer(Call.Put.class::isInstance)) {
            Thread.startVirtualThread(() -> assertThatThrownBy(before::commit));
            gate.awaitHeld(1);
            s.write(4, "+").kill();
        }
        assertThat(content()).isEqualTo("BASE+");
        s.start().then(WrittenFile::commit).expect("a", "BASE+");
    }

    /** Its data file belongs to the cache then, or is about to. */
    @Test
    void kill_betweenACommitAndItsEnd_leavesWhatWasWrittenSince() throws Exception {
        byte[] base = new byte[2 * BLOCK_SIZE];
        Seeded.random(1).nextBytes(base);
        s.surviving();
        boolean[] killed = new boolean[1];
        s.onCommitted((version, snapshot) -> {
            if (!killed[0]) {
                killed[0] = true;
                assertThatCode(() -> s.write(5, "since").kill()).doesNotThrowAnyException();
            }
        });
        s.create("a").write(0, base).then(WrittenFile::fsync);
        WrittenFile before = s.file();
        Thread.startVirtualThread(() -> assertThatCode(before::commit).doesNotThrowAnyException());
        while (s.file() == before) {
            Thread.sleep(1);
        }
        System.arraycopy("since".getBytes(UTF_8), 0, base, 5, 5);
        ByteBuffer to = ByteBuffer.allocate(base.length);
        assertThat(s.file().read(0, to)).isEqualTo(base.length);
        assertThat(Arrays.mismatch(to.array(), base)).isNegative();
        assertThat(s.file().committed()).isEqualTo(s.bucket.head("a").version());
        s.start().then(WrittenFile::commit);
        assertThat(s.bucket.head("a").version().size()).isEqualTo(base.length);
    }

    /** The data file is about to be the cache's: nothing in it counts, of the blocks written since either. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void kill_betweenACommitAndItsEnd_needsNothingOfTheDataFile(boolean isRewritten) throws Exception {
        byte[] content = new byte[2 * BLOCK_SIZE + 100];
        Seeded.random(3).nextBytes(content);
        s.surviving().create("a").write(0, content).then(WrittenFile::fsync);
        WrittenFile before = s.file();
        s.onCommitted((version, snapshot) -> {
            s.onCommitted((_, _) -> {});
            assertThatCode(() -> {
                        if (isRewritten) {
                            s.write(BLOCK_SIZE + 7, "since");
                        }
                        assertThat(snapshot.stageAll()).isTrue();
                        for (String name : s.files().names()) {
                            if (name.endsWith(StagedFile.DATA)) {
                                s.files().remove(name);
                            }
                        }
                        s.kill();
                    })
                    .doesNotThrowAnyException();
        });
        s.write(content.length - 1, new byte[] {1});
        content[content.length - 1] = 1;
        Thread.startVirtualThread(() -> assertThatCode(before::commit).doesNotThrowAnyException());
        while (s.file() == before) {
            Thread.sleep(1);
        }
        if (isRewritten) {
            System.arraycopy("since".getBytes(UTF_8), 0, content, BLOCK_SIZE + 7, 5);
        }
        ByteBuffer to = ByteBuffer.allocate(content.length);
        assertThat(s.file().read(0, to)).isEqualTo(content.length);
        assertThat(Arrays.mismatch(to.array(), content)).isNegative();
        assertThat(s.file().isDirty()).isEqualTo(isRewritten);
    }

    /** As an append whose request is sent again. */
    @Test
    void writtenBefore_requestOfTheFormerProcess_isWhatItWrote() throws Exception {
        s.surviving().create("a");
        KernelRequest request = new KernelRequest(1, 8, false);
        request.<Integer, Exception>serve(() -> s.file().append(ByteBuffer.wrap("line".getBytes(UTF_8))));
        s.kill();
        int before = new KernelRequest(1, 8, true).<Integer, RuntimeException>serve(s.mount().writeback::writtenBefore);
        int ofAnother =
                new KernelRequest(1, 10, true).<Integer, RuntimeException>serve(s.mount().writeback::writtenBefore);
        assertThat(before).isEqualTo(4);
        assertThat(ofAnother).isZero();
    }

    /** They are asked to be deleted once more. */
    @Test
    void leftRemovals_afterAKill_areThoseThatHadNotEnded() throws Exception {
        ObjectVersion first = s.bucket.put("1", "");
        ObjectVersion second = s.bucket.put("2", "");
        s.surviving().create("a");
        s.mount().writeback.removing(first);
        s.mount().writeback.removing(second);
        s.mount().writeback.removed(first);
        s.kill();
        assertThat(s.mount().writeback.leftRemovals()).containsExactly(second);
    }

    @Test
    void kill_afterAnExtension_leavesTheSize() throws Exception {
        s.surviving()
                .create("a")
                .write(0, "x")
                .then(file -> file.truncate(10L * BLOCK_SIZE))
                .kill();
        assertThat(s.file().size()).isEqualTo(10L * BLOCK_SIZE);
        s.start().then(WrittenFile::commit);
        assertThat(s.bucket.head("a").version().size()).isEqualTo(10L * BLOCK_SIZE);
    }

    /** Memory of the former process that no file has is freed, and another block may have its number. */
    @Test
    void kill_manyTimes_keepsBytesAndMemory() throws Exception {
        byte[] content = new byte[3 * BLOCK_SIZE];
        s.surviving().create("a");
        for (int i = 0; i < 8; i++) {
            Arrays.fill(content, i * 300_000, (i + 1) * 300_000, (byte) (i + 1));
            s.write(i * 300_000L, Arrays.copyOfRange(content, i * 300_000, (i + 1) * 300_000))
                    .kill()
                    .start();
            s.mount().writeback.create("other " + i, null).write(0, ByteBuffer.allocate(10));
        }
        ByteBuffer to = ByteBuffer.allocate(8 * 300_000);
        assertThat(s.file().read(0, to)).isEqualTo(to.capacity());
        assertThat(to.array()).isEqualTo(Arrays.copyOf(content, to.capacity()));
    }

    /** The staging disk counts as broken if a file is in the way. */
    @Test
    void kill_whileTheFirstBlockIsStaged_stagesItAgain() throws Exception {
        s.surviving().create("a").write(0, "x").before(Operation.WRITE, StagedFile.DATA, () -> s.kill());
        WrittenFile before = s.file();
        assertThatCode(before::fsync).doesNotThrowAnyException();
        s.start().then(WrittenFile::fsync);
        assertThat(s.file().progress()).isEqualTo(WrittenFile.Progress.STAGED);
    }

    /** The log is written anew several times. */
    @Test
    void kill_afterVeryManyWrites_leavesAllOfThem() throws Exception {
        s.surviving().create("other").write(0, "other");
        WrittenFile other = s.file();
        s.create("a");
        byte[] expected = new byte[BLOCK_SIZE];
        RandomGenerator random = Seeded.random(2);
        for (int i = 0; i < 1_200_000; i++) {
            int at = random.nextInt(1024) * 4096;
            expected[at] = (byte) i;
            s.file().write(at, ByteBuffer.wrap(expected, at, 1));
        }
        s.kill();
        ByteBuffer to = ByteBuffer.allocate(BLOCK_SIZE);
        int size = s.file().read(0, to);
        assertThat(Arrays.mismatch(to.array(), expected)).isNegative();
        assertThat(size).isEqualTo((int) s.file().size());
        assertThat(s.mount().writeback.survivors())
                .extracting(WrittenFile::number)
                .contains(other.number());
    }
}

package io.penstock.writeback;

import static io.penstock.writeback.content.Block.BLOCK_SIZE;
import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.cache.CacheConfig;
import io.penstock.cache.PageCache;
import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;
import io.penstock.disk.DataFolder;
import io.penstock.objectstore.Call;
import io.penstock.objectstore.ForwardingObjectStore;
import io.penstock.objectstore.ListRequest;
import io.penstock.objectstore.MultipartUpload;
import io.penstock.objectstore.ObjectProperties;
import io.penstock.objectstore.ObjectStore;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.ObjectStoreException.PreconditionFailed;
import io.penstock.objectstore.ObjectStoreException.Unavailable;
import io.penstock.objectstore.UploadListener;
import io.penstock.objectstore.WriteCondition;
import io.penstock.testing.Content;
import io.penstock.testing.Fault;
import io.penstock.testing.Gate;
import io.penstock.testing.Seeded;
import io.penstock.writeback.FileScenario.DiskGate;
import io.penstock.writeback.WatchedFiles.Operation;
import io.penstock.writeback.bytes.Reclaim;
import io.penstock.writeback.bytes.Snapshot;
import io.penstock.writeback.staging.StagedFile;
import io.penstock.writeback.staging.StagingFolder;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What a crash leaves between two related steps, and what an interrupt must not break there. */
@Timeout(60)
final class CrashWindowsTest {
    private final FileScenario s = new FileScenario();

    @TempDir
    Path directory;

    @AfterEach
    void close() {
        s.close();
    }

    private static byte[] bytes(int seed, int length) {
        byte[] bytes = new byte[length];
        Seeded.random(seed).nextBytes(bytes);
        return bytes;
    }

    // ---- after a crash

    @Test
    void resume_afterAKill_sendsOnlyWhatTheStoreHasNot() throws Exception {
        byte[] content = bytes(1, 5 * BLOCK_SIZE);
        int sent = 4 * BLOCK_SIZE;
        s.create("a").write(0, Arrays.copyOf(content, sent)).awaitUploaded(sent);
        s.write(sent, Arrays.copyOfRange(content, sent, content.length));
        s.then(WrittenFile::fsync).crash(1);
        s.store.drain();
        s.recover();
        assertThat(s.bucket.head("a").version().size()).isEqualTo(content.length);
        assertThat(s.store.only(Call.CreateUpload.class)).isEmpty();
        assertThat(s.store.uploadedBytes()).isEqualTo(BLOCK_SIZE);
    }

    @Test
    void renamed_uncommittedAfterAnFsync_isFoundUnderItsNewName() throws Exception {
        ObjectVersion replaced = s.bucket.put("b", "old");
        s.create("a").write(0, "new").then(WrittenFile::fsync, file -> {
            assertThat(file.holdUncommitted()).isTrue();
            file.renamed("b", replaced);
            file.resumeCommits();
        });
        s.crash(4).expect("b", "old").recover().expectTold("committed b 3").expect("b", "new");
    }

    @ParameterizedTest
    @EnumSource(names = {"WRITE", "FORCE"})
    void fsync_afterTheJournalHasNotTakenANewName_promisesThatName(Operation failing) throws Exception {
        s.create("a").write(0, "new").then(WrittenFile::fsync).before(failing, StagedFile.JOURNAL, () -> {
            throw new IOException("broken");
        });
        s.then(
                file -> {
                    assertThat(file.holdUncommitted()).isTrue();
                    file.renamed("b", null);
                    file.resumeCommits();
                },
                WrittenFile::fsync);
        s.crash(12).recover().expect("b", "new");
        assertThat(s.bucket.list(ListRequest.of("", "")).objects()).hasSize(1);
    }

    @Test
    void renamed_uncommittedAfterAnFsync_inheritsNothing() throws Exception {
        ObjectProperties others = new ObjectProperties(new TreeMap<>(Map.of("content-type", "text/html")), Map.of());
        ObjectVersion replaced = s.bucket.put("b", Content.of(new byte[3]), others);
        s.create("a").write(0, "new").then(WrittenFile::fsync, file -> {
            assertThat(file.holdUncommitted()).isTrue();
            file.renamed("b", replaced);
            file.resumeCommits();
        });
        s.crash(8).recover().expect("b", "new");
        assertThat(s.bucket.properties("b")).isEqualTo(ObjectProperties.ofNew("b"));
    }

    /** They provide its mode and owner until it is committed. */
    @Test
    void truncated_fsynced_isFoundWithItsInheritedVersion() throws Exception {
        s.truncate("a", "old").write(0, "new").then(WrittenFile::fsync).crash(9).find();
        assertThat(s.file().inherited()).isEqualTo(s.bucket.head("a").version());
        assertThat(s.file().committed()).isNull();
    }

    @Test
    void renamed_overAnObject_isFoundWithoutAnInheritedVersion() throws Exception {
        ObjectVersion replaced = s.bucket.put("b", "old");
        s.create("a").write(0, "new").then(WrittenFile::fsync, file -> {
            assertThat(file.holdUncommitted()).isTrue();
            file.renamed("b", replaced);
            file.resumeCommits();
        });
        s.crash(10).find();
        assertThat(s.file().inherited()).isNull();
    }

    @Test
    void commit_failedAfterARenameOfWhatWasFsynced_isFoundAsItWasSent() throws Exception {
        s.create("a").write(0, "old").then(WrittenFile::fsync, file -> {
            assertThat(file.holdUncommitted()).isTrue();
            file.renamed("b", null);
            file.resumeCommits();
        });
        s.write(0, "newer").fails(Call.Put.class, Fault.fail(ObjectStoreException.AccessDenied::new));
        s.failsWith(ObjectStoreException.AccessDenied.class, WrittenFile::commit);
        s.crash(5).recover().expectTold("committed b 5").expect("b", "newer");
    }

    @Test
    void endSuperseded_nameReplacedJustBeforeTheCrash_showsNoFile() throws Exception {
        s.create("a").write(0, "1").then(WrittenFile::fsync, WrittenFile::withdraw);
        s.bucket.put("a", "the file that took its name");
        s.crash(6).remount();
        s.mount().writeback.endSuperseded();
        assertThat(s.mount().writeback.recovered()).isEmpty();
        s.start().settles().expectKept().expect("a", "the file that took its name");
    }

    @Test
    void endSuperseded_ofANameThatIsStillItsOwn_isCommitted() throws Exception {
        s.create("a").write(0, "1").then(WrittenFile::fsync, WrittenFile::withdraw);
        s.crash(7).remount();
        s.mount().writeback.endSuperseded();
        assertThat(s.mount().writeback.recovered()).hasSize(1);
        s.start().settles().expect("a", "1");
    }

    @Test
    void holdUncommitted_whileACommitIsDecided_holdsNothing() throws Exception {
        s.create("a").write(0, "1");
        try (Gate _ = s.held(Call.Put.class, WrittenFile::commit)) {
            assertThat(s.file().holdUncommitted()).isFalse();
        }
        s.ends().expect("a", "1");
        assertThat(s.file().holdUncommitted()).isFalse();
        s.releases();
    }

    @Test
    void holdUncommitted_afterAStagedClose_commitsUnderTheNewName() throws Exception {
        long hour = Duration.ofHours(1).toNanos();
        try (FileScenario late = new FileScenario(new CommitTiming(hour, hour, hour, hour))) {
            late.create("a").write(0, "1").then(WrittenFile::closeStaged, file -> {
                assertThat(file.holdUncommitted()).isTrue();
                file.renamed("b", null);
                file.resumeCommits();
            });
            late.then(WrittenFile::commit).releases().expect("b", "1");
            assertThat(late.store.writes()).hasSize(1);
        }
    }

    @Test
    void isInDoubt_ofAnEarlierRun_untilItIsCommitted() throws Exception {
        s.create("a").write(0, "text");
        assertThat(s.file().isInDoubt()).isFalse();
        s.then(WrittenFile::fsync).crash(3).find();
        assertThat(s.file().isInDoubt()).isTrue();
        s.start().settles();
        assertThat(s.file().isInDoubt()).isFalse();
    }

    @Test
    void commit_ofMoreThanWasSynced_isRecognisedAfterACrash() throws Exception {
        s.onCommitted((_, _) -> s.losePower(2)).open("a", "base");
        s.write(0, "first").then(WrittenFile::fsync);
        s.write(5, " and second").then(WrittenFile::commit, WrittenFile::release);
        assertThat(s.files().names()).isNotEmpty();
        s.onCommitted((_, _) -> {}).recover().expectTold("committed a 16").expectKept();
        s.expect("a", "first and second");
    }

    @Test
    void zero_whileACommitRuns_isInTheNextJournal() throws Exception {
        s.open("a", "one two three").write(0, "ONE");
        try (Gate _ = s.held(Call.Put.class, WrittenFile::commit)) {
            s.file().zero(4, 3);
        }
        s.ends().then(WrittenFile::fsync).crash(7).expect("a", "ONE two three");
        s.recover().expect("a", "ONE \0\0\0 three");
    }

    @Test
    void fsync_overtakenByACommit_leavesNoOldContentInTheNewJournal() throws Exception {
        s.on(StagingFolder.open(directory));
        try (DiskGate disk = s.heldDisk(Operation.FORCE, StagedFile.DATA, Integer.MAX_VALUE)) {
            s.create("a").write(0, "0123456789").then(file -> file.zero(0, 4)).write(0, "NEW!");
            s.behind(WrittenFile::fsync);
            disk.awaitHeld(1);
            s.file().commit();
        }
        s.ends();
        assertThat(s.mount().staging.isUsable()).isTrue();
        s.write(8, "xy").then(WrittenFile::fsync).unmount().expect("a", "NEW!456789");
        s.recover().expect("a", "NEW!4567xy");
    }

    /** One crash at any moment, and what it may leave. */
    private static final class OneCrash {
        private final CrashingFiles disk;
        private List<byte[]> right = List.of();
        private @Nullable CrashingFiles left;

        OneCrash(CrashingFiles disk) {
            this.disk = disk;
        }

        synchronized boolean mayCome() {
            return !right.isEmpty();
        }

        synchronized void mayLeave(byte[]... contents) {
            if (left == null) {
                right = List.of(contents);
            }
        }

        synchronized void come(int seed) {
            if (left == null) {
                left = disk.crash(Seeded.random(seed));
            }
        }
    }

    /** Like repeated {@code cp new old; sync old}. */
    @Test
    void crash_whileAllOfAFileIsReplaced_findsTheOneOrTheOther() throws Exception {
        byte[] one = bytes(1, 2 * BLOCK_SIZE + 100);
        byte[] other = bytes(2, BLOCK_SIZE + 100);
        byte[] last = bytes(3, 3 * BLOCK_SIZE);
        AtomicInteger operations = new AtomicInteger();
        for (int point = 0; operations.get() >= point; point++) {
            CrashingFiles disk = new CrashingFiles();
            OneCrash crash = new OneCrash(disk);
            operations.set(-1);
            int crashing = point;
            DataFolder watched = new WatchedFiles(disk, (_, _) -> {
                if (crash.mayCome() && operations.incrementAndGet() == crashing) {
                    crash.come(crashing);
                }
            });
            try (TestMount first = new TestMount(s.store, watched, TestConfig.withMemory(64)).start()) {
                WrittenFile file = first.writeback.create("a", null);
                file.write(0, ByteBuffer.wrap(one));
                file.fsync();
                crash.mayLeave(one, other);
                file.truncate(0);
                file.write(0, ByteBuffer.wrap(other));
                file.fsync();
                crash.mayLeave(other, last);
                file.truncate(0);
                file.write(0, ByteBuffer.wrap(last));
                file.fsync();
                crash.mayLeave(last);
                crash.come(1);
            }
            CrashingFiles left = requireNonNull(crash.left);
            try (TestMount second = new TestMount(s.store, left, TestConfig.withMemory(8))) {
                assertThat(second.writeback.recovered())
                        .as("crash at operation " + point)
                        .hasSize(1);
                WrittenFile file = second.writeback.recovered().getFirst();
                ByteBuffer found = ByteBuffer.allocate(Math.toIntExact(file.size()));
                file.read(0, found);
                assertThat(crash.right)
                        .as("crash at operation " + point)
                        .anyMatch(may -> Arrays.equals(may, found.array()));
                long dataFiles = left.names().stream()
                        .filter(name -> name.endsWith(StagedFile.DATA))
                        .count();
                assertThat(dataFiles).isEqualTo(1);
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"1, 'synced '", "2, 'synced appended'"})
    void fsync_fileGrowsMeanwhile_promisesNoZerosForUnstagedBytes(int syncs, String promised) throws Exception {
        s.create("log").write(0, "synced ");
        s.before(Operation.WRITE, StagedFile.DATA, () -> s.write(7, "appended"));
        for (int i = 0; i < syncs; i++) {
            s.file().fsync();
        }
        s.crash(11).recover().expect("log", promised);
    }

    @Test
    void fsync_ofAFileThatIsCutAndRewrittenMeanwhile_promisesNoZeros() throws Exception {
        s.create("a").write(0, "AAAA");
        s.before(
                Operation.WRITE,
                StagedFile.DATA,
                () -> s.then(file -> file.truncate(0)).write(0, "BBBB"));
        s.then(WrittenFile::fsync).crash(13).recover();
        assertThat(s.stored("a")).isIn("", "BBBB");
    }

    /** By then it is staged in another data file. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 5, 6})
    void fsync_replacedBeforeItIsJournalled_promisesNoZeros(int seed) throws Exception {
        AtomicInteger syncs = new AtomicInteger();
        s.create("a").write(0, "AAAA").onDisk((operation, name) -> {
            boolean ofJournal = name.endsWith(StagedFile.JOURNAL);
            if (operation == Operation.CREATE && ofJournal) {
                s.then(file -> file.truncate(0)).write(0, "BBBB");
                s.file().bytes().staging().stageAll(null);
            } else if (operation == Operation.FORCE && ofJournal && syncs.incrementAndGet() == 2) {
                s.losePower(seed);
            }
        });
        s.then(WrittenFile::fsync).crash(seed).recover();
        assertThat(s.stored("a")).isIn("AAAA", "BBBB");
    }

    @Test
    void commit_ofAFileThatWasCutWhileABlockWasStaged_freesItsMemory() throws Exception {
        try (DiskGate disk = s.heldDisk(Operation.WRITE, StagedFile.DATA, Integer.MAX_VALUE)) {
            s.create("a").write(BLOCK_SIZE, new byte[BLOCK_SIZE]);
            disk.awaitHeld(1);
            s.then(file -> file.truncate(1), WrittenFile::commit);
        }
        s.releases();
    }

    @Test
    void truncate_whileABlockIsStaged_isNotUndoneByIt() throws Exception {
        byte[] old = new byte[BLOCK_SIZE];
        byte[] fresh = new byte[BLOCK_SIZE];
        Arrays.fill(old, (byte) 'o');
        Arrays.fill(fresh, (byte) 'n');
        try (DiskGate disk = s.heldDisk(Operation.WRITE, StagedFile.DATA, 1)) {
            s.create("a").write(0, old);
            disk.awaitHeld(1);
            s.then(file -> file.truncate(0)).write(0, fresh);
            s.behind(WrittenFile::fsync).awaitWaiter();
        }
        s.ends();
        while (s.mount().context.resources().memory().usedBytes() > BLOCK_SIZE) {
            Thread.onSpinWait(); // until the memory of the staged block is free
        }
        while (s.file().bytes().staging().evict(0, false) != Reclaim.Eviction.FREED) {
            Thread.onSpinWait(); // an upload may be reading it
        }
        ByteBuffer read = ByteBuffer.allocate(BLOCK_SIZE);
        s.file().read(0, read);
        assertThat(read.array()).isEqualTo(fresh);
        s.releases();
    }

    @Test
    void recover_moreStagedThanJournalled_leavesNothing() throws Exception {
        DataFolder local = StagingFolder.open(directory);
        s.on(local).create("a").then(WrittenFile::fsync).write(0, "not synced");
        s.file().bytes().staging().stageAll(null);
        s.unmount();
        assertThat(local.names()).anyMatch(name -> name.endsWith(StagedFile.DATA));
        s.recover().expect("a", "");
        assertThat(local.names()).isEmpty();
    }

    @Test
    void fsync_whileTheFileGetsAnotherName_saysSo() throws Exception {
        ObjectVersion before = s.open("a", "one two").bucket.head("a").version();
        s.write(0, "ONE").before(Operation.FORCE, StagedFile.JOURNAL, () -> {
            s.file().moved(s.bucket.copy(before, "b", WriteCondition.ALWAYS));
            s.bucket.delete("a");
        });
        s.then(WrittenFile::fsync).crash(9).recover().expect("b", "ONE two");
    }

    @Test
    void fsync_blockReplacedBeforeItIsStaged_stagesItsSuccessor() throws Exception {
        int blocks = 6;
        long last = (blocks - 1L) * BLOCK_SIZE;
        try (DiskGate disk = s.heldDisk(Operation.WRITE, StagedFile.DATA, Integer.MAX_VALUE)) {
            s.create("a");
            for (long block = 0; block < blocks; block++) {
                s.write(block * BLOCK_SIZE, "x");
            }
            s.behind(WrittenFile::fsync);
            disk.awaitHeld(4); // as many as are staged concurrently
            try (Snapshot body = s.file().bytes().hold(new ByteRange(last, BLOCK_SIZE))) {
                assertThat(body.length()).isEqualTo(BLOCK_SIZE);
                s.write(last + 1, "y");
                disk.open();
                s.ends(); // although a reader holds the earlier block
                ByteBuffer was = ByteBuffer.allocate(2);
                body.read(0, was);
                assertThat(was.array()).startsWith((byte) 'x');
            }
        }
        s.crash(10).recover();
        assertThat(s.stored("a")).hasSizeGreaterThan((int) last);
        assertThat(s.stored("a").substring((int) last)).startsWith("x");
    }

    // ---- while a rename holds commits

    @Test
    void commitAndHold_failsAfterTheLastRelease_fileIsCommittedLater() throws Exception {
        s.create("a").write(0, "text");
        try (Gate _ = s.held(Call.Put.class, WrittenFile::closeStaged)) {
            s.ends().then(WrittenFile::release).fails(Call.Put.class, Fault.fail(Unavailable::new));
            s.behind(WrittenFile::commitAndHold).awaitWaiter();
        }
        s.endsWith(Unavailable.class).settles().expect("a", "text");
    }

    @Test
    void commitAndHold_writtenMeanwhile_isCommittedUnderTheNewName() throws Exception {
        s.open("a", "one two").write(0, "ONE");
        ObjectVersion held = requireNonNull(s.file().commitAndHold());
        s.expect("a", "ONE two").write(4, "TWO").then(WrittenFile::closeStaged);
        s.behind(WrittenFile::commit).awaitWaiter().then(WrittenFile::release);
        assertThat(s.store.only(Call.Put.class)).hasSize(1);
        s.renamed(held, "b").ends().settles().expectTold("committed a 7", "committed b 7");
        s.expect("b", "ONE TWO").expectOnDisk(false);
    }

    @Test
    void commitAndHold_ofWhatIsOnlyWantedBehind_beginsThatAfterwards() throws Exception {
        s.create("a").write(0, "one");
        ObjectVersion held = requireNonNull(s.file().commitAndHold());
        s.write(0, "two").then(WrittenFile::closeStaged).renamed(held, "b");
        while (s.file().isDirty()) {
            Thread.onSpinWait();
        }
        s.expect("b", "two").releases();
    }

    @Test
    void commitAndHold_whileACommitRuns_waitsForItAndForOneMore() throws Exception {
        s.create("a").write(0, "one");
        try (Gate _ = s.held(Call.Put.class, WrittenFile::closeStaged)) {
            s.write(0, "two").behind(WrittenFile::commitAndHold).awaitWaiter();
        }
        s.ends().expect("a", "two").then(WrittenFile::resumeCommits).releases();
    }

    @Test
    void commitAndHold_thatFails_holdsNothing() throws Exception {
        s.create("a").write(0, "one").fails(Call.Put.class, Fault.fail(ObjectStoreException.AccessDenied::new));
        s.failsWith(ObjectStoreException.AccessDenied.class, WrittenFile::commitAndHold);
        s.then(WrittenFile::commit).releases();
    }

    @Test
    void fsync_whileCommitsAreHeld_isFoundUnderTheNewNameAfterwards() throws Exception {
        s.open("a", "one two");
        ObjectVersion held = requireNonNull(s.file().commitAndHold());
        s.write(0, "ONE").then(WrittenFile::fsync).renamed(held, "b").crash(11);
        s.recover().expect("b", "ONE two");
    }

    // ---- while a name is removed or replaced

    /** A synced file whose name is about to be removed, and then a crash. */
    private FileScenario withdrawn(FileScenario.Step... afterwards) throws Exception {
        s.open("a", "one two").write(0, "ONE").then(WrittenFile::fsync, WrittenFile::withdraw);
        return s.then(afterwards).crash(8);
    }

    @Test
    void withdraw_thenReplacedAndACrash_isNoConflict() throws Exception {
        withdrawn().bucket.put("a", "renamed");
        s.recover().expectTold("given up a").expectFailed(0);
        s.expectOnDisk(false).expect("a", "renamed");
    }

    @Test
    void withdraw_thenRemovedAndACrash_isNoConflict() throws Exception {
        withdrawn().bucket.delete("a");
        s.recover().expectFailed(0).expectOnDisk(false);
    }

    @Test
    void withdraw_thenACrashBeforeItsNameIsGone_isCommittedAsItWas() throws Exception {
        withdrawn().recover().expectTold("committed a 7").expect("a", "ONE two");
    }

    @Test
    void withdraw_thenACrashAndNoBucketThatCanBeFound_keepsTheContent() throws Exception {
        withdrawn().faults.always(_ -> true, Fault.fail(ObjectStoreException.NotFound::new));
        s.recover().expectFailed(1).expectOnDisk(true);
    }

    @Test
    void withdraw_thenACrashAndARefusal_keepsTheContent() throws Exception {
        withdrawn().faults.always(Call.Put.class::isInstance, Fault.fail(ObjectStoreException.NotFound::new));
        s.recover().expectFailed(1).expectOnDisk(true);
    }

    @Test
    void reinstate_thenReplacedBySomebodyElseAndACrash_isAConflict() throws Exception {
        withdrawn(WrittenFile::reinstate).bucket.put("a", "theirs");
        s.recover().expectFailed(1);
    }

    @Test
    void fsync_reinstatementNotJournalled_isDurableAllTheSame() throws Exception {
        FileScenario.Step broken = _ -> s.before(Operation.WRITE, StagedFile.JOURNAL, () -> {
            throw new IOException("broken");
        });
        withdrawn(broken, WrittenFile::reinstate, WrittenFile::fsync).bucket.put("a", "theirs");
        s.recover().expectFailed(1);
    }

    @Test
    void withdraw_thenReplacedAndWrittenToAfterTheCrash_isAConflict() throws Exception {
        withdrawn().bucket.put("a", "theirs");
        s.find();
        assertThat(s.file().retain()).isTrue();
        s.write(0, "new").start().releases().expectFailed(1).expectOnDisk(true);
    }

    @Test
    void withdraw_beforeTheNameIsRemoved_isStillFoundAfterACrash() throws Exception {
        s.create("a").write(0, "mine").then(WrittenFile::fsync, WrittenFile::withdraw);
        s.crash(3).recover().expect("a", "mine");
    }

    @Test
    void withdraw_duringABackgroundCommit_isFoundAfterACrash() throws Exception {
        s.create("a").write(0, new byte[5 * BLOCK_SIZE]);
        try (Gate _ = s.held(Call.UploadPart.class, WrittenFile::closeStaged)) {
            s.ends().then(WrittenFile::release, WrittenFile::withdraw);
            assertThat(s.files().names()).anyMatch(name -> name.endsWith(StagedFile.JOURNAL));
        }
        s.then(WrittenFile::reinstate).settles();
        assertThat(s.bucket.openUploads()).isEmpty();
        assertThat(s.stored("a")).hasSize(5 * BLOCK_SIZE);
        s.expectOnDisk(false);
    }

    @Test
    void unlink_whileItIsCommittedBehind_leavesNothing() throws Exception {
        s.create("a").write(0, new byte[5 * BLOCK_SIZE]);
        try (Gate _ = s.held(Call.UploadPart.class, WrittenFile::closeStaged)) {
            s.ends().then(WrittenFile::release, WrittenFile::withdraw, WrittenFile::unlink);
        }
        s.settles().expectOnDisk(false);
        assertThat(s.bucket.openUploads()).isEmpty();
        assertThat(s.bucket.list(ListRequest.of("", "")).objects()).isEmpty();
    }

    @Test
    void unlink_whileUploading_leavesAnUploadThatTheNextRunAborts() throws Exception {
        s.create("a").write(0, new byte[5 * BLOCK_SIZE]).then(WrittenFile::fsync);
        s.awaitUploaded(4L * BLOCK_SIZE).then(WrittenFile::unlink).crash(4);
        assertThat(s.bucket.openUploads()).hasSize(1);
        s.recover();
        assertThat(s.mount().writeback.recovered()).isEmpty();
        s.expectOnDisk(false);
        assertThat(s.bucket.openUploads()).isEmpty();
    }

    @Test
    void release_ofAnUnlinkedFileThatIsUploaded_leavesNothing() throws Exception {
        s.create("a").write(0, new byte[5 * BLOCK_SIZE]).then(WrittenFile::fsync);
        s.awaitUploaded(4L * BLOCK_SIZE).then(WrittenFile::unlink, WrittenFile::release);
        s.expectOnDisk(false);
        assertThat(s.bucket.openUploads()).isEmpty();
    }

    // ---- what an earlier run may have committed

    @Test
    void commit_ofAPartOfAFile_isRecognisedWithoutItsBaseVersion() throws Exception {
        byte[] base = bytes(5, 3 * BLOCK_SIZE);
        s.onCommitted((_, _) -> s.losePower(5)).open("a", base);
        s.write(10, "changed").then(WrittenFile::fsync, WrittenFile::commit, WrittenFile::release);
        ObjectVersion committed = s.bucket.head("a").version();
        assertThat(s.files().names()).isNotEmpty();
        s.unmount().store.drain();
        s.onCommitted((_, _) -> {})
                .recover()
                .expectTold("committed a " + base.length)
                .expectKept();
        assertThat(s.bucket.head("a").version()).isEqualTo(committed);
        assertThat(s.store.uploadedBytes()).isZero();
        s.expectOnDisk(false);
        assertThat(s.bucket.openUploads()).isEmpty();
    }

    @Test
    void commit_overAForeignVersionOfEqualSize_isAConflict() throws Exception {
        byte[] base = new byte[3 * BLOCK_SIZE];
        s.open("a", base).write(10, "mine").then(WrittenFile::fsync).crash(6);
        base[10] = 'm';
        s.bucket.put("a", base);
        s.recover().expectTold("given up a");
    }

    @Test
    void recover_theJournalOutlivedItsCommit_leavesWhatIsNewer() throws Exception {
        s.open("a", "base").write(0, "older").then(WrittenFile::fsync).onDisk((operation, name) -> {
            if (operation == Operation.REMOVE && name.endsWith(StagedFile.JOURNAL)) {
                throw new IOException("broken");
            }
        });
        s.then(WrittenFile::commit, WrittenFile::release).unmount();
        s.bucket.put("a", "newer");
        s.crash(7).recover().expectTold("given up a").expect("a", "newer");
    }

    /** Otherwise rm of the file would delete another writer's object. */
    @Test
    void isInDoubt_afterAConflictOfWhatWasFound_isFalse() throws Exception {
        s.create("a").write(0, "mine").then(WrittenFile::fsync).crash(9);
        s.bucket.put("a", "theirs");
        WrittenFile found = s.find().file();
        assertThat(found.retain()).isTrue();
        assertThat(found.isInDoubt()).isTrue();
        s.start().failsWith(PreconditionFailed.class, WrittenFile::commit);
        assertThat(found.isInDoubt()).isFalse();
        s.releases();
    }

    @Test
    void upload_ofOneOfTwoFiles_leavesTheOtherPending() throws Exception {
        s.create("a").write(0, "a").then(WrittenFile::fsync);
        s.create("b").write(0, "b").then(WrittenFile::fsync).crash(8);
        Writeback second = s.remount().mount().writeback;
        List<RecoverableFile> meant =
                second.pending().stream().filter(file -> file.key().equals("a")).toList();
        second.upload(meant, s.mount().listener());
        s.expectTold("committed a 1");
        assertThat(s.bucket.list(new ListRequest("", "", null, null, 10)).objects())
                .extracting(object -> object.version().key())
                .containsExactly("a");
        assertThat(s.remount().mount().writeback.pending())
                .extracting(RecoverableFile::key)
                .containsExactly("b");
    }

    // ---- how commits end

    @Test
    void close_whileACommitGivesItsPagesAway_doesNotInterruptThat() throws Exception {
        AtomicBoolean interrupted = new AtomicBoolean();
        s.onCommitted((_, _) -> {
            TestMount mount = s.mount();
            Thread closing = Thread.ofPlatform().start(mount::close);
            while (!mount.context.isClosed() || closing.getState() != Thread.State.TIMED_WAITING) {
                Thread.onSpinWait();
            }
            interrupted.set(Thread.currentThread().isInterrupted());
        });
        s.create("a").write(0, "mine").then(WrittenFile::commit);
        assertThat(interrupted).isFalse();
        s.expect("a", "mine");
    }

    @Test
    void commit_endingInAnUnforeseenWay_failsForWhoWaitsForIt() throws Exception {
        s.onCommitted((_, _) -> {
            throw new StackOverflowError("unforeseen");
        });
        s.create("a");
        assertThatThrownBy(s.file()::commit).isInstanceOf(IOException.class).hasMessageContaining("unforeseen");
        s.onCommitted((_, _) -> {}).then(WrittenFile::unlink).releases();
    }

    @Test
    void commit_storeAwayThenLastRelease_isRetriedInTheBackground() throws Exception {
        s.create("a").write(0, "mine").fails(Call.Put.class, Fault.fail(Unavailable::new));
        try (Gate _ = s.held(Call.Put.class, WrittenFile::commit)) {
            s.file().release(); // as the kernel does for a killed program
        }
        s.endsWith(Unavailable.class).settles().expectTold("committed a 4").expect("a", "mine");
    }

    @Test
    void commit_failsForeverAfterTheLastRelease_failsForAllWaiters() throws Exception {
        s.create("a").write(0, "mine");
        try (Gate _ = s.held(Call.Put.class, WrittenFile::commit)) {
            s.behind(WrittenFile::commit);
            s.bucket.put("a", "theirs");
            s.file().release();
        }
        s.endsWith(PreconditionFailed.class).failsWith(PreconditionFailed.class, WrittenFile::commit);
        s.settles().expectTold("given up a").expectOnDisk(true);
    }

    @Test
    void commit_refusedByTheStore_keepsTheContentAndNobodyWaitsForIt() throws Exception {
        s.faults.always(Call.Put.class::isInstance, Fault.fail(ObjectStoreException.Refused::new));
        s.create("a").write(0, "mine").failsWith(ObjectStoreException.Refused.class, WrittenFile::commit);
        s.releases().expectTold("given up a");
        s.remount().start().expectKept("a");
    }

    @Test
    void commit_afterOneWhoseAnswerWasLost_recognisesWhatThatHasMade() throws Exception {
        s.create("a").write(0, "mine").fails(Call.Put.class, Fault.failAfterwards(Unavailable::new));
        s.failsWith(Unavailable.class, WrittenFile::commit)
                .then(WrittenFile::commit)
                .releases();
        s.expectTold("committed a 4");
    }

    /** None of our requests arrived, and another client writes the same: its object has another operation. */
    @Test
    void commit_lostResponseThenForeignEqualContent_isAConflict() throws Exception {
        s.create("a").write(0, "same").fails(Call.Put.class, Fault.fail(Unavailable::new));
        s.failsWith(Unavailable.class, WrittenFile::commit);
        s.bucket.put("a", "same");
        s.failsWith(PreconditionFailed.class, WrittenFile::commit);
    }

    /** Killed between the request and its successful response. */
    @Test
    void recover_carriedOutBeforeTheCrash_isRecognised() throws Exception {
        s.create("a").write(0, "mine").then(WrittenFile::fsync);
        s.fails(Call.Put.class, Fault.failAfterwards(Unavailable::new));
        s.failsWith(Unavailable.class, WrittenFile::commit);
        s.crash(32).recover().expectTold("committed a 4").expect("a", "mine");
    }

    /** Killed between the request and its response, a refusal. The other writer's object has the same content. */
    @Test
    void recover_refusedBeforeTheCrashAndTheSameIsThere_isAConflict() throws Exception {
        s.create("a").write(0, "same").then(WrittenFile::fsync);
        s.bucket.put("a", "same");
        s.failsWith(PreconditionFailed.class, WrittenFile::commit);
        s.crash(31).recover().expectTold("given up a").expect("a", "same");
    }

    @Test
    void commit_editAfterALostResponseToCopiedParts_isBasedOnThat() throws Exception {
        s.open("a", new byte[8 * BLOCK_SIZE])
                .write(5L * BLOCK_SIZE, "mine")
                .fails(Call.Complete.class, Fault.failAfterwards(Unavailable::new));
        s.failsWith(Unavailable.class, WrittenFile::commit).write(6L * BLOCK_SIZE, "edited");
        s.then(WrittenFile::commit).releases().expectOnDisk(false);
        byte[] content = new byte[8 * BLOCK_SIZE];
        System.arraycopy("mine".getBytes(UTF_8), 0, content, 5 * BLOCK_SIZE, 4);
        System.arraycopy("edited".getBytes(UTF_8), 0, content, 6 * BLOCK_SIZE, 6);
        assertThat(s.bytes("a")).isEqualTo(content);
    }

    @Test
    void closeStaged_durableAndBeingCommitted_doesNotWaitForThat() throws Exception {
        s.create("a").write(0, "mine");
        try (Gate gate = s.held(Call.Put.class, WrittenFile::closeStaged)) {
            s.file().closeStaged();
            assertThat(gate.held()).isEqualTo(1);
        }
        s.releases().expect("a", "mine");
    }

    @Test
    void commit_overAVersionThatIsGone_isNotTakenForAVanishedUpload() throws Exception {
        s.open("a", new byte[8 * BLOCK_SIZE]).write(5L * BLOCK_SIZE, "mine");
        s.faults.always(Call.Get.class::isInstance, Fault.fail(ObjectStoreException.NotFound::new));
        s.failsWith(ObjectStoreException.NotFound.class, WrittenFile::commit);
        assertThat(s.store.only(Call.CreateUpload.class)).hasSize(1);
        s.then(WrittenFile::unlink).releases().unmount();
        assertThat(s.bucket.openUploads()).isEmpty();
    }

    @Test
    void commit_inTheBackgroundOverAnUnreadableBase_isRetried() throws Exception {
        s.open("a", "one two").write(0, "ONE");
        AtomicInteger gets = new AtomicInteger();
        s.faults.next( // the GET for the checksum succeeds; that of the body fails
                call -> call instanceof Call.Get && gets.incrementAndGet() == 2, Fault.fail(Unavailable::new));
        s.releases().expectTold("committed a 7").expect("a", "ONE two");
    }

    // ---- other related steps

    @Test
    void force_interrupted_isDoneAndTheInterruptStays() throws Exception {
        DataFolder local = StagingFolder.open(directory);
        Thread.currentThread().interrupt();
        local.force();
        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    void commit_ofPartOfAPage_freesSpaceOnceNoJournalRefersToIt() throws Exception {
        DataFolder local = StagingFolder.open(directory.resolve("staging"));
        List<List<String>> namesAtPunches = new ArrayList<>();
        s.on(local).onDisk((operation, _) -> {
            if (operation == Operation.PUNCH) {
                namesAtPunches.add(local.names());
            }
        });
        try (PageCache cache = PageCache.open(new CacheConfig(directory.resolve("cache"), 1L << 30, 0, 32 << 20))) {
            s.onCommitted(new CachedPages(cache, TestMount.NAMESPACE)).open("a", new byte[3 << 20]);
            s.write(0, new byte[1 << 20]).write(2 << 20, "part of a page");
            s.then(WrittenFile::fsync, WrittenFile::commit, WrittenFile::release)
                    .unmount();
        }
        assertThat(namesAtPunches)
                .isNotEmpty()
                .allSatisfy(names -> assertThat(names).noneMatch(name -> name.endsWith(StagedFile.JOURNAL)));
    }

    private static final long LARGE = 300L << 20;

    /** As in a rename of a large file. */
    @Test
    void copy_killedBeforeItsFirstPart_isAbortedByTheNextRun() throws Exception {
        ObjectVersion source = s.bucket.putTestData("source", LARGE);
        CrashAtTheFirstPart copies = new CrashAtTheFirstPart(s.store);
        try (TestMount first = new TestMount(copies, s.files(), TestConfig.withMemory(8)).start()) {
            first.writeback.copy(source, "copy", ObjectProperties.ofNew("copy"), WriteCondition.ABSENT);
            assertThat(s.files().names()).as("of what has ended").isEmpty();
        }
        assertIsAborted("copy", copies);
    }

    /** As in copy_file_range(2). */
    @Test
    void copyWhole_killedBeforeItsFirstPart_isAbortedByTheNextRun() throws Exception {
        ObjectVersion source = s.bucket.putTestData("source", LARGE);
        CrashAtTheFirstPart copies = new CrashAtTheFirstPart(s.store);
        try (TestMount first = new TestMount(copies, s.files(), TestConfig.withMemory(8)).start()) {
            WrittenFile file = first.writeback.create("copy", null);
            assertThat(file.copyFrom(source, new ByteRange(0, LARGE), false)).isTrue();
            file.release();
            first.assertNothingLeaks();
        }
        assertIsAborted("copy", copies);
    }

    private void assertIsAborted(String key, CrashAtTheFirstPart copies) throws Exception {
        s.store.drain();
        s.on(requireNonNull(copies.left.get())).remount().start();
        s.mount().uploads.close(); // waits for aborts in the background
        assertThat(s.store.only(Call.Abort.class)).containsExactly(new Call.Abort(key));
    }

    /** Keeps what a kill would leave once the upload of a copy is known. */
    private final class CrashAtTheFirstPart extends ForwardingObjectStore {
        final AtomicReference<@Nullable CrashingFiles> left = new AtomicReference<>();

        CrashAtTheFirstPart(ObjectStore store) {
            super(store);
        }

        @Override
        public ObjectVersion copy(
                ObjectVersion source,
                String key,
                ObjectProperties properties,
                WriteCondition condition,
                UploadListener listener)
                throws ObjectStoreException, InterruptedException {
            return super.copy(source, key, properties, condition, new UploadListener() {
                @Override
                public void began(MultipartUpload upload) {
                    listener.began(upload);
                    left.set(s.files().kill());
                }

                @Override
                public void ended(MultipartUpload upload) {
                    listener.ended(upload);
                }
            });
        }
    }
}

package io.penstock.writeback;

import static io.penstock.writeback.content.Block.BLOCK_SIZE;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.Call;
import io.penstock.objectstore.Deadline;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.ObjectStoreException.Unavailable;
import io.penstock.objectstore.RetryPolicy;
import io.penstock.testing.Fault;
import io.penstock.testing.FaultyObjectStore;
import io.penstock.testing.Gate;
import io.penstock.testing.ManualClock;
import io.penstock.testing.Seeded;
import io.penstock.writeback.FileScenario.DiskGate;
import io.penstock.writeback.WatchedFiles.Operation;
import io.penstock.writeback.staging.StagedFile;
import io.penstock.writeback.upload.WritebackLimits;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Staging continues while the store is silent or refuses, and late effects of its requests are not lost. */
@Timeout(60)
final class StoreAwayTest {
    private static final CommitTiming QUICK = new CommitTiming(
            Duration.ofMillis(20).toNanos(),
            Duration.ofMillis(200).toNanos(),
            Duration.ofMillis(20).toNanos(),
            0);

    private final FileScenario s = new FileScenario(QUICK);

    @AfterEach
    void close() {
        s.close();
    }

    @Test
    void commitBehind_eachAttempt_hasADeadlineOfItsOwn() throws Exception {
        try (FileScenario quick = new FileScenario(new CommitTiming(1_000_000, 1_000_000, 1_000_000, 0))) {
            quick.faults.next(2, Call.Put.class::isInstance, Fault.fail(Unavailable::new));
            quick.create("f").append("a").then(WrittenFile::closeStaged).releases();
            assertThat(quick.store.only(Call.Put.class)).hasSize(3);
            assertThat(quick.store.deadlines()).hasSize(3);
        }
    }

    @Test
    void commit_withinAnotherCall_hasItsDeadline() throws Exception {
        Deadline deadline = RetryPolicy.DEFAULT.forWriting();
        s.create("f").append("a");
        deadline.call(() -> s.then(WrittenFile::commit));
        s.releases();
        assertThat(s.store.deadlines()).containsExactly(deadline);
    }

    @Test
    void commitBehind_somebodyBeginsToWait_hasAllOfItsTimeAnew() throws Exception {
        s.retrying(new RetryPolicy(Duration.ofSeconds(2), Duration.ofSeconds(2)));
        s.create("f").append("a");
        try (Gate _ = s.held(Call.Put.class, WrittenFile::closeStaged)) {
            Deadline deadline = s.ends().store.deadlines().getLast();
            while (!deadline.isOver()) {
                Thread.sleep(1);
            }
            s.behind(WrittenFile::commit);
            while (deadline.isOver()) {
                Thread.sleep(1);
            }
        }
        s.ends().releases();
    }

    /** Like {@code echo a >>f; echo b >>f; echo c >>f}. */
    @Test
    void closeStaged_whileAPutHangs_returnsAndAllIsCommittedLater() throws Exception {
        s.create("f").append("a");
        try (Gate silent = s.held(Call.Put.class, WrittenFile::closeStaged)) {
            s.ends().append("b").then(WrittenFile::closeStaged);
            s.append("c").then(WrittenFile::fsync).write(0, "A").then(WrittenFile::closeStaged);
            assertThat(silent.held()).isEqualTo(1);
        }
        s.releases().expectKept().expect("f", "Abc").expectOnDisk(false);
    }

    /**
     * A PUT that hangs until the crash.
     *
     * @param carriedOut whether only its response is missing
     */
    private Gate hangs(boolean carriedOut, FileScenario.Step step) throws Exception {
        return carriedOut
                ? s.held(s.delays.holdAnswer(Call.Put.class::isInstance), step)
                : s.held(Call.Put.class, step);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void crash_afterAnFsyncOverAPutThatHung_isNoConflict(boolean carriedOut) throws Exception {
        s.create("f").append("a");
        try (Gate _ = hangs(carriedOut, WrittenFile::closeStaged)) {
            s.ends().append("b").then(WrittenFile::fsync).crash(1);
        }
        s.recover().expect("f", "ab");
        assertThat(s.mount().told).endsWith("committed f 2");
        s.remount().expectKept();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void crash_twice_beforeItIsKnownWhatBecameOfAPut_isNoConflict(boolean carriedOut) throws Exception {
        s.create("f").append("old");
        try (Gate _ = hangs(carriedOut, WrittenFile::closeStaged)) {
            s.ends().crash(1);
        }
        s.find();
        try (Gate silent = s.delays.hold(Call.Describe.class::isInstance)) {
            s.start();
            silent.awaitHeld(1);
            assertThat(s.file().retain()).isTrue();
            s.then(file -> file.truncate(0)).append("new content").then(WrittenFile::closeStaged);
            s.crash(2);
        }
        s.recover().expectFailed(0).expect("f", "new content");
    }

    /** The staged content is longer than what is written afterwards. */
    private void openAndCut() throws Exception {
        s.open("f", "0123456789").append("abc").then(WrittenFile::fsync, file -> file.truncate(4));
    }

    /** The store decides, and a crash loses its response. */
    private void crashOnceDecided(FileScenario.Step step) throws Exception {
        try (Gate _ = s.held(s.delays.holdAnswer(StoreAwayTest::isDecision), step)) {
            s.crash(1);
        }
        s.ends();
    }

    /** As in a shortage of memory: no caller waits, and nothing is staged first. */
    private static void commitToFreeMemory(WrittenFile file) {
        assertThat(file.bytes().staging().commitToFreeMemory()).isTrue();
    }

    /** A background commit of more than was fsynced is newer than the content found after a crash. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void crash_afterACommitOfWhatWasNotStaged_isTheNewerOrAConflict(boolean written) throws Exception {
        openAndCut();
        crashOnceDecided(StoreAwayTest::commitToFreeMemory);
        s.expect("f", "0123");
        assertIsLeftAlone(written);
    }

    /** Not all committed content can be staged first: there may be no room for it. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void crash_afterACommitWithoutRoomInStaging_isNewerOrAConflict(boolean written) throws Exception {
        openAndCut();
        WritebackLimits limits = s.mount().limits;
        WritebackLimits.Values all = limits.get();
        limits.set(new WritebackLimits.Values(
                all.uploads(),
                all.uploadsPerFile(),
                all.uploadsWhileStaging(),
                all.dirtyBytes(),
                2L * BLOCK_SIZE,
                all.partBytes()));
        s.write(4, new byte[3 * BLOCK_SIZE]);
        crashOnceDecided(file -> assertThatThrownBy(file::commit));
        assertThat(s.bucket.head("f").version().size()).isEqualTo(4 + 3L * BLOCK_SIZE);
        assertIsLeftAlone(written);
    }

    /**
     * The object is newer than the content left by the crash.
     *
     * @param written whether that content is written to before it is committed
     */
    private void assertIsLeftAlone(boolean written) throws Exception {
        ObjectVersion newer = s.bucket.head("f").version();
        s.find();
        if (written) {
            assertThat(s.file().retain()).isTrue();
            s.append("more").start().releases();
        } else {
            s.start().settles();
        }
        s.expectFailed(written ? 1 : 0);
        assertThat(s.bucket.head("f").version()).isEqualTo(newer);
    }

    /** The same for a file that is opened while this is being found out. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void crash_afterACommitOfWhatWasNotStaged_isReadByWhoHasItOpen(boolean written) throws Exception {
        openAndCut();
        crashOnceDecided(StoreAwayTest::commitToFreeMemory);
        WrittenFile found = s.find().file();
        try (Gate asking = s.delays.hold(Call.Describe.class::isInstance)) {
            s.start();
            asking.awaitHeld(1);
            assertThat(found.retain()).isTrue();
            if (written) {
                s.append("more");
            }
        }
        if (written) {
            s.failsWith(ObjectStoreException.PreconditionFailed.class, WrittenFile::commit);
            assertThat(found.size()).isEqualTo("0123456789abcmore".length());
        } else {
            found.commit();
            assertContent(found, "0123".getBytes(UTF_8));
        }
        s.releases().expect("f", "0123");
    }

    /** The staged content is older than the object. */
    @Test
    void crash_afterACommitOfWhatWasNotStaged_cachesNothingOfWhatWas() throws Exception {
        s.create("f").append("old").then(WrittenFile::fsync).write(0, "new");
        crashOnceDecided(StoreAwayTest::commitToFreeMemory);
        List<ObjectVersion> cached = new CopyOnWriteArrayList<>();
        s.onCommitted((version, _) -> cached.add(version)).recover();
        s.expectTold("committed f 3").expect("f", "new");
        assertThat(cached).isEmpty();
    }

    /** Appends this many lines, closing after each. @return all of them */
    private static String appendLines(FileScenario to, int lines) throws Exception {
        StringBuilder all = new StringBuilder();
        for (int i = 0; i < lines; i++) {
            to.append("line " + i).then(WrittenFile::closeStaged);
            all.append("line ").append(i);
            while (to.faults.injected() == 0) {
                Thread.onSpinWait();
            }
        }
        return all.toString();
    }

    @Test
    void closeStaged_whileAStoreRefuses_doesNotWaitForTheNextAttempt() throws Exception {
        s.faults.always(Call.Put.class::isInstance, Fault.fail(Unavailable::new));
        String all = appendLines(s.create("f"), 20);
        s.faults.heal();
        s.releases().expect("f", all);
    }

    /** Staging precedes the next commit, and does not wait for a pausing one, whatever its patience. */
    @Test
    void closeStaged_whileCommitsPause_waitsForNone() throws Exception {
        long hour = Duration.ofHours(1).toNanos();
        try (FileScenario patient = new FileScenario(new CommitTiming(hour, hour, hour, 0))) {
            patient.faults.always(Call.Put.class::isInstance, Fault.fail(Unavailable::new));
            String all = appendLines(patient.create("f"), 200);
            assertThat(patient.faults.injected()).isOne();
            patient.faults.heal();
            patient.then(WrittenFile::commit).releases().expect("f", all);
        }
    }

    /** The store copies some of its parts. Its operation shows the outcome later. */
    @Test
    void fsync_whileACommitOfCopiedPartsIsRepeated_doesNotWaitForIt() throws Exception {
        s.faults.always(Call.Complete.class::isInstance, Fault.fail(Unavailable::new));
        s.open("f", new byte[8 * BLOCK_SIZE]).write(0, new byte[1000]);
        s.then(WrittenFile::closeStaged);
        while (s.faults.injected() == 0) {
            Thread.onSpinWait();
        }
        s.append("more").then(WrittenFile::fsync).faults.heal();
        s.then(WrittenFile::commit).releases();
        assertThat(s.bytes("f")).hasSize(8 * BLOCK_SIZE + "more".length());
    }

    /** Each fsync makes the commit yield. A caller that waits for a successful commit fails at its own deadline. */
    @Test
    void commit_whileOthersFsyncAndTheStoreIsSilent_endsAtItsDeadline() throws Exception {
        s.retrying(new RetryPolicy(Duration.ofMillis(300), Duration.ofMillis(300)))
                .create("f");
        try (Gate silent = s.delays.hold(Call.UploadPart.class::isInstance)) {
            s.write(0, new byte[3 * BLOCK_SIZE]);
            silent.awaitHeld(1);
            FutureTask<Boolean> closing = new FutureTask<>(() -> {
                s.file().commit();
                return true;
            });
            Thread.startVirtualThread(closing);
            while (!closing.isDone()) {
                s.append("more").then(WrittenFile::fsync);
            }
            assertThatThrownBy(closing::get)
                    .hasCauseInstanceOf(Unavailable.class)
                    .hasMessageContaining("write.retry-deadline");
        }
        s.then(WrittenFile::commit).releases();
    }

    @Test
    void commit_whoseAnswerWasLostBeforeMoreWasWritten_isNoConflict() throws Exception {
        s.create("f").append("a").fails(Call.Put.class, Fault.failAfterwards(Unavailable::new));
        s.failsWith(Unavailable.class, WrittenFile::commit);
        s.append("b").then(WrittenFile::commit).expect("f", "ab").releases();
    }

    /** The removal of its name failed or was interrupted. */
    @Test
    void reinstate_fsyncedAfterALostResponse_keepsTheNewestContent() throws Exception {
        s.create("f").append("a").fails(Call.Put.class, Fault.failAfterwards(Unavailable::new));
        s.failsWith(Unavailable.class, WrittenFile::commit);
        s.append("b").then(WrittenFile::fsync, WrittenFile::withdraw, WrittenFile::reinstate);
        s.crash(3).expect("f", "a").recover().expect("f", "ab");
    }

    /** The content to compare it with is gone by then. */
    @Test
    void fsync_whileAnEarlierCommitIsLookedFor_isNotTakenForIt() throws Exception {
        s.open("f", "0123").write(0, "A").fails(Call.Put.class, Fault.fail(Unavailable::new));
        s.failsWith(Unavailable.class, WrittenFile::commit);
        s.bucket.put("f", "BBBB");
        try (Gate _ = s.held(Call.Describe.class, WrittenFile::commit)) {
            s.then(WrittenFile::fsync);
        }
        s.endsWith(ObjectStoreException.PreconditionFailed.class).expect("f", "BBBB");
        s.releases().expectFailed(1).remount().expectKept("f");
    }

    @Test
    void fsync_ofABlockRewrittenWhileItsPartIsOnItsWay_returns() throws Exception {
        byte[] content = new byte[3 * BLOCK_SIZE];
        Seeded.random(7).nextBytes(content);
        s.create("f");
        try (Gate silent = s.delays.hold(Call.UploadPart.class::isInstance)) {
            s.write(0, content);
            silent.awaitHeld(1);
            content[5] ^= 1;
            s.write(5, new byte[] {content[5]}).then(WrittenFile::fsync);
            assertThat(silent.held()).isEqualTo(1);
        }
        s.then(WrittenFile::commit);
        assertThat(Arrays.mismatch(s.bytes("f"), content)).isEqualTo(-1);
        s.releases();
    }

    @Test
    void fsync_ofABlockRewrittenWhileStagedAndSent_returns() throws Exception {
        byte[] content = new byte[3 * BLOCK_SIZE];
        Seeded.random(8).nextBytes(content);
        s.create("f");
        try (Gate silent = s.delays.hold(Call.UploadPart.class::isInstance)) {
            try (DiskGate disk = s.heldDisk(Operation.WRITE, StagedFile.DATA, Integer.MAX_VALUE)) {
                s.write(0, content);
                silent.awaitHeld(1);
                disk.awaitHeld(3);
                content[5] ^= 1;
                s.write(5, new byte[] {content[5]}).behind(WrittenFile::fsync).awaitWaiter();
            }
            s.ends();
            assertThat(silent.held()).isEqualTo(1);
        }
        s.then(WrittenFile::commit);
        assertThat(Arrays.mismatch(s.bytes("f"), content)).isEqualTo(-1);
        s.releases();
    }

    /**
     * Hanging decisions under random changes: reads, the last commit, and the content found and committed after a
     * crash, whether or not the last decision was carried out, match the writes.
     */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16})
    void changes_overDecisionsThatHang_areAllCommitted(int seed) throws Exception {
        RandomGenerator random = Seeded.random(seed);
        byte[] content = new byte[0];
        WrittenFile file = s.create("f").file();
        for (int round = 0; round < 4; round++) {
            content = write(file, content, random);
            Gate silent = random.nextBoolean()
                    ? s.delays.hold(StoreAwayTest::isDecision)
                    : s.delays.holdAnswer(StoreAwayTest::isDecision);
            try (Gate _ = s.held(silent, WrittenFile::closeStaged)) {
                s.ends();
                for (int i = 0; i < 4; i++) {
                    content = change(file, content, random);
                    file.closeStaged();
                    file.checkInvariants();
                }
                if (round == 3) {
                    s.crash(seed);
                    break;
                }
            }
            assertContent(file, content);
            // Otherwise a commit of this round could include the next round's write, past its gate.
            file.commit();
            assertThat(Arrays.mismatch(s.bytes("f"), content)).isEqualTo(-1);
            assertContent(file, content);
        }
        s.recover();
        assertThat(Arrays.mismatch(s.bytes("f"), content)).isEqualTo(-1);
        s.remount().expectKept();
    }

    @Test
    void write_storeHasRecoveredAndWallClockWasSetBack_continues() throws Exception {
        ManualClock clock = new ManualClock();
        FaultyObjectStore faults = s.faults;
        try (TestMount mount = new TestMount(
                        s.delays, null, TestConfig.withMemory(2), (version, content) -> {}, clock, QUICK)
                .start()) {
            WrittenFile full = mount.writeback.create("full", null);
            touch(full, 0); // too little of each block to be sent before the commit
            touch(full, 1);
            faults.always(call -> true, Fault.fail(ObjectStoreException.AccessDenied::new));
            try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
                Future<?> writer = threads.submit(() -> {
                    touch(full, 2);
                    return null;
                });
                while (faults.injected() == 0) {
                    Thread.onSpinWait();
                }
                clock.advance(Duration.ofHours(-1));
                faults.heal();
                writer.get();
            }
            assertThatThrownBy(full::commit).as("told").isInstanceOf(ObjectStoreException.AccessDenied.class);
            full.commit();
            full.release();
            mount.assertNothingLeaks();
        }
    }

    private static void touch(WrittenFile file, int block) throws Exception {
        file.write((long) block * BLOCK_SIZE, ByteBuffer.allocate(1));
    }

    private static boolean isDecision(Call call) {
        return call instanceof Call.Put || call instanceof Call.Complete;
    }

    private static void assertContent(WrittenFile file, byte[] content) throws Exception {
        ByteBuffer to = ByteBuffer.allocate(content.length);
        assertThat(file.size()).isEqualTo(content.length);
        file.read(0, to);
        assertThat(Arrays.mismatch(to.array(), content)).isEqualTo(-1);
    }

    private static byte[] change(WrittenFile file, byte[] before, RandomGenerator random) throws Exception {
        return switch (random.nextInt(4)) {
            case 0 -> truncate(file, before, random);
            case 1 -> zero(file, before, random);
            default -> write(file, before, random);
        };
    }

    private static byte[] truncate(WrittenFile file, byte[] before, RandomGenerator random) throws Exception {
        int size = random.nextInt(before.length + 1);
        file.truncate(size);
        return Arrays.copyOf(before, size);
    }

    private static byte[] zero(WrittenFile file, byte[] before, RandomGenerator random) throws Exception {
        int at = random.nextInt(before.length + 1);
        int length = Math.min(random.nextInt(100_000), before.length - at);
        file.zero(at, length);
        byte[] after = before.clone();
        Arrays.fill(after, at, at + length, (byte) 0);
        return after;
    }

    private static byte[] write(WrittenFile file, byte[] before, RandomGenerator random) throws Exception {
        // So small that the store copies no part of it: a request with copied parts is waited for.
        int at = random.nextInt(Math.min(before.length, BLOCK_SIZE / 2) + 1);
        byte[] bytes = new byte[1 + random.nextInt(random.nextBoolean() ? 1000 : BLOCK_SIZE / 2)];
        random.nextBytes(bytes);
        file.write(at, ByteBuffer.wrap(bytes));
        byte[] after = Arrays.copyOf(before, Math.max(before.length, at + bytes.length));
        System.arraycopy(bytes, 0, after, at, bytes.length);
        return after;
    }
}

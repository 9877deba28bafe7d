package io.penstock.writeback;

import static io.penstock.writeback.content.Block.BLOCK_SIZE;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.core.ObjectVersion;
import io.penstock.disk.DataFolder;
import io.penstock.objectstore.Deadline;
import io.penstock.objectstore.ObjectStore;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.ObjectStoreException.Unavailable;
import io.penstock.objectstore.RetryPolicy;
import io.penstock.testing.Call;
import io.penstock.testing.DelayingObjectStore;
import io.penstock.testing.Fault;
import io.penstock.testing.FaultyObjectStore;
import io.penstock.testing.ForwardingObjectStore;
import io.penstock.testing.Gate;
import io.penstock.testing.InMemoryObjectStore;
import io.penstock.testing.ManualClock;
import io.penstock.testing.RecordingObjectStore;
import io.penstock.testing.Seeded;
import io.penstock.writeback.bytes.BaseContent;
import io.penstock.writeback.upload.WritebackLimits;
import java.nio.ByteBuffer;
import java.time.Clock;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Staging goes on while the store is silent or refuses, and what comes of its requests later is not lost. */
@Timeout(60)
final class StoreAwayTest {
    private static final Pacing QUICK = new Pacing(
            Duration.ofMillis(20).toNanos(),
            Duration.ofMillis(200).toNanos(),
            Duration.ofMillis(20).toNanos());

    private final InMemoryObjectStore bucket = new InMemoryObjectStore();
    private final FaultyObjectStore faults = new FaultyObjectStore(bucket);
    private final DelayingObjectStore store = new DelayingObjectStore(faults);
    private final CrashingFiles files = new CrashingFiles();

    private TestMount mount(DataFolder on) throws Exception {
        return new TestMount(store, on, TestConfig.withMemory(8), (version, content) -> {}, Clock.systemUTC(), QUICK)
                .start();
    }

    private static void append(WrittenFile file, String text) throws Exception {
        file.append(ByteBuffer.wrap(text.getBytes(UTF_8)));
    }

    private byte[] stored(String key) throws Exception {
        ObjectVersion version = bucket.head(key).version();
        ByteBuffer to = ByteBuffer.allocate(Math.toIntExact(version.size()));
        try (BaseContent.Reader reader = new StoredBase(bucket).open(version)) {
            reader.read(0, to);
        }
        return to.array();
    }

    private String text(String key) throws Exception {
        return new String(stored(key), UTF_8);
    }

    @Test
    void commitBehind_eachAttempt_hasADeadlineOfItsOwn() throws Exception {
        faults.next(2, Call.Put.class::isInstance, Fault.fail(Unavailable::new));
        RecordingObjectStore recorded = new RecordingObjectStore(store);
        Pacing quick = new Pacing(1_000_000, 1_000_000, 1_000_000);
        try (TestMount mount = new TestMount(
                        recorded, files, TestConfig.withMemory(8), (version, content) -> {}, Clock.systemUTC(), quick)
                .start()) {
            WrittenFile file = mount.writeback.create("f", null);
            append(file, "a");
            file.closeStaged();
            file.release();
            mount.assertNothingLeaks();
        }
        assertThat(recorded.only(Call.Put.class)).hasSize(3);
        assertThat(recorded.deadlines()).hasSize(3);
    }

    @Test
    void commit_withinAnotherCall_hasItsDeadline() throws Exception {
        RecordingObjectStore recorded = new RecordingObjectStore(store);
        Deadline deadline = RetryPolicy.DEFAULT.forWriting();
        try (TestMount mount = new TestMount(recorded, files, TestConfig.withMemory(8)).start()) {
            WrittenFile file = mount.writeback.create("f", null);
            append(file, "a");
            deadline.call(() -> {
                file.commit();
                return null;
            });
            file.release();
        }
        assertThat(recorded.deadlines()).containsExactly(deadline);
    }

    @Test
    void commitBehind_somebodyBeginsToWait_hasAllOfItsTimeAnew() throws Exception {
        RecordingObjectStore recorded = new RecordingObjectStore(new ForwardingObjectStore(store) {
            @Override
            public RetryPolicy retries() {
                return new RetryPolicy(Duration.ofSeconds(2), Duration.ofSeconds(2));
            }
        });
        try (TestMount mount = new TestMount(recorded, files, TestConfig.withMemory(8)).start()) {
            WrittenFile file = mount.writeback.create("f", null);
            FutureTask<Boolean> closing = new FutureTask<>(() -> {
                file.commit();
                return true;
            });
            try (Gate silent = store.hold(Call.Put.class::isInstance)) {
                append(file, "a");
                file.closeStaged();
                silent.awaitHeld(1);
                Deadline deadline = recorded.deadlines().getLast();
                while (!deadline.isOver()) {
                    Thread.sleep(1);
                }
                Thread.startVirtualThread(closing);
                while (deadline.isOver()) {
                    Thread.sleep(1);
                }
            }
            assertThat(closing.get()).isTrue();
            file.release();
            mount.assertNothingLeaks();
        }
    }

    /** As {@code echo a >>f; echo b >>f; echo c >>f} do. */
    @Test
    void closeStaged_whileAPutHangs_returnsAndAllIsCommittedLater() throws Exception {
        try (TestMount mount = mount(files)) {
            WrittenFile file = mount.writeback.create("f", null);
            try (Gate silent = store.hold(Call.Put.class::isInstance)) {
                append(file, "a");
                file.closeStaged();
                silent.awaitHeld(1);
                append(file, "b");
                file.closeStaged();
                append(file, "c");
                file.fsync();
                file.write(0, ByteBuffer.wrap("A".getBytes(UTF_8)));
                file.closeStaged();
                assertThat(silent.held()).isEqualTo(1);
            }
            file.release();
            mount.assertNothingLeaks();
            assertThat(mount.writeback.kept()).isEmpty();
        }
        assertThat(text("f")).isEqualTo("Abc");
        assertThat(files.names()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void crash_afterAnFsyncOverAPutThatHung_isNoConflictWhateverTheStoreMadeOfIt(boolean carriedOut) throws Exception {
        CrashingFiles after;
        TestMount mount = mount(files);
        WrittenFile file = mount.writeback.create("f", null);
        try (Gate silent = store.hold(Call.Put.class::isInstance)) {
            append(file, "a");
            file.closeStaged();
            silent.awaitHeld(1);
            append(file, "b");
            file.fsync();
            after = files.crash(Seeded.random(1));
            mount.close();
        }
        bucket.delete("f");
        if (carriedOut) {
            bucket.put("f", "a");
        }
        try (TestMount next = mount(after)) {
            next.assertNothingLeaks();
            assertThat(next.told).endsWith("committed f 2");
        }
        assertThat(text("f")).isEqualTo("ab");
        try (TestMount last = mount(after)) {
            assertThat(last.writeback.kept()).isEmpty();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void crash_twice_beforeItIsKnownWhatBecameOfAPut_isNoConflict(boolean carriedOut) throws Exception {
        CrashingFiles after;
        TestMount first = mount(files);
        try (Gate silent = store.hold(Call.Put.class::isInstance)) {
            WrittenFile file = first.writeback.create("f", null);
            append(file, "old");
            file.closeStaged();
            silent.awaitHeld(1);
            after = files.crash(Seeded.random(1));
            first.close();
        }
        bucket.delete("f");
        if (carriedOut) {
            bucket.put("f", "old");
        }
        CrashingFiles afterAll;
        try (Gate silent = store.hold(Call.Head.class::isInstance)) {
            TestMount second = mount(after);
            silent.awaitHeld(1);
            WrittenFile file = second.writeback.recovered().getFirst();
            assertThat(file.retain()).isTrue();
            file.truncate(0);
            append(file, "new content");
            file.closeStaged();
            afterAll = after.crash(Seeded.random(2));
            second.close();
        }
        try (TestMount third = mount(afterAll)) {
            third.assertNothingLeaks();
            assertThat(third.writeback.statistics().failedFiles()).isZero();
        }
        assertThat(text("f")).isEqualTo("new content");
    }

    /** What was committed by itself, of more than was fsynced, is newer than what a crash finds. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void crash_afterACommitOfWhatWasNotStaged_isTheNewerOrAConflict(boolean written) throws Exception {
        bucket.put("f", "0123456789");
        CrashingFiles after;
        TestMount first = mount(files);
        WrittenFile file = first.writeback.open(bucket.head("f").version());
        append(file, "abc");
        file.fsync();
        file.truncate(4);
        try (Gate lost = store.holdAnswer(StoreAwayTest::isDecision)) {
            assertThat(file.bytes().relieve())
                    .isTrue(); // as if memory was short: nobody waits, and nothing is staged first
            lost.awaitHeld(1);
            after = files.crash(Seeded.random(1));
            first.close();
        }
        assertThat(text("f")).isEqualTo("0123");
        assertIsLeftAlone(after, written);
    }

    /** Not all that is committed can be staged first: there may be no room for it. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void crash_afterACommitThatStagingHadNoRoomFor_isTheNewerOrAConflict(boolean written) throws Exception {
        bucket.put("f", "0123456789");
        CrashingFiles after;
        TestMount first = mount(files);
        WritebackLimits.Values all = first.limits.get();
        first.limits.set(new WritebackLimits.Values(
                all.uploads(),
                all.uploadsPerFile(),
                all.uploadsWhileStaging(),
                all.dirtyBytes(),
                2L * BLOCK_SIZE,
                all.partBytes()));
        WrittenFile file = first.writeback.open(bucket.head("f").version());
        append(file, "abc");
        file.fsync();
        file.truncate(4);
        file.write(4, ByteBuffer.allocate(3 * BLOCK_SIZE));
        try (Gate lost = store.holdAnswer(StoreAwayTest::isDecision)) {
            Thread committing = Thread.startVirtualThread(() -> assertThatThrownBy(file::commit));
            lost.awaitHeld(1);
            after = files.crash(Seeded.random(1));
            first.close();
            committing.join();
        }
        assertThat(bucket.head("f").version().size()).isEqualTo(4 + 3L * BLOCK_SIZE);
        assertIsLeftAlone(after, written);
    }

    /**
     * The object is newer than what the crash has left.
     *
     * @param written whether that is written to before it is committed
     */
    private void assertIsLeftAlone(CrashingFiles after, boolean written) throws Exception {
        ObjectVersion newer = bucket.head("f").version();
        try (TestMount second = new TestMount(store, after, TestConfig.withMemory(8))) {
            WrittenFile found = second.writeback.recovered().getFirst();
            if (written) {
                assertThat(found.retain()).isTrue();
                append(found, "more");
                second.start();
                found.release();
            } else {
                second.start();
            }
            second.writeback.drain();
            assertThat(second.writeback.statistics().failedFiles()).isEqualTo(written ? 1 : 0);
            assertThat(bucket.head("f").version()).isEqualTo(newer);
        }
    }

    /** The same of a file that somebody opens while that is found out. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void crash_afterACommitOfWhatWasNotStaged_isReadByWhoHasItOpen(boolean written) throws Exception {
        bucket.put("f", "0123456789");
        CrashingFiles after;
        TestMount first = mount(files);
        WrittenFile file = first.writeback.open(bucket.head("f").version());
        append(file, "abc");
        file.fsync();
        file.truncate(4);
        try (Gate lost = store.holdAnswer(StoreAwayTest::isDecision)) {
            assertThat(file.bytes().relieve()).isTrue();
            lost.awaitHeld(1);
            after = files.crash(Seeded.random(1));
            first.close();
        }
        try (TestMount second = new TestMount(store, after, TestConfig.withMemory(8))) {
            WrittenFile found = second.writeback.recovered().getFirst();
            try (Gate asking = store.hold(Call.Head.class::isInstance)) {
                second.start();
                asking.awaitHeld(1);
                assertThat(found.retain()).isTrue();
                if (written) {
                    append(found, "more");
                }
            }
            if (written) {
                assertThatThrownBy(found::commit).isInstanceOf(ObjectStoreException.PreconditionFailed.class);
                assertThat(found.size()).isEqualTo("0123456789abcmore".length());
            } else {
                found.commit();
                assertContent(found, "0123".getBytes(UTF_8));
            }
            found.release();
            second.writeback.drain();
        }
        assertThat(text("f")).isEqualTo("0123");
    }

    /** What is staged is older than the object. */
    @Test
    void crash_afterACommitOfWhatWasNotStaged_cachesNothingOfWhatWas() throws Exception {
        CrashingFiles after;
        TestMount first = mount(files);
        WrittenFile file = first.writeback.create("f", null);
        append(file, "old");
        file.fsync();
        file.write(0, ByteBuffer.wrap("new".getBytes(UTF_8)));
        try (Gate lost = store.holdAnswer(StoreAwayTest::isDecision)) {
            assertThat(file.bytes().relieve()).isTrue();
            lost.awaitHeld(1);
            after = files.crash(Seeded.random(1));
            first.close();
        }
        List<ObjectVersion> cached = new CopyOnWriteArrayList<>();
        try (TestMount second = new TestMount(
                        store, after, TestConfig.withMemory(8), (version, content) -> cached.add(version))
                .start()) {
            second.assertNothingLeaks();
            assertThat(second.told).containsExactly("committed f 3");
        }
        assertThat(text("f")).isEqualTo("new");
        assertThat(cached).isEmpty();
    }

    @Test
    void closeStaged_whileAStoreRefuses_doesNotWaitForTheNextAttempt() throws Exception {
        faults.always(Call.Put.class::isInstance, Fault.fail(Unavailable::new));
        try (TestMount mount = mount(files)) {
            WrittenFile file = mount.writeback.create("f", null);
            StringBuilder all = new StringBuilder();
            for (int i = 0; i < 20; i++) {
                append(file, "line " + i);
                all.append("line ").append(i);
                file.closeStaged();
                long before = faults.injected();
                while (i == 0 && faults.injected() == before && before == 0) {
                    Thread.onSpinWait();
                }
            }
            faults.heal();
            file.release();
            mount.assertNothingLeaks();
            assertThat(text("f")).isEqualTo(all.toString());
        }
    }

    /** Who stages comes before the next commit, and does not wait for one that pauses, however patient. */
    @Test
    void closeStaged_whileCommitsPause_waitsForNone() throws Exception {
        faults.always(Call.Put.class::isInstance, Fault.fail(Unavailable::new));
        long hour = Duration.ofHours(1).toNanos();
        Pacing patient = new Pacing(hour, hour, hour);
        try (TestMount mount = new TestMount(
                        store, files, TestConfig.withMemory(8), (version, content) -> {}, Clock.systemUTC(), patient)
                .start()) {
            WrittenFile file = mount.writeback.create("f", null);
            StringBuilder all = new StringBuilder();
            for (int i = 0; i < 200; i++) {
                append(file, "line " + i);
                all.append("line ").append(i);
                file.closeStaged();
            }
            assertThat(faults.injected()).isOne();
            faults.heal();
            file.commit();
            file.release();
            mount.assertNothingLeaks();
            assertThat(text("f")).isEqualTo(all.toString());
        }
    }

    /** Else it would wait for as long as the store is away. */
    @Test
    void fsync_whileACommitThatCannotBeRecognisedIsRepeated_failsWithIt() throws Exception {
        bucket.put("f", new byte[8 * BLOCK_SIZE]);
        faults.always(Call.Complete.class::isInstance, Fault.fail(Unavailable::new));
        try (TestMount mount = mount(files)) {
            WrittenFile file = mount.writeback.open(bucket.head("f").version());
            file.write(0, ByteBuffer.allocate(1000)); // the store copies the rest
            file.closeStaged();
            while (faults.injected() == 0) {
                Thread.onSpinWait();
            }
            append(file, "more");
            assertThatThrownBy(file::fsync).isInstanceOf(Unavailable.class);
            faults.heal();
            file.commit();
            file.release();
            mount.assertNothingLeaks();
            assertThat(stored("f")).hasSize(8 * BLOCK_SIZE + "more".length());
        }
    }

    /** Each fsync has the commit make way. A caller that waits for one that succeeds is told at its own deadline. */
    @Test
    void commit_whileOthersFsyncAndTheStoreIsSilent_endsAtItsDeadline() throws Exception {
        ObjectStore impatient = new ForwardingObjectStore(store) {
            @Override
            public RetryPolicy retries() {
                return new RetryPolicy(Duration.ofMillis(300), Duration.ofMillis(300));
            }
        };
        try (TestMount mount = new TestMount(
                        impatient, files, TestConfig.withMemory(8), (version, content) -> {}, Clock.systemUTC(), QUICK)
                .start()) {
            WrittenFile file = mount.writeback.create("f", null);
            try (Gate silent = store.hold(Call.UploadPart.class::isInstance)) {
                file.write(0, ByteBuffer.allocate(3 * BLOCK_SIZE));
                silent.awaitHeld(1);
                FutureTask<Boolean> closing = new FutureTask<>(() -> {
                    file.commit();
                    return true;
                });
                Thread.startVirtualThread(closing);
                while (!closing.isDone()) {
                    append(file, "more");
                    file.fsync();
                }
                assertThatThrownBy(closing::get)
                        .hasCauseInstanceOf(Unavailable.class)
                        .hasMessageContaining("write.retry-deadline");
            }
            file.commit();
            file.release();
            mount.assertNothingLeaks();
        }
    }

    @Test
    void commit_whoseAnswerWasLostBeforeMoreWasWritten_isNoConflict() throws Exception {
        try (TestMount mount = mount(files)) {
            WrittenFile file = mount.writeback.create("f", null);
            append(file, "a");
            faults.next(Call.Put.class::isInstance, Fault.failAfterwards(Unavailable::new));
            assertThatThrownBy(file::commit).isInstanceOf(Unavailable.class);
            append(file, "b");
            file.commit();
            assertThat(text("f")).isEqualTo("ab");
            file.release();
            mount.assertNothingLeaks();
        }
    }

    @Test
    void fsync_ofABlockRewrittenWhileItsPartIsOnItsWay_returns() throws Exception {
        byte[] content = new byte[3 * BLOCK_SIZE];
        Seeded.random(7).nextBytes(content);
        try (TestMount mount = mount(files)) {
            WrittenFile file = mount.writeback.create("f", null);
            try (Gate silent = store.hold(Call.UploadPart.class::isInstance)) {
                file.write(0, ByteBuffer.wrap(content));
                silent.awaitHeld(1);
                content[5] ^= 1;
                file.write(5, ByteBuffer.wrap(content, 5, 1).slice());
                file.fsync();
                assertThat(silent.held()).isEqualTo(1);
            }
            file.commit();
            assertThat(Arrays.mismatch(stored("f"), content)).isEqualTo(-1);
            file.release();
            mount.assertNothingLeaks();
        }
    }

    /**
     * Decisions that hang, under random changes: what is read, what is committed at last, and what is found and committed
     * after a crash, whether the last decision was carried out or not, is what was written.
     */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16})
    void changes_overDecisionsThatHang_areAllCommitted(int seed) throws Exception {
        RandomGenerator random = Seeded.random(seed);
        byte[] content = new byte[0];
        CrashingFiles crashed;
        TestMount mount = mount(files);
        WrittenFile file = mount.writeback.create("f", null);
        for (int round = 0; ; round++) {
            content = write(file, content, random);
            Gate silent = random.nextBoolean()
                    ? store.hold(StoreAwayTest::isDecision)
                    : store.holdAnswer(StoreAwayTest::isDecision);
            file.closeStaged();
            silent.awaitHeld(1);
            for (int i = 0; i < 4; i++) {
                content = change(file, content, random);
                file.closeStaged();
                file.checkInvariants();
            }
            if (round == 3) {
                crashed = files.crash(random);
                mount.close();
                silent.open();
                break;
            }
            silent.open();
            assertContent(file, content);
            // Else a commit of this round could take the next round's write along, past its gate.
            file.commit();
            assertThat(Arrays.mismatch(stored("f"), content)).isEqualTo(-1);
            assertContent(file, content);
        }
        try (TestMount next = mount(crashed)) {
            next.assertNothingLeaks();
            assertThat(Arrays.mismatch(stored("f"), content)).isEqualTo(-1);
        }
        try (TestMount last = mount(crashed)) {
            assertThat(last.writeback.kept()).isEmpty();
        }
    }

    @Test
    void write_shortOfMemoryWhenTheStoreHasRecovered_goesOnAlthoughTheWallClockWasSetBack() throws Exception {
        ManualClock clock = new ManualClock();
        try (TestMount mount =
                new TestMount(store, null, TestConfig.withMemory(2), (version, content) -> {}, clock, QUICK).start()) {
            WrittenFile full = mount.writeback.create("full", null);
            touch(full, 0); // too little of each block to be sent before the file is committed
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
        // So small that the store copies no part of it: a request of which it does is waited for.
        int at = random.nextInt(Math.min(before.length, BLOCK_SIZE / 2) + 1);
        byte[] bytes = new byte[1 + random.nextInt(random.nextBoolean() ? 1000 : BLOCK_SIZE / 2)];
        random.nextBytes(bytes);
        file.write(at, ByteBuffer.wrap(bytes));
        byte[] after = Arrays.copyOf(before, Math.max(before.length, at + bytes.length));
        System.arraycopy(bytes, 0, after, at, bytes.length);
        return after;
    }
}

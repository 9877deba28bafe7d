package io.penstock.writeback;

import static io.penstock.writeback.content.Block.BLOCK_SIZE;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.cache.CacheConfig;
import io.penstock.cache.PageCache;
import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;
import io.penstock.disk.DataFolder;
import io.penstock.objectstore.ListRequest;
import io.penstock.objectstore.MultipartUpload;
import io.penstock.objectstore.ObjectProperties;
import io.penstock.objectstore.ObjectStore;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.UploadListener;
import io.penstock.objectstore.WriteCondition;
import io.penstock.testing.Call;
import io.penstock.testing.DelayingObjectStore;
import io.penstock.testing.Fault;
import io.penstock.testing.FaultyObjectStore;
import io.penstock.testing.ForwardingObjectStore;
import io.penstock.testing.Gate;
import io.penstock.testing.InMemoryObjectStore;
import io.penstock.testing.RecordingObjectStore;
import io.penstock.testing.Seeded;
import io.penstock.writeback.WatchedFiles.Operation;
import io.penstock.writeback.bytes.BaseContent;
import io.penstock.writeback.bytes.FileBytes;
import io.penstock.writeback.bytes.Snapshot;
import io.penstock.writeback.staging.StagedFile;
import io.penstock.writeback.staging.StagingFolder;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a crash leaves between two steps that belong together, and what an interrupt must not break there. */
@Timeout(60)
final class CrashWindowsTest {
    private final InMemoryObjectStore bucket = new InMemoryObjectStore();
    private final FaultyObjectStore faults = new FaultyObjectStore(bucket);
    private final DelayingObjectStore delays = new DelayingObjectStore(faults);
    private final RecordingObjectStore store = new RecordingObjectStore(delays);
    private final CrashingFiles files = new CrashingFiles();

    @TempDir
    Path directory;

    private TestMount mount(DataFolder on, CommittedPages pages) throws Exception {
        return new TestMount(store, on, TestConfig.withMemory(8), pages).start();
    }

    private TestMount mount(DataFolder on) throws Exception {
        return mount(on, (version, content) -> {});
    }

    private static ByteBuffer text(String text) {
        return ByteBuffer.wrap(text.getBytes(UTF_8));
    }

    private String stored(String key) throws Exception {
        ObjectVersion version = store.head(key).version();
        ByteBuffer to = ByteBuffer.allocate(Math.toIntExact(version.size()));
        try (BaseContent.Reader reader = new StoredBase(store).open(version)) {
            reader.read(0, to);
        }
        return UTF_8.decode(to.flip()).toString();
    }

    @Test
    void resume_afterAKill_sendsOnlyWhatTheStoreHasNot() throws Exception {
        byte[] content = new byte[5 * BLOCK_SIZE];
        Seeded.random(1).nextBytes(content);
        CrashingFiles left;
        try (TestMount first = mount(files)) {
            WrittenFile file = first.writeback.create("a", null);
            file.write(0, ByteBuffer.wrap(content, 0, 4 * BLOCK_SIZE));
            while (first.uploads.uploadedBytes() < 4L * BLOCK_SIZE) {
                Thread.onSpinWait();
            }
            file.write(4L * BLOCK_SIZE, ByteBuffer.wrap(content, 4 * BLOCK_SIZE, BLOCK_SIZE));
            file.fsync();
            left = files.crash(Seeded.random(1));
        }
        store.drain();
        try (TestMount second = mount(left)) {
            second.assertNothingLeaks();
            assertThat(store.head("a").version().size()).isEqualTo(content.length);
            assertThat(store.only(Call.CreateUpload.class)).isEmpty();
            assertThat(store.uploadedBytes()).isEqualTo(BLOCK_SIZE);
        }
    }

    @Test
    void isPerhapsVisible_ofAnEarlierRun_untilItIsCommitted() throws Exception {
        CrashingFiles left;
        try (TestMount first = mount(files)) {
            WrittenFile file = first.writeback.create("a", null);
            file.write(0, text("text"));
            assertThat(file.isPerhapsVisible()).isFalse();
            file.fsync();
            left = files.crash(Seeded.random(3));
        }
        try (TestMount second = new TestMount(store, left, TestConfig.withMemory(8))) {
            WrittenFile found = second.writeback.recovered().getFirst();
            assertThat(found.isPerhapsVisible()).isTrue();
            second.start().assertNothingLeaks();
            assertThat(found.isPerhapsVisible()).isFalse();
        }
    }

    @Test
    void commit_ofMoreThanWasSynced_isRecognisedIfItWasTheLastThingBeforeACrash() throws Exception {
        AtomicReference<CrashingFiles> left = new AtomicReference<>(files);
        try (TestMount first = mount(files, (_, _) -> left.set(files.crash(Seeded.random(2))))) {
            WrittenFile file = first.writeback.open(bucket.put("a", "base"));
            file.write(0, text("first"));
            file.fsync();
            file.write(5, text(" and second"));
            file.commit();
            file.release();
        }
        assertThat(left.get().names()).isNotEmpty();
        try (TestMount second = mount(left.get())) {
            second.assertNothingLeaks();
            assertThat(second.told).containsExactly("committed a 16");
            assertThat(second.writeback.kept()).isEmpty();
            assertThat(stored("a")).isEqualTo("first and second");
        }
    }

    @Test
    void zero_whileACommitRuns_isInTheNextJournal() throws Exception {
        CrashingFiles left;
        try (TestMount first = mount(files)) {
            WrittenFile file = first.writeback.open(bucket.put("a", "one two three"));
            file.write(0, text("ONE"));
            FutureTask<Boolean> committing = behind(file::commit);
            try (Gate gate = delays.hold(Call.Put.class::isInstance)) {
                Thread.startVirtualThread(committing);
                gate.awaitHeld(1);
                file.zero(4, 3);
            }
            committing.get();
            file.fsync();
            left = files.crash(Seeded.random(7));
        }
        assertThat(stored("a")).isEqualTo("ONE two three");
        try (TestMount second = mount(left)) {
            second.assertNothingLeaks();
            assertThat(stored("a")).isEqualTo("ONE \0\0\0 three");
        }
    }

    @Test
    void fsync_thatACommitOvertakes_leavesNothingOfTheOldContentInTheNewJournal() throws Exception {
        DataFolder local = StagingFolder.open(directory);
        CountDownLatch held = new CountDownLatch(1);
        CountDownLatch gate = new CountDownLatch(1);
        DataFolder slow = new WatchedFiles(local, (operation, name) -> {
            if (operation == Operation.FORCE && name.endsWith(StagedFile.DATA)) {
                held.countDown();
                gate.await();
            }
        });
        try (TestMount first = mount(slow)) {
            WrittenFile file = first.writeback.create("a", null);
            file.write(0, text("0123456789"));
            file.zero(0, 4);
            file.write(0, text("NEW!"));
            FutureTask<Boolean> syncing = behind(file::fsync);
            Thread.startVirtualThread(syncing);
            held.await();
            file.commit();
            gate.countDown();
            syncing.get();
            assertThat(first.staging.isUsable()).isTrue();
            file.write(8, text("xy"));
            file.fsync();
        }
        assertThat(stored("a")).isEqualTo("NEW!456789");
        try (TestMount second = mount(local)) {
            second.assertNothingLeaks();
            assertThat(stored("a")).isEqualTo("NEW!4567xy");
        }
    }

    private static byte[] bytes(int seed, int length) {
        byte[] bytes = new byte[length];
        Seeded.random(seed).nextBytes(bytes);
        return bytes;
    }

    private static byte[] content(WrittenFile file) throws Exception {
        ByteBuffer to = ByteBuffer.allocate(Math.toIntExact(file.size()));
        file.read(0, to);
        return to.array();
    }

    /** A crash at any moment, but once, and what it may leave. */
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

    /** As {@code cp new old; sync old} does, and does again. */
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
            try (TestMount first = new TestMount(store, watched, TestConfig.withMemory(64)).start()) {
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
            CrashingFiles left = Objects.requireNonNull(crash.left);
            try (TestMount second = new TestMount(store, left, TestConfig.withMemory(8))) {
                assertThat(second.writeback.recovered())
                        .as("crash at operation " + point)
                        .hasSize(1);
                byte[] found = content(second.writeback.recovered().getFirst());
                assertThat(crash.right).as("crash at operation " + point).anyMatch(may -> Arrays.equals(may, found));
                long dataFiles = left.names().stream()
                        .filter(name -> name.endsWith(StagedFile.DATA))
                        .count();
                assertThat(dataFiles).isEqualTo(1);
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"1, 'synced '", "2, 'synced appended'"})
    void fsync_ofAFileThatGrowsMeanwhile_promisesNoZerosForWhatItHasNotStaged(int syncs, String promised)
            throws Exception {
        AtomicReference<Action> onWrite = new AtomicReference<>(() -> {});
        DataFolder watched = new WatchedFiles(files, (operation, name) -> {
            if (operation == Operation.WRITE && name.endsWith(StagedFile.DATA)) {
                onWrite.getAndSet(() -> {}).run();
            }
        });
        CrashingFiles left;
        try (TestMount first = mount(watched)) {
            WrittenFile file = first.writeback.create("log", null);
            file.write(0, text("synced "));
            onWrite.set(() -> file.write(7, text("appended")));
            for (int i = 0; i < syncs; i++) {
                file.fsync();
            }
            left = files.crash(Seeded.random(11));
        }
        try (TestMount second = mount(left)) {
            second.assertNothingLeaks();
            assertThat(stored("log")).isEqualTo(promised);
        }
    }

    @Test
    void fsync_ofAFileThatIsCutAndRewrittenMeanwhile_promisesNoZeros() throws Exception {
        AtomicReference<Action> onForce = new AtomicReference<>(() -> {});
        DataFolder watched = new WatchedFiles(files, (operation, name) -> {
            if (operation == Operation.WRITE && name.endsWith(StagedFile.DATA)) {
                onForce.getAndSet(() -> {}).run();
            }
        });
        CrashingFiles left;
        try (TestMount first = mount(watched)) {
            WrittenFile file = first.writeback.create("a", null);
            file.write(0, text("AAAA"));
            onForce.set(() -> {
                file.truncate(0);
                file.write(0, text("BBBB"));
            });
            file.fsync();
            left = files.crash(Seeded.random(13));
        }
        try (TestMount second = mount(left)) {
            second.assertNothingLeaks();
            assertThat(stored("a")).isIn("", "BBBB");
        }
    }

    @Test
    void commit_ofAFileThatWasCutWhileABlockWasStaged_freesItsMemory() throws Exception {
        CountDownLatch held = new CountDownLatch(1);
        CountDownLatch gate = new CountDownLatch(1);
        DataFolder slow = new WatchedFiles(files, (operation, name) -> {
            if (operation == Operation.WRITE && name.endsWith(StagedFile.DATA)) {
                held.countDown();
                gate.await();
            }
        });
        try (TestMount mount = mount(slow)) {
            WrittenFile file = mount.writeback.create("a", null);
            file.write(BLOCK_SIZE, ByteBuffer.allocate(BLOCK_SIZE));
            held.await();
            file.truncate(1);
            file.commit();
            gate.countDown();
            file.release();
            mount.assertNothingLeaks();
        }
    }

    @Test
    void truncate_whileABlockIsStaged_isNotUndoneByIt() throws Exception {
        CountDownLatch held = new CountDownLatch(1);
        CountDownLatch gate = new CountDownLatch(1);
        AtomicBoolean isFirst = new AtomicBoolean(true);
        DataFolder slow = new WatchedFiles(files, (operation, name) -> {
            if (operation == Operation.WRITE && name.endsWith(StagedFile.DATA) && isFirst.getAndSet(false)) {
                held.countDown();
                gate.await();
            }
        });
        byte[] old = new byte[BLOCK_SIZE];
        byte[] fresh = new byte[BLOCK_SIZE];
        Arrays.fill(old, (byte) 'o');
        Arrays.fill(fresh, (byte) 'n');
        try (TestMount mount = mount(slow)) {
            WrittenFile file = mount.writeback.create("a", null);
            file.write(0, ByteBuffer.wrap(old));
            held.await();
            file.truncate(0);
            file.write(0, ByteBuffer.wrap(fresh));
            FutureTask<Boolean> syncing = behind(file::fsync);
            Thread.startVirtualThread(syncing);
            while (!syncing.isDone() && !isWaiting(file)) {
                Thread.onSpinWait();
            }
            gate.countDown();
            syncing.get();
            while (mount.context.resources().memory().usedBytes() > BLOCK_SIZE) {
                Thread.onSpinWait(); // of what was being staged
            }
            while (!file.bytes().evict(0, false)) {
                Thread.onSpinWait(); // an upload may read it
            }
            ByteBuffer read = ByteBuffer.allocate(BLOCK_SIZE);
            file.read(0, read);
            assertThat(read.array()).isEqualTo(fresh);
            file.release();
            mount.assertNothingLeaks();
        }
    }

    @Test
    void commitAndHold_thatFailsAfterTheLastHandleIsGone_leavesTheFileToBeCommitted() throws Exception {
        try (TestMount mount = mount(files)) {
            WrittenFile file = mount.writeback.create("a", null);
            file.write(0, text("text"));
            FutureTask<Boolean> renaming = behind(file::commitAndHold);
            try (Gate gate = delays.hold(Call.Put.class::isInstance)) {
                file.closeStaged();
                gate.awaitHeld(1);
                file.release();
                faults.next(Call.Put.class::isInstance, Fault.fail(ObjectStoreException.Unavailable::new));
                Thread.startVirtualThread(renaming);
                while (!isWaiting(file)) {
                    Thread.onSpinWait();
                }
            }
            assertThatThrownBy(renaming::get).hasCauseInstanceOf(ObjectStoreException.Unavailable.class);
            mount.assertNothingLeaks();
            assertThat(stored("a")).isEqualTo("text");
        }
    }

    @Test
    void recover_moreStagedThanJournalled_leavesNothing() throws Exception {
        DataFolder local = StagingFolder.open(directory);
        try (TestMount first = mount(local)) {
            WrittenFile file = first.writeback.create("a", null);
            file.fsync();
            file.write(0, text("not synced"));
            file.bytes().staging().stageAll(null);
        }
        assertThat(local.names()).anyMatch(name -> name.endsWith(StagedFile.DATA));
        try (TestMount second = mount(local)) {
            second.assertNothingLeaks();
            assertThat(stored("a")).isEmpty();
        }
        assertThat(local.names()).isEmpty();
    }

    @Test
    void fsync_whileTheFileGetsAnotherName_saysSo() throws Exception {
        AtomicReference<Action> onForce = new AtomicReference<>(() -> {});
        DataFolder watched = new WatchedFiles(files, (operation, name) -> {
            if (operation == Operation.FORCE && name.endsWith(StagedFile.JOURNAL)) {
                onForce.getAndSet(() -> {}).run();
            }
        });
        CrashingFiles left;
        try (TestMount first = mount(watched)) {
            ObjectVersion before = bucket.put("a", "one two");
            WrittenFile file = first.writeback.open(before);
            file.write(0, text("ONE"));
            onForce.set(() -> {
                file.moved(bucket.copy(before, "b", WriteCondition.ALWAYS));
                bucket.delete("a");
            });
            file.fsync();
            left = files.crash(Seeded.random(9));
        }
        try (TestMount second = mount(left)) {
            second.assertNothingLeaks();
            assertThat(stored("b")).isEqualTo("ONE two");
        }
    }

    @Test
    void fsync_ofABlockThatIsReplacedBeforeItIsStaged_stagesItsSuccessor() throws Exception {
        int blocks = 6;
        CountDownLatch held = new CountDownLatch(4); // as many as are staged at once
        CountDownLatch gate = new CountDownLatch(1);
        DataFolder slow = new WatchedFiles(files, (operation, name) -> {
            if (operation == Operation.WRITE && name.endsWith(StagedFile.DATA)) {
                held.countDown();
                gate.await();
            }
        });
        CrashingFiles left;
        try (TestMount first = mount(slow)) {
            WrittenFile file = first.writeback.create("a", null);
            for (long block = 0; block < blocks; block++) {
                file.write(block * BLOCK_SIZE, text("x"));
            }
            FutureTask<Boolean> syncing = behind(file::fsync);
            Thread.startVirtualThread(syncing);
            held.await();
            long last = (blocks - 1L) * BLOCK_SIZE;
            try (Snapshot body = file.bytes().hold(new ByteRange(last, BLOCK_SIZE))) {
                assertThat(body.length()).isEqualTo(BLOCK_SIZE);
                file.write(last + 1, text("y"));
                gate.countDown();
                syncing.get(); // although somebody reads the block as it was
                ByteBuffer was = ByteBuffer.allocate(2);
                body.read(0, was);
                assertThat(was.array()).startsWith((byte) 'x');
            }
            left = files.crash(Seeded.random(10));
        }
        try (TestMount second = mount(left)) {
            second.assertNothingLeaks();
            assertThat(stored("a")).hasSizeGreaterThan((blocks - 1) * BLOCK_SIZE);
            assertThat(stored("a").substring((blocks - 1) * BLOCK_SIZE)).startsWith("x");
        }
    }

    /** Whether somebody waits for what the file is about. */
    private static boolean isWaiting(WrittenFile file) {
        FileBytes bytes = file.bytes();
        bytes.lock().lock();
        try {
            return bytes.lock().hasWaiters(bytes.progress());
        } finally {
            bytes.lock().unlock();
        }
    }

    private void renamed(WrittenFile file, ObjectVersion before) throws Exception {
        ObjectVersion after = bucket.copy(before, "b", WriteCondition.ALWAYS);
        file.moved(after);
        file.resumeCommits();
        bucket.delete(before.key());
    }

    @Test
    void commitAndHold_writtenToAndClosedMeanwhile_isCommittedUnderTheNewName() throws Exception {
        try (TestMount mount = mount(files)) {
            WrittenFile file = mount.writeback.open(bucket.put("a", "one two"));
            file.write(0, text("ONE"));
            ObjectVersion held = Objects.requireNonNull(file.commitAndHold());
            assertThat(stored("a")).isEqualTo("ONE two");
            file.write(4, text("TWO"));
            file.closeStaged();
            FutureTask<Boolean> committing = behind(file::commit);
            Thread.startVirtualThread(committing);
            while (!isWaiting(file)) {
                Thread.onSpinWait();
            }
            file.release();
            assertThat(store.only(Call.Put.class)).hasSize(1);
            renamed(file, held);
            committing.get();
            mount.assertNothingLeaks();
            assertThat(mount.told).containsExactly("committed a 7", "committed b 7");
        }
        assertThat(stored("b")).isEqualTo("ONE TWO");
        assertThat(files.names()).isEmpty();
    }

    @Test
    void commitAndHold_ofWhatIsOnlyWantedBehind_beginsThatAfterwards() throws Exception {
        try (TestMount mount = mount(files)) {
            WrittenFile file = mount.writeback.create("a", null);
            file.write(0, text("one"));
            ObjectVersion held = Objects.requireNonNull(file.commitAndHold());
            file.write(0, text("two"));
            file.closeStaged();
            renamed(file, held);
            while (file.isDirty()) {
                Thread.onSpinWait();
            }
            assertThat(stored("b")).isEqualTo("two");
            file.release();
            mount.assertNothingLeaks();
        }
    }

    @Test
    void commitAndHold_whileACommitRuns_waitsForItAndForOneMore() throws Exception {
        try (TestMount mount = mount(files)) {
            WrittenFile file = mount.writeback.create("a", null);
            file.write(0, text("one"));
            FutureTask<Boolean> holding = behind(file::commitAndHold);
            try (Gate gate = delays.hold(Call.Put.class::isInstance)) {
                file.closeStaged();
                gate.awaitHeld(1);
                file.write(0, text("two"));
                Thread.startVirtualThread(holding);
                while (!isWaiting(file)) {
                    Thread.onSpinWait();
                }
            }
            holding.get();
            assertThat(stored("a")).isEqualTo("two");
            file.resumeCommits();
            file.release();
            mount.assertNothingLeaks();
        }
    }

    @Test
    void commitAndHold_thatFails_holdsNothing() throws Exception {
        try (TestMount mount = mount(files)) {
            WrittenFile file = mount.writeback.create("a", null);
            file.write(0, text("one"));
            faults.next(Call.Put.class::isInstance, Fault.fail(ObjectStoreException.AccessDenied::new));
            assertThatThrownBy(file::commitAndHold).isInstanceOf(ObjectStoreException.AccessDenied.class);
            file.commit();
            file.release();
            mount.assertNothingLeaks();
        }
    }

    @Test
    void fsync_whileCommitsAreHeld_isFoundUnderTheNewNameOnceTheyAreNot() throws Exception {
        CrashingFiles left;
        try (TestMount first = mount(files)) {
            WrittenFile file = first.writeback.open(bucket.put("a", "one two"));
            ObjectVersion held = Objects.requireNonNull(file.commitAndHold());
            file.write(0, text("ONE"));
            file.fsync();
            renamed(file, held);
            left = files.crash(Seeded.random(11));
        }
        try (TestMount second = mount(left)) {
            second.assertNothingLeaks();
            assertThat(stored("b")).isEqualTo("ONE two");
        }
    }

    /** A synced file whose name is about to go, and then a crash. */
    private CrashingFiles withdrawn(boolean reinstated) throws Exception {
        try (TestMount first = mount(files)) {
            WrittenFile file = first.writeback.open(bucket.put("a", "one two"));
            file.write(0, text("ONE"));
            file.fsync();
            file.withdraw();
            if (reinstated) {
                file.reinstate();
            }
            return files.crash(Seeded.random(8));
        }
    }

    @Test
    void withdraw_thenReplacedAndACrash_isNoConflict() throws Exception {
        CrashingFiles left = withdrawn(false);
        bucket.put("a", "renamed");
        try (TestMount second = mount(left)) {
            second.assertNothingLeaks();
            assertThat(second.told).containsExactly("given up a");
            assertThat(second.writeback.statistics().failedFiles()).isZero();
        }
        assertThat(left.names()).isEmpty();
        assertThat(stored("a")).isEqualTo("renamed");
    }

    @Test
    void withdraw_thenRemovedAndACrash_isNoConflict() throws Exception {
        CrashingFiles left = withdrawn(false);
        bucket.delete("a");
        try (TestMount second = mount(left)) {
            second.assertNothingLeaks();
            assertThat(second.writeback.statistics().failedFiles()).isZero();
        }
        assertThat(left.names()).isEmpty();
    }

    @Test
    void withdraw_thenACrashBeforeItsNameIsGone_isCommittedAsItWas() throws Exception {
        CrashingFiles left = withdrawn(false);
        try (TestMount second = mount(left)) {
            second.assertNothingLeaks();
            assertThat(second.told).containsExactly("committed a 7");
        }
        assertThat(stored("a")).isEqualTo("ONE two");
    }

    @Test
    void withdraw_thenACrashAndNoBucketThatCanBeFound_keepsTheContent() throws Exception {
        CrashingFiles left = withdrawn(false);
        faults.always(_ -> true, Fault.fail(ObjectStoreException.NotFound::new));
        try (TestMount second = mount(left)) {
            second.writeback.drain();
            assertThat(second.writeback.statistics().failedFiles()).isOne();
        }
        assertThat(left.names()).isNotEmpty();
    }

    @Test
    void withdraw_thenACrashAndAStoreThatRefusesAlthoughTheObjectIsAsItWas_keepsTheContent() throws Exception {
        CrashingFiles left = withdrawn(false);
        faults.always(Call.Put.class::isInstance, Fault.fail(ObjectStoreException.NotFound::new));
        try (TestMount second = mount(left)) {
            second.writeback.drain();
            assertThat(second.writeback.statistics().failedFiles()).isOne();
        }
        assertThat(left.names()).isNotEmpty();
    }

    @Test
    void reinstate_thenReplacedBySomebodyElseAndACrash_isAConflict() throws Exception {
        CrashingFiles left = withdrawn(true);
        bucket.put("a", "theirs");
        try (TestMount second = mount(left)) {
            second.writeback.drain();
            assertThat(second.writeback.statistics().failedFiles()).isOne();
        }
    }

    @Test
    void withdraw_thenReplacedAndWrittenToAfterTheCrash_isAConflict() throws Exception {
        CrashingFiles left = withdrawn(false);
        bucket.put("a", "theirs");
        try (TestMount second = new TestMount(store, left, TestConfig.withMemory(8))) {
            WrittenFile file = second.writeback.recovered().getFirst();
            assertThat(file.retain()).isTrue();
            file.write(0, text("new"));
            second.start();
            file.release();
            second.writeback.drain();
            assertThat(second.writeback.statistics().failedFiles()).isOne();
        }
        assertThat(left.names()).isNotEmpty();
    }

    private interface Action {
        void run() throws Exception;
    }

    private static FutureTask<Boolean> behind(Action action) {
        return new FutureTask<>(() -> {
            action.run();
            return true;
        });
    }

    @Test
    void commit_ofAPartOfAFile_isRecognisedAlthoughTheVersionBeneathIsGone() throws Exception {
        AtomicReference<CrashingFiles> left = new AtomicReference<>(files);
        byte[] base = new byte[3 * BLOCK_SIZE];
        Seeded.random(5).nextBytes(base);
        try (TestMount first = mount(files, (_, _) -> left.set(files.crash(Seeded.random(5))))) {
            WrittenFile file = first.writeback.open(bucket.put("a", base));
            file.write(10, text("changed"));
            file.fsync();
            file.commit();
            file.release();
        }
        ObjectVersion committed = store.head("a").version();
        assertThat(left.get().names()).isNotEmpty();
        store.drain();
        try (TestMount second = mount(left.get())) {
            second.assertNothingLeaks();
            assertThat(second.told).containsExactly("committed a " + base.length);
            assertThat(second.writeback.kept()).isEmpty();
            assertThat(store.head("a").version()).isEqualTo(committed);
            assertThat(store.uploadedBytes()).isZero();
        }
        assertThat(bucket.openUploads()).isEmpty();
        assertThat(left.get().names()).isEmpty();
    }

    @Test
    void commit_overAnotherVersionOfTheSameSize_isAConflictIfThatLacksWhatWasWrittenHere() throws Exception {
        CrashingFiles left;
        byte[] base = new byte[3 * BLOCK_SIZE];
        try (TestMount first = mount(files)) {
            WrittenFile file = first.writeback.open(bucket.put("a", base));
            file.write(10, text("mine"));
            file.fsync();
            left = files.crash(Seeded.random(6));
            file.release();
        }
        base[10] = 'm';
        bucket.put("a", base);
        try (TestMount second = mount(left)) {
            second.writeback.drain();
            assertThat(second.told).containsExactly("given up a");
        }
    }

    @Test
    void recover_theJournalOutlivedItsCommit_leavesWhatIsNewer() throws Exception {
        AtomicBoolean broken = new AtomicBoolean();
        DataFolder disk = new WatchedFiles(files, (operation, name) -> {
            if (broken.get() && operation == Operation.REMOVE && name.endsWith(StagedFile.JOURNAL)) {
                throw new IOException("broken");
            }
        });
        try (TestMount first = new TestMount(store, disk, TestConfig.withMemory(8)).start()) {
            WrittenFile file = first.writeback.open(bucket.put("a", "base"));
            file.write(0, text("older"));
            file.fsync();
            broken.set(true);
            file.commit();
            file.release();
        }
        bucket.put("a", "newer");
        CrashingFiles left = files.crash(Seeded.random(7));
        try (TestMount second = new TestMount(store, left, TestConfig.withMemory(8)).start()) {
            second.writeback.drain();
            assertThat(second.told).containsExactly("given up a");
            assertThat(stored("a")).isEqualTo("newer");
        }
    }

    /** Else rm of the file would delete the object of somebody else. */
    @Test
    void isPerhapsVisible_afterAConflictOfWhatWasFound_isFalse() throws Exception {
        CrashingFiles left;
        try (TestMount first = mount(files)) {
            WrittenFile file = first.writeback.create("a", null);
            file.write(0, text("mine"));
            file.fsync();
            left = files.crash(Seeded.random(9));
        }
        bucket.put("a", "theirs");
        try (TestMount second = new TestMount(store, left, TestConfig.withMemory(8))) {
            WrittenFile found = second.writeback.recovered().getFirst();
            assertThat(found.retain()).isTrue();
            assertThat(found.isPerhapsVisible()).isTrue();
            second.start();
            assertThatThrownBy(found::commit).isInstanceOf(ObjectStoreException.PreconditionFailed.class);
            assertThat(found.isPerhapsVisible()).isFalse();
            found.release();
            second.writeback.drain();
        }
    }

    @Test
    void upload_ofOneOfTwoFiles_leavesTheOtherPending() throws Exception {
        CrashingFiles left;
        try (TestMount first = mount(files)) {
            for (String key : List.of("a", "b")) {
                WrittenFile file = first.writeback.create(key, null);
                file.write(0, text(key));
                file.fsync();
            }
            left = files.crash(Seeded.random(8));
        }
        try (TestMount second = new TestMount(store, left, TestConfig.withMemory(8))) {
            List<KeptFile> meant = second.writeback.pending().stream()
                    .filter(file -> file.key().equals("a"))
                    .toList();
            second.writeback.upload(meant, second.listener());
            assertThat(second.told).containsExactly("committed a 1");
        }
        assertThat(bucket.list(new ListRequest("", "", null, null, 10)).objects())
                .extracting(object -> object.version().key())
                .containsExactly("a");
        try (TestMount third = new TestMount(store, left, TestConfig.withMemory(8))) {
            assertThat(third.writeback.pending()).extracting(KeptFile::key).containsExactly("b");
        }
    }

    @Test
    void withdraw_beforeTheNameIsRemoved_isStillFoundAfterACrash() throws Exception {
        CrashingFiles left;
        try (TestMount first = mount(files)) {
            WrittenFile file = first.writeback.create("a", null);
            file.write(0, text("mine"));
            file.fsync();
            file.withdraw();
            left = files.crash(Seeded.random(3));
        }
        try (TestMount second = mount(left)) {
            second.assertNothingLeaks();
            assertThat(stored("a")).isEqualTo("mine");
        }
    }

    @Test
    void withdraw_whileItIsCommittedBehind_isFoundAfterACrashAndCommittedIfTheNameStays() throws Exception {
        try (TestMount first = mount(files)) {
            WrittenFile file = first.writeback.create("a", null);
            file.write(0, ByteBuffer.allocate(5 * BLOCK_SIZE));
            try (Gate gate = delays.hold(Call.UploadPart.class::isInstance)) {
                file.closeStaged();
                file.release();
                gate.awaitHeld(1);
                file.withdraw();
                assertThat(files.names()).anyMatch(name -> name.endsWith(StagedFile.JOURNAL));
            }
            file.reinstate();
            first.assertNothingLeaks();
            assertThat(bucket.openUploads()).isEmpty();
            assertThat(stored("a")).hasSize(5 * BLOCK_SIZE);
        }
        assertThat(files.names()).isEmpty();
    }

    @Test
    void unlink_whileItIsCommittedBehind_leavesNothing() throws Exception {
        try (TestMount first = mount(files)) {
            WrittenFile file = first.writeback.create("a", null);
            file.write(0, ByteBuffer.allocate(5 * BLOCK_SIZE));
            try (Gate gate = delays.hold(Call.UploadPart.class::isInstance)) {
                file.closeStaged();
                file.release();
                gate.awaitHeld(1);
                file.withdraw();
                file.unlink();
            }
            first.assertNothingLeaks();
        }
        assertThat(files.names()).isEmpty();
        assertThat(files.opened()).isZero();
        assertThat(bucket.openUploads()).isEmpty();
        assertThat(store.list(ListRequest.of("", "")).objects()).isEmpty();
    }

    @Test
    void unlink_ofAFileThatIsUploaded_leavesWhatTheNextRunAbortsIfThisOneCannot() throws Exception {
        CrashingFiles left;
        try (TestMount first = mount(files)) {
            WrittenFile file = first.writeback.create("a", null);
            file.write(0, ByteBuffer.allocate(5 * BLOCK_SIZE));
            file.fsync();
            while (first.uploads.uploadedBytes() < 4L * BLOCK_SIZE) {
                Thread.onSpinWait();
            }
            file.unlink();
            left = files.crash(Seeded.random(4));
            assertThat(bucket.openUploads()).hasSize(1);
            try (TestMount second = mount(left)) {
                assertThat(second.writeback.recovered()).isEmpty();
            }
            assertThat(bucket.openUploads()).isEmpty();
            file.release();
        }
        assertThat(left.names()).isEmpty();
        assertThat(left.opened()).isZero();
    }

    @Test
    void release_ofAnUnlinkedFileThatIsUploaded_leavesNothing() throws Exception {
        try (TestMount first = mount(files)) {
            WrittenFile file = first.writeback.create("a", null);
            file.write(0, ByteBuffer.allocate(5 * BLOCK_SIZE));
            file.fsync();
            while (first.uploads.uploadedBytes() < 4L * BLOCK_SIZE) {
                Thread.onSpinWait();
            }
            file.unlink();
            file.release();
        }
        assertThat(bucket.openUploads()).isEmpty();
        assertThat(files.names()).isEmpty();
        assertThat(files.opened()).isZero();
    }

    @Test
    void close_whileACommitGivesItsPagesAway_doesNotInterruptThat() throws Exception {
        AtomicReference<TestMount> mount = new AtomicReference<>();
        AtomicBoolean interrupted = new AtomicBoolean();
        CommittedPages pages = (_, _) -> {
            Thread closing = Thread.ofPlatform().start(mount.get()::close);
            while (!mount.get().context.isClosed() || closing.getState() != Thread.State.TIMED_WAITING) {
                Thread.onSpinWait();
            }
            interrupted.set(Thread.currentThread().isInterrupted());
        };
        mount.set(mount(files, pages));
        WrittenFile file = mount.get().writeback.create("a", null);
        file.write(0, text("mine"));
        file.commit();
        assertThat(interrupted).isFalse();
        assertThat(stored("a")).isEqualTo("mine");
    }

    @Test
    void commit_endingInAnUnforeseenWay_failsForWhoWaitsForIt() throws Exception {
        AtomicBoolean healthy = new AtomicBoolean();
        CommittedPages pages = (_, _) -> {
            if (!healthy.get()) {
                throw new StackOverflowError("unforeseen");
            }
        };
        try (TestMount mount = mount(files, pages)) {
            WrittenFile file = mount.writeback.create("a", null);
            assertThatThrownBy(file::commit).isInstanceOf(IOException.class).hasMessageContaining("unforeseen");
            healthy.set(true);
            file.unlink();
            file.release();
            mount.assertNothingLeaks();
        }
    }

    @Test
    void commit_awaitedWhileTheStoreIsAway_isTriedAgainBehindOnceNobodyHasTheFileOpen() throws Exception {
        try (TestMount mount = mount(files)) {
            WrittenFile file = mount.writeback.create("a", null);
            file.write(0, text("mine"));
            FutureTask<Boolean> committing = behind(file::commit);
            faults.next(Call.Put.class::isInstance, Fault.fail(ObjectStoreException.Unavailable::new));
            try (Gate gate = delays.hold(Call.Put.class::isInstance)) {
                Thread.startVirtualThread(committing);
                gate.awaitHeld(1);
                file.release(); // as the kernel does for a program that is killed
            }
            assertThatThrownBy(committing::get).hasCauseInstanceOf(ObjectStoreException.Unavailable.class);
            mount.assertNothingLeaks();
            assertThat(mount.told).containsExactly("committed a 4");
        }
        assertThat(stored("a")).isEqualTo("mine");
    }

    @Test
    void commit_thatFailsForGoodOnceNobodyHasTheFileOpen_failsForAllWhoWait() throws Exception {
        try (TestMount mount = mount(files)) {
            WrittenFile file = mount.writeback.create("a", null);
            file.write(0, text("mine"));
            FutureTask<Boolean> one = behind(file::commit);
            FutureTask<Boolean> another = behind(file::commit);
            try (Gate gate = delays.hold(Call.Put.class::isInstance)) {
                Thread.startVirtualThread(one);
                Thread.startVirtualThread(another);
                gate.awaitHeld(1);
                bucket.put("a", "theirs");
                file.release();
            }
            assertThatThrownBy(one::get).hasCauseInstanceOf(ObjectStoreException.PreconditionFailed.class);
            assertThatThrownBy(another::get).hasCauseInstanceOf(ObjectStoreException.PreconditionFailed.class);
            assertThatThrownBy(file::commit).isInstanceOf(ObjectStoreException.PreconditionFailed.class);
            mount.writeback.drain();
            assertThat(mount.told).containsExactly("given up a");
            assertThat(mount.context.resources().memory().usedBytes()).isZero();
        }
        assertThat(files.opened()).isZero();
    }

    @Test
    void commit_refusedByTheStore_keepsTheContentAndNobodyWaitsForIt() throws Exception {
        faults.always(Call.Put.class::isInstance, Fault.fail(ObjectStoreException.Refused::new));
        try (TestMount mount = mount(files)) {
            WrittenFile file = mount.writeback.create("a", null);
            file.write(0, text("mine"));
            assertThatThrownBy(file::commit).isInstanceOf(ObjectStoreException.Refused.class);
            file.release();
            mount.writeback.drain();
            assertThat(mount.told).containsExactly("given up a");
        }
        try (TestMount next = mount(files)) {
            assertThat(next.writeback.kept()).extracting(KeptFile::key).containsExactly("a");
        }
    }

    @Test
    void commit_afterOneWhoseAnswerWasLost_recognisesWhatThatHasMade() throws Exception {
        try (TestMount mount = mount(files)) {
            WrittenFile file = mount.writeback.create("a", null);
            file.write(0, text("mine"));
            faults.next(Call.Put.class::isInstance, Fault.failAfterwards(ObjectStoreException.Unavailable::new));
            assertThatThrownBy(file::commit).isInstanceOf(ObjectStoreException.Unavailable.class);
            file.commit();
            file.release();
            mount.assertNothingLeaks();
            assertThat(mount.told).containsExactly("committed a 4");
        }
    }

    @Test
    void closeStaged_ofWhatIsDurableAndBeingCommitted_doesNotWaitForThat() throws Exception {
        try (TestMount mount = mount(files)) {
            WrittenFile file = mount.writeback.create("a", null);
            file.write(0, text("mine"));
            try (Gate gate = delays.hold(Call.Put.class::isInstance)) {
                file.closeStaged();
                gate.awaitHeld(1);
                file.closeStaged();
                assertThat(gate.held()).isEqualTo(1);
            }
            file.release();
            mount.assertNothingLeaks();
        }
        assertThat(stored("a")).isEqualTo("mine");
    }

    @Test
    void commit_overAVersionThatIsGone_failsAndIsNotTakenForAnUploadThatIs() throws Exception {
        try (TestMount mount = mount(files)) {
            WrittenFile file = mount.writeback.open(bucket.put("a", new byte[8 * BLOCK_SIZE]));
            file.write(5L * BLOCK_SIZE, text("mine"));
            faults.always(Call.Get.class::isInstance, Fault.fail(ObjectStoreException.NotFound::new));
            assertThatThrownBy(file::commit).isInstanceOf(ObjectStoreException.NotFound.class);
            assertThat(store.only(Call.CreateUpload.class)).hasSize(1);
            file.unlink();
            file.release();
            mount.assertNothingLeaks();
        }
        assertThat(bucket.openUploads()).isEmpty();
    }

    @Test
    void commit_behindOverAVersionThatCannotBeReadForAWhile_isTriedAgain() throws Exception {
        try (TestMount mount = mount(files)) {
            WrittenFile file = mount.writeback.open(bucket.put("a", "one two"));
            file.write(0, text("ONE"));
            AtomicInteger gets = new AtomicInteger();
            faults.next( // that for the checksum succeeds, that of the body does not
                    call -> call instanceof Call.Get && gets.incrementAndGet() == 2,
                    Fault.fail(ObjectStoreException.Unavailable::new));
            file.release();
            mount.assertNothingLeaks();
            assertThat(mount.told).containsExactly("committed a 7");
        }
        assertThat(stored("a")).isEqualTo("ONE two");
    }

    @Test
    void force_interrupted_isDoneAndTheInterruptStays() throws Exception {
        DataFolder local = StagingFolder.open(directory);
        Thread.currentThread().interrupt();
        local.force();
        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    void commit_ofPartOfAPage_freesItsSpaceOnlyOnceNoJournalSpeaksOfIt() throws Exception {
        DataFolder local = StagingFolder.open(directory.resolve("staging"));
        List<List<String>> namesAtPunches = new ArrayList<>();
        byte[] base = new byte[3 << 20];
        try (PageCache cache = PageCache.open(new CacheConfig(directory.resolve("cache"), 1L << 30, 0, 32 << 20));
                TestMount first = mount(
                        new WatchedFiles(local, (operation, _) -> {
                            if (operation == Operation.PUNCH) {
                                namesAtPunches.add(local.names());
                            }
                        }),
                        new CachedPages(cache, TestMount.NAMESPACE))) {
            WrittenFile file = first.writeback.open(bucket.put("a", base));
            file.write(0, ByteBuffer.wrap(new byte[1 << 20]));
            file.write(2 << 20, text("part of a page"));
            file.fsync();
            file.commit();
            file.release();
        }
        assertThat(namesAtPunches)
                .isNotEmpty()
                .allSatisfy(names -> assertThat(names).noneMatch(name -> name.endsWith(StagedFile.JOURNAL)));
    }

    /** As a rename of a large file has the store do. */
    @Test
    void copy_killedBeforeItsFirstPart_isAbortedByTheNextRun() throws Exception {
        ObjectVersion source = bucket.putTestData("source", LARGE);
        CrashAtTheFirstPart copies = new CrashAtTheFirstPart(store);
        try (TestMount first = new TestMount(copies, files, TestConfig.withMemory(8)).start()) {
            first.writeback.copy(source, "copy", ObjectProperties.ofNew("copy"), WriteCondition.ABSENT);
            assertThat(files.names()).as("of what has ended").isEmpty();
        }
        assertIsAborted("copy", copies);
    }

    /** As copy_file_range(2) has the store do. */
    @Test
    void copyOfAWholeObject_killedBeforeItsFirstPart_isAbortedByTheNextRun() throws Exception {
        ObjectVersion source = bucket.putTestData("source", LARGE);
        CrashAtTheFirstPart copies = new CrashAtTheFirstPart(store);
        try (TestMount first = new TestMount(copies, files, TestConfig.withMemory(8)).start()) {
            WrittenFile file = first.writeback.create("copy", null);
            assertThat(file.copyFrom(source, new ByteRange(0, LARGE), false)).isTrue();
            file.release();
            first.assertNothingLeaks();
        }
        assertIsAborted("copy", copies);
    }

    private void assertIsAborted(String key, CrashAtTheFirstPart copies) throws Exception {
        store.drain();
        try (TestMount second = mount(Objects.requireNonNull(copies.left.get()))) {
            second.uploads.close(); // waits for what is aborted behind
        }
        assertThat(store.only(Call.Abort.class)).containsExactly(new Call.Abort(key));
    }

    private static final long LARGE = 300L << 20;

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
                    left.set(files.kill());
                }

                @Override
                public void ended(MultipartUpload upload) {
                    listener.ended(upload);
                }
            });
        }
    }
}

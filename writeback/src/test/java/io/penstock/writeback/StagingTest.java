package io.penstock.writeback;

import static io.penstock.cache.PageCache.PAGE_SIZE;
import static io.penstock.writeback.content.Block.BLOCK_SIZE;
import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import io.penstock.cache.CacheConfig;
import io.penstock.cache.CachedObject;
import io.penstock.cache.PageCache;
import io.penstock.core.ByteRange;
import io.penstock.core.Crc32c;
import io.penstock.core.ObjectVersion;
import io.penstock.disk.DataFile;
import io.penstock.disk.DataFolder;
import io.penstock.disk.FolderLock;
import io.penstock.disk.RecordLog;
import io.penstock.objectstore.BodySink;
import io.penstock.objectstore.Call;
import io.penstock.objectstore.ForwardingObjectStore;
import io.penstock.objectstore.ListRequest;
import io.penstock.objectstore.ObjectStore;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.ObjectStoreException.AccessDenied;
import io.penstock.objectstore.ObjectStoreException.Unavailable;
import io.penstock.objectstore.StoredObject;
import io.penstock.testing.FaultyObjectStore;
import io.penstock.testing.InMemoryObjectStore;
import io.penstock.testing.Seeded;
import io.penstock.writeback.CrashingFiles.Fault;
import io.penstock.writeback.MountContext.CommittedPages;
import io.penstock.writeback.WatchedFiles.Operation;
import io.penstock.writeback.bytes.BaseContent;
import io.penstock.writeback.bytes.BlockStaging;
import io.penstock.writeback.bytes.Reclaim;
import io.penstock.writeback.bytes.Snapshot;
import io.penstock.writeback.content.Block;
import io.penstock.writeback.content.BlockBuffer;
import io.penstock.writeback.journal.JournalRecord;
import io.penstock.writeback.staging.FileJournal;
import io.penstock.writeback.staging.Recovery;
import io.penstock.writeback.staging.StagedFile;
import io.penstock.writeback.staging.Staging;
import io.penstock.writeback.staging.StagingFolder;
import io.penstock.writeback.staging.StrandedFile;
import io.penstock.writeback.upload.WritebackLimits;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Files that are staged, found again, kept, and given to the cache. */
@Timeout(180)
final class StagingTest {
    private final InMemoryObjectStore store = new InMemoryObjectStore();
    private final CrashingFiles files = new CrashingFiles();

    @TempDir
    Path directory;

    private TestMount mount(DataFolder on) throws Exception {
        return new TestMount(store, on, TestConfig.withMemory(4)).start();
    }

    private static byte[] bytes(int length) {
        byte[] bytes = new byte[length];
        Seeded.random(length).nextBytes(bytes);
        return bytes;
    }

    private static byte[] read(WrittenFile file) throws Exception {
        ByteBuffer to = ByteBuffer.allocate(Math.toIntExact(file.size()));
        file.read(0, to);
        return to.array();
    }

    private byte[] stored(String key) throws Exception {
        ObjectVersion version = store.head(key).version();
        ByteBuffer to = ByteBuffer.allocate(Math.toIntExact(version.size()));
        try (BaseContent.Reader reader = new StoredBase(store).open(version)) {
            reader.read(0, to);
        }
        return to.array();
    }

    /** Like a program that continues after a short write(2). */
    private static void writeAll(WrittenFile file, byte[] content) throws Exception {
        ByteBuffer from = ByteBuffer.wrap(content);
        while (from.hasRemaining()) {
            file.write(from.position(), from);
        }
    }

    // ---- recovery

    @Test
    void fsync_thenAKill_isTheContentOfTheNextRunAndIsCommitted() throws Exception {
        byte[] content = bytes(2 * BLOCK_SIZE + 777);
        DataFolder local = StagingFolder.open(directory);
        try (TestMount first = mount(local)) {
            WrittenFile file = first.writeback.create("a/b", null);
            file.write(0, ByteBuffer.wrap(content));
            file.fsync();
            WrittenFile other = first.writeback.create("not synced", null);
            other.write(0, ByteBuffer.wrap(content));
        }
        TestMount second = new TestMount(store, local, TestConfig.withMemory(4));
        assertThat(second.writeback.recovered()).singleElement().satisfies(file -> {
            assertThat(file.key()).isEqualTo("a/b");
            assertThat(read(file)).isEqualTo(content);
        });
        assertThat(store.list(ListRequest.of("", "")).objects()).isEmpty();
        second.start();
        second.assertNothingLeaks();
        assertThat(stored("a/b")).isEqualTo(content);
        assertThat(local.names()).isEmpty();
        second.close();
    }

    @Test
    void fsync_ofChangesToAnObject_areFoundOverThatVersion() throws Exception {
        byte[] content = bytes(BLOCK_SIZE + 5000);
        ObjectVersion base = store.put("a", content.clone());
        try (TestMount first = mount(files)) {
            WrittenFile file = first.writeback.open(base);
            file.write(100, ByteBuffer.wrap(new byte[] {1, 2, 3}));
            file.truncate(BLOCK_SIZE + 1000L);
            file.fsync();
        }
        content = java.util.Arrays.copyOf(content, BLOCK_SIZE + 1000);
        System.arraycopy(new byte[] {1, 2, 3}, 0, content, 100, 3);
        try (TestMount second = mount(files)) {
            second.assertNothingLeaks();
            assertThat(stored("a")).isEqualTo(content);
        }
    }

    @Test
    void commit_ofAJournalOlderThanTheData_leavesNothingAfterACrash() throws Exception {
        for (int seed = 0; seed < 10; seed++) {
            CrashingFiles disk = new CrashingFiles();
            CrashingFiles after;
            try (TestMount first = mount(disk)) {
                WrittenFile file = first.writeback.open(store.put("a", bytes(1000)));
                file.truncate(100);
                file.fsync(); // its journal now has everything
                file.write(0, ByteBuffer.wrap(bytes(BLOCK_SIZE)));
                file.bytes().staging().stageAll(null);
                file.commit();
                after = disk.crash(Seeded.random(seed));
                file.release();
            }
            try (TestMount second = mount(after)) {
                assertThat(second.writeback.recovered()).isEmpty();
                assertThat(second.writeback.failed()).isEmpty();
            }
        }
    }

    @Test
    void recovery_ofAConflict_keepsTheContentUntilItIsDecided() throws Exception {
        try (TestMount first = mount(files)) {
            WrittenFile file = first.writeback.create("a/x", null);
            file.write(0, ByteBuffer.wrap("mine".getBytes(UTF_8)));
            file.fsync();
        }
        store.put("a/x", "theirs");
        try (TestMount second = mount(files)) {
            second.writeback.drain();
            assertThat(second.told).containsExactly("given up a/x");
            assertThat(second.writeback.statistics().failedFiles()).isEqualTo(1);
        }
        try (TestMount third = mount(files)) {
            assertThat(third.writeback.recovered()).isEmpty();
            RecoverableFile kept = third.writeback.failed().getFirst();
            assertThat(kept.key()).isEqualTo("a/x");
            assertThat(kept.size()).isEqualTo(4);
            assertThat(kept.reason()).contains("a/x");
            Path exported = kept.export(directory.resolve("out"));
            assertThat(exported).hasFileName("x").hasContent("mine");
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(exported)))
                    .isEqualTo("rw-------");
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(exported.getParent())))
                    .isEqualTo("rwx------");
            Path shared = Files.createDirectory(directory.resolve("shared"));
            Files.setPosixFilePermissions(shared, PosixFilePermissions.fromString("rwxrwxrwx"));
            assertThatThrownBy(() -> kept.export(shared)).hasMessageContaining("chmod go-w " + shared);
            Files.setAttribute(shared, "unix:mode", 01777);
            assertThatThrownBy(() -> kept.export(shared))
                    .hasMessageEndingWith(": choose a folder in it, or choose another one");
            assertThat(shared).isEmptyDirectory();
            assertThatThrownBy(() -> kept.export(directory.resolve("out")))
                    .isInstanceOf(java.nio.file.FileAlreadyExistsException.class);
        }
        try (TestMount fourth = mount(files)) {
            fourth.writeback.failed().getFirst().commit();
            assertThat(stored("a/x")).asString().isEqualTo("mine");
        }
        assertThat(files.names()).isEmpty();
        assertThat(files.opened()).isZero();
    }

    /** The bytes of that version are cached. */
    @Test
    void commit_ofAKeptEditOfAGoneVersion_writesItsBytesToo() throws Exception {
        byte[] content = bytes(6 * BLOCK_SIZE);
        InMemoryObjectStore before = new InMemoryObjectStore();
        ObjectVersion base = before.put("a", content);
        ObjectStore cached = new ForwardingObjectStore(store) {
            @Override
            public void get(ObjectVersion version, ByteRange range, BodySink sink)
                    throws ObjectStoreException, InterruptedException {
                (version.hasIdentityOf(base) ? before : store).get(version, range, sink);
            }
        };
        try (TestMount first = new TestMount(cached, files, TestConfig.withMemory(4)).start()) {
            WrittenFile file = first.writeback.open(store.put("a", content));
            file.write(0, ByteBuffer.wrap(new byte[] {1, 2, 3}));
            store.put("a", "theirs");
            assertThatThrownBy(file::commit).isInstanceOf(ObjectStoreException.PreconditionFailed.class);
            file.release();
            first.writeback.drain();
        }
        try (TestMount second = new TestMount(cached, files, TestConfig.withMemory(4))) {
            second.writeback.failed().getFirst().commit();
        }

        System.arraycopy(new byte[] {1, 2, 3}, 0, content, 0, 3);
        assertThat(stored("a")).isEqualTo(content);
        assertThat(store.openUploads()).isEmpty();
        assertThat(files.names()).isEmpty();
    }

    @Test
    void settle_ofAKeptEditWhoseBaseIsGone_saysWhichBytesAreWhere() throws Exception {
        try (TestMount first = mount(files)) {
            WrittenFile file = first.writeback.open(store.put("a", bytes(10)));
            file.write(0, ByteBuffer.wrap(new byte[] {1, 2, 3}));
            store.put("a", "theirs");
            assertThatThrownBy(file::commit).isInstanceOf(ObjectStoreException.PreconditionFailed.class);
            file.release();
            first.writeback.drain();
        }
        try (TestMount second = mount(files)) {
            RecoverableFile kept = second.writeback.failed().getFirst();
            Path out = directory.resolve("out");
            for (boolean isGone : List.of(false, true)) {
                for (ThrowingCallable settle : List.<ThrowingCallable>of(kept::commit, () -> kept.export(out))) {
                    assertThatThrownBy(settle)
                            .hasMessageContaining("not all of them are in the cache")
                            .hasMessageContaining(kept.where());
                }
                assertThat(out).isEmptyDirectory();
                if (!isGone) {
                    assertThat(stored("a")).asString().isEqualTo("theirs");
                    store.delete("a");
                }
            }
        }
        assertThat(files.names()).hasSize(2);
    }

    /** The names of the staging files are random. */
    @Test
    void commit_ofSeveralVersionsOfAKey_uploadsTheLastForGood() throws Exception {
        for (int version = 0; version < 5; version++) {
            leaveConflict(mount(files), "a", ("version " + version).getBytes(UTF_8));
        }
        Path out = directory.resolve("out");
        try (TestMount mount = mount(files)) {
            List<RecoverableFile> kept = mount.writeback.failed();
            for (RecoverableFile file : kept) {
                file.export(out);
            }
            for (int version = 0; version < 4; version++) {
                assertThat(out.resolve("a." + kept.get(version).modified())).hasContent("version " + version);
            }
            assertThat(out.resolve("a")).hasContent("version 4");

            mount.writeback.recordOlder();
            kept.subList(0, 4)
                    .forEach(older -> assertThatThrownBy(older::commit).hasMessageContaining("a later version"));
            kept.getLast().commit();
        }
        try (TestMount next = mount(files)) {
            assertThat(next.writeback.failed())
                    .hasSize(4)
                    .allSatisfy(older -> assertThatThrownBy(older::commit).hasMessage(older.reason()));
        }
        assertThat(stored("a")).asString().isEqualTo("version 4");
        Clock behind = Clock.offset(Clock.systemUTC(), Duration.ofHours(-1));
        leaveConflict(
                new TestMount(store, files, TestConfig.withMemory(4), (_, _) -> {}, behind, CommitTiming.DEFAULT)
                        .start(),
                "a",
                "since".getBytes(UTF_8));
        try (TestMount last = mount(files)) {
            last.writeback.failed().getFirst().commit();
        }
        assertThat(stored("a")).asString().isEqualTo("since");
    }

    /** The next mount uploads it, and so would recover. */
    @Test
    void kept_aLaterVersionIsNotUploadedYet_isOlder() throws Exception {
        leaveConflict(mount(files), "a", bytes(10));
        try (TestMount mount = mount(files)) {
            WrittenFile file = mount.writeback.open(store.head("a").version());
            file.write(0, ByteBuffer.wrap(bytes(20)));
            file.fsync();
        }
        try (TestMount next = new TestMount(store, files, TestConfig.withMemory(4))) {
            assertThat(next.writeback.pending()).hasSize(1);
            assertThatThrownBy(next.writeback.failed().getFirst()::commit).hasMessageContaining("a later version");
        }
    }

    private void leaveConflict(TestMount mount, String key, byte[] content) throws Exception {
        try (mount) {
            WrittenFile file = mount.writeback.create(key, null);
            file.write(0, ByteBuffer.wrap(content));
            store.put(key, "theirs");
            assertThatThrownBy(file::commit).isInstanceOf(ObjectStoreException.PreconditionFailed.class);
            file.release();
            mount.writeback.drain();
        }
    }

    @Test
    void discard_ofAKeptFile_removesIt() throws Exception {
        leaveConflict(mount(files), "a", bytes(10));
        try (TestMount second = mount(files)) {
            second.writeback.failed().getFirst().discard();
        }
        assertThat(files.names()).isEmpty();
        assertThat(files.opened()).isZero();
    }

    @Test
    void journal_ofAnotherBucket_isLeftAlone() throws Exception {
        try (TestMount first = mount(files)) {
            WrittenFile file = first.writeback.create("a", null);
            file.write(0, ByteBuffer.wrap(bytes(10)));
            file.fsync();
        }
        List<String> names = files.names();
        Recovery other = recovery("elsewhere/bucket");
        assertThat(other.found()).isEmpty();
        assertThat(other.stranded()).containsExactly(new StrandedFile("localhost/bucket", "a", 10));
        assertThat(files.names()).isEqualTo(names);
        assertThat(files.opened()).isZero();
    }

    private Recovery recovery(String namespace) throws IOException {
        return Recovery.of(new Staging(files, namespace, () -> 1L << 30, System::nanoTime));
    }

    @Test
    void unlink_afterFsync_isNotFoundAgain() throws Exception {
        try (TestMount first = mount(files)) {
            WrittenFile file = first.writeback.create("a", null);
            file.write(0, ByteBuffer.wrap(bytes(10)));
            file.fsync();
            file.unlink();
            assertThat(read(file)).isEqualTo(bytes(10));
            try (TestMount second = mount(files.crash(Seeded.random(3)))) {
                assertThat(second.writeback.recovered()).isEmpty();
            }
            file.release();
        }
    }

    @Test
    void fsync_ofWhatIsStagedAlready_tellsTheJournalNothingNew() throws Exception {
        try (TestMount first = mount(files)) {
            WrittenFile file = first.writeback.create("a", null);
            for (int i = 0; i < 1000; i++) {
                file.write(100L * i, ByteBuffer.wrap(bytes(50)));
            }
            file.fsync();
            long before = journalBytes(files);
            for (int i = 0; i < 10; i++) {
                file.write(100L * i, ByteBuffer.wrap(bytes(50)));
                file.fsync();
            }
            assertThat(journalBytes(files) - before).isLessThan(1000);
            file.release();
            first.assertNothingLeaks();
        }
    }

    private static long journalBytes(DataFolder in) throws Exception {
        String journal = in.names().stream()
                .filter(name -> name.endsWith(".journal"))
                .findAny()
                .orElseThrow();
        try (DataFile file = in.open(journal)) {
            return file.length();
        }
    }

    @Test
    void fsync_withALargeJournal_shortensItAndAsksNothingOfTheStore() throws Exception {
        FaultyObjectStore faults = new FaultyObjectStore(store);
        faults.always(Call.Put.class::isInstance, io.penstock.testing.Fault.fail(Unavailable::new));
        DataFolder local = StagingFolder.open(directory);
        try (TestMount first = new TestMount(faults, local, TestConfig.withMemory(4)).start()) {
            WrittenFile file = first.writeback.create("a", null);
            write(file, "first");
            file.fsync();
            JournalRecord filler = new JournalRecord.UploadEnded("x".repeat(60_000));
            StagedFile staged = file.bytes().locked(file.bytes()::layer).staged();
            FileJournal journal = new FileJournal(staged, () -> {
                throw new AssertionError("it is there already");
            });
            for (int i = 0; i < 1200; i++) {
                assertThat(journal.amend(filler)).isTrue();
            }
            assertThat(journalBytes(local)).isGreaterThan(64 << 20);
            file.truncate(3);
            file.fsync();
            assertThat(journalBytes(local)).isLessThan(1000);
            file.write(5, ByteBuffer.wrap("third".getBytes(UTF_8)));
            file.fsync();
            assertThat(local.names()).hasSize(2);
            assertThat(file.isDirty()).isTrue();
        }
        local.create("0123456789abcdef.journal" + RecordLog.DRAFT).close(); // as a crash might leave it
        try (TestMount second = mount(local)) {
            second.assertNothingLeaks();
        }
        assertThat(stored("a")).asString().isEqualTo("fir\0\0third");
        assertThat(local.names()).isEmpty();
    }

    @Test
    void write_ofABlocksEndRepeatedly_leavesThreadsToOtherFiles() throws Exception {
        try (FileScenario s = new FileScenario()) {
            WrittenFile one;
            try (FileScenario.DiskGate disk = s.heldDisk(Operation.WRITE, StagedFile.DATA, 1)) {
                one = s.create("one").write(0, new byte[BLOCK_SIZE]).file();
                disk.awaitHeld(1);
                for (int i = 0; i < 10; i++) {
                    s.write(BLOCK_SIZE - 1, "x");
                }
                s.create("other").write(0, new byte[BLOCK_SIZE]);
                while (requireNonNull(s.file().uncommitted()).stagedBytes() == 0) {
                    Thread.sleep(1);
                }
            }
            one.release();
            s.releases();
        }
    }

    // ---- limits and failures

    @Test
    void sent_whereMuchMemoryIsTaken_freesThatOfStagedBlocksAlone() throws Exception {
        byte[] content = bytes(2 * BLOCK_SIZE);
        try (TestMount mount = mount(StagingFolder.open(directory))) { // of four blocks: more than half a block is much
            WrittenFile file = mount.writeback.create("a", null);
            file.write(0, ByteBuffer.wrap(content, 0, BLOCK_SIZE));
            assertThat(file.bytes().staging().stageAll(null)).isTrue();
            file.write(BLOCK_SIZE, ByteBuffer.wrap(content, BLOCK_SIZE, 100));
            assertThat(mount.context.resources().memory().usedBytes()).isEqualTo(2L * BLOCK_SIZE);
            try (Snapshot body = file.bytes().hold(new ByteRange(0, BLOCK_SIZE + 100))) {
                assertThat(body.length()).isEqualTo(BLOCK_SIZE + 100);
            }
            assertThat(mount.context.resources().memory().usedBytes()).isEqualTo(2L * BLOCK_SIZE);
            try (Snapshot body = file.bytes().hold(new ByteRange(0, BLOCK_SIZE + 100))) {
                body.sent();
            }
            assertThat(mount.context.resources().memory().usedBytes()).isEqualTo(BLOCK_SIZE);
            file.write(BLOCK_SIZE + 100, ByteBuffer.wrap(content, BLOCK_SIZE + 100, BLOCK_SIZE - 100));
            assertThat(read(file)).isEqualTo(content);
            file.release();
            mount.assertNothingLeaks();
        }
    }

    /** Such a file waits a while before its commit. Otherwise many small ones would take all memory. */
    @Test
    void closeStaged_muchMemoryTaken_freesThatOfBlocksWithFewBytes() throws Exception {
        byte[] content = bytes(BLOCK_SIZE + 100);
        try (TestMount mount = mount(StagingFolder.open(directory))) { // of four blocks: more than half a block is much
            WrittenFile file = mount.writeback.create("a", null);
            file.write(0, ByteBuffer.wrap(content));
            assertThat(mount.context.resources().memory().usedBytes()).isEqualTo(2L * BLOCK_SIZE);
            file.closeStaged();
            assertThat(mount.context.resources().memory().usedBytes()).isEqualTo(BLOCK_SIZE);
            assertThat(read(file)).isEqualTo(content);
            file.release();
            mount.assertNothingLeaks();
        }
    }

    @Test
    void evict_ofABlockThatHasNoMemory_isStuck() throws Exception {
        try (TestMount mount = mount(files)) {
            WrittenFile file = mount.writeback.create("a", null);
            write(file, "text");
            BlockStaging staging = file.bytes().staging();
            assertThat(staging.evict(0, true)).isEqualTo(Reclaim.Eviction.FREED);
            assertThat(staging.evict(0, true)).isEqualTo(Reclaim.Eviction.STUCK);
            file.unlink();
            file.release();
            mount.assertNothingLeaks();
        }
    }

    @Test
    void body_ofLessThanAPage_isSummedWhereItIs() throws Exception {
        byte[] content = bytes(PAGE_SIZE - 1);
        ByteRange all = new ByteRange(0, content.length);
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        try (TestMount mount = mount(files)) {
            WrittenFile file = mount.writeback.create("a", null);
            file.write(0, ByteBuffer.wrap(content));
            long before = threads.getCurrentThreadAllocatedBytes();
            try (Snapshot body = file.bytes().hold(all).summed()) {
                assertThat(threads.getCurrentThreadAllocatedBytes() - before)
                        .as("bytes allocated")
                        .isLessThan(content.length);
                assertThat(body.crc32c()).hasValue(Crc32c.of(ByteBuffer.wrap(content)));
            }
            file.unlink();
            file.release();
            mount.assertNothingLeaks();
        }
    }

    @Test
    void write_ofManyFilesWithLittleMemory_commitsNoneBeforeClose() throws Exception {
        int count = 24;
        byte[] content = bytes(10_000_000);
        List<WrittenFile> written = new ArrayList<>();
        try (TestMount mount = mount(StagingFolder.open(directory)).start();
                ExecutorService writers = Executors.newFixedThreadPool(count)) {
            List<Future<WrittenFile>> running = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                String key = "f" + i;
                running.add(writers.submit(() -> {
                    WrittenFile file = mount.writeback.create(key, null);
                    for (int at = 0; at < content.length; at += 500_000) {
                        file.write(at, ByteBuffer.wrap(content, at, 500_000));
                    }
                    return file;
                }));
            }
            for (Future<WrittenFile> each : running) {
                written.add(each.get());
            }
            assertThat(mount.told).isEmpty();
            assertThat(store.list(new ListRequest("", "", null, null, 1000)).objects())
                    .isEmpty();
            for (WrittenFile file : written) {
                file.commit();
                file.release();
            }
            assertThat(stored("f7")).isEqualTo(content);
            mount.assertNothingLeaks();
        }
    }

    @Test
    void write_ofMoreThanMemory_isStagedAndReadBack() throws Exception {
        byte[] content = bytes(9 * BLOCK_SIZE + 100);
        try (TestMount mount = mount(StagingFolder.open(directory))) {
            WrittenFile file = mount.writeback.create("a", null);
            file.write(0, ByteBuffer.wrap(content));
            assertThat(mount.context.resources().memory().usedBytes()).isLessThanOrEqualTo(4L * BLOCK_SIZE);
            assertThat(read(file)).isEqualTo(content);
            file.commit();
            assertThat(stored("a")).isEqualTo(content);
            file.release();
            mount.assertNothingLeaks();
        }
    }

    @Test
    void write_whereNothingCanBeStaged_goesOnOverWhatIsCommitted() throws Exception {
        byte[] content = bytes(9 * BLOCK_SIZE + 100);
        for (Fault fault : List.of(Fault.FULL, Fault.READ_ONLY, Fault.DEAD)) {
            files.set(fault);
            try (TestMount mount = mount(files)) {
                WrittenFile file = mount.writeback.create(fault.name(), null);
                file.write(0, ByteBuffer.wrap(content));
                assertThat(read(file)).isEqualTo(content);
                file.fsync();
                assertThat(stored(fault.name())).isEqualTo(content);
                file.release();
                mount.assertNothingLeaks();
            }
        }
    }

    @Test
    void write_beyondTheStagingLimit_goesOnOverWhatIsCommitted() throws Exception {
        byte[] content = bytes(9 * BLOCK_SIZE + 100);
        WritebackConfig config = TestConfig.withMemory(2);
        try (TestMount mount = new TestMount(store, files, config).start()) {
            limitStaging(mount, config, 3L * BLOCK_SIZE);
            WrittenFile file = mount.writeback.create("a", null);
            file.write(0, ByteBuffer.wrap(content));
            assertThat(mount.staging.usedBytes()).isLessThanOrEqualTo(3L * BLOCK_SIZE);
            assertThat(read(file)).isEqualTo(content);
            file.commit();
            assertThat(stored("a")).isEqualTo(content);
            file.release();
            mount.assertNothingLeaks();
        }
    }

    @Test
    void write_ofARemovedFileWithoutStaging_isRefusedAlone() throws Exception {
        files.set(Fault.FULL);
        try (TestMount mount = mount(files)) {
            WrittenFile removed = mount.writeback.create("removed", null);
            removed.unlink();
            assertThatThrownBy(() -> writeAll(removed, bytes(5 * BLOCK_SIZE)))
                    .isInstanceOf(IOException.class)
                    .hasCauseInstanceOf(ObjectStoreException.OutOfSpace.class);
            WrittenFile other = mount.writeback.create("other", null);
            assertThatThrownBy(() -> other.write(0, ByteBuffer.wrap(bytes(1))))
                    .hasCauseInstanceOf(ObjectStoreException.OutOfSpace.class);
            removed.release();
            other.write(0, ByteBuffer.wrap(bytes(5 * BLOCK_SIZE)));
            other.commit();
            other.release();
            mount.assertNothingLeaks();
        }
        assertThat(stored("other")).isEqualTo(bytes(5 * BLOCK_SIZE));
    }

    @Test
    void append_refusedOrInterruptedMidway_returnsTheBytesWritten() throws Exception {
        files.set(Fault.FULL);
        try (TestMount mount = mount(files)) {
            WrittenFile file = mount.writeback.create("log", null);
            file.unlink();
            file.write(0, ByteBuffer.wrap(bytes(3 * BLOCK_SIZE + 5)));
            ByteBuffer record = ByteBuffer.wrap(bytes(BLOCK_SIZE));

            assertThat(file.append(record)).isEqualTo(BLOCK_SIZE - 5);
            assertThat(record.remaining()).isEqualTo(5);
            assertThat(file.size()).isEqualTo(4L * BLOCK_SIZE);
            assertThatThrownBy(() -> file.append(record)).hasCauseInstanceOf(ObjectStoreException.OutOfSpace.class);

            file.truncate(4L * BLOCK_SIZE - 5);
            Thread.currentThread().interrupt();
            assertThatThrownBy(() -> file.append(ByteBuffer.wrap(bytes(10)))).isInstanceOf(InterruptedException.class);
            FutureTask<Integer> appended = new FutureTask<>(() -> file.append(ByteBuffer.wrap(bytes(10))));
            Thread writer = Thread.startVirtualThread(appended);
            while (mount.context.resources().memory().waiting() == 0 && !appended.isDone()) {
                Thread.onSpinWait();
            }
            writer.interrupt();
            assertThat(appended.get()).isEqualTo(5);
            assertThat(file.size()).isEqualTo(4L * BLOCK_SIZE);
            file.release();
            mount.assertNothingLeaks();
        }
    }

    @Test
    void isLeaving_memoryThatOnlyABodyStillReads_isTrue() throws Exception {
        try (TestMount mount = mount(files)) {
            WrittenFile file = mount.writeback.create("a", null);
            write(file, "text");
            Block block = firstBlock(file);
            BlockBuffer buffer = requireNonNull(block.buffer());
            try (Snapshot body = file.bytes().hold(new ByteRange(0, 4))) {
                assertThat(body.length()).isEqualTo(4);
                assertThat(file.bytes().staging().isLeaving(0, buffer)).isFalse();
                file.truncate(0);
                assertThat(file.bytes().staging().isLeaving(0, buffer)).isTrue();
                assertThat(mount.context.resources().memory().usedBytes()).isEqualTo(BLOCK_SIZE);
            }
            file.release();
            mount.assertNothingLeaks();
        }
    }

    @Test
    void write_whenNoFileCanBeCommitted_failsAsItsCommitDid() throws Exception {
        files.set(Fault.FULL);
        try (TestMount mount = mount(files)) {
            WrittenFile other = mount.writeback.create("other", null);
            other.write(0, ByteBuffer.wrap(bytes(1)));
            WrittenFile file = mount.writeback.open(store.put("a", "mine"));
            store.put("a", "theirs");
            assertThatThrownBy(() -> writeAll(file, bytes(5 * BLOCK_SIZE)))
                    .isInstanceOf(IOException.class)
                    .hasCauseInstanceOf(ObjectStoreException.PreconditionFailed.class);
            assertThat(mount.told).containsExactly("committed other 1");
            file.unlink();
            file.release();
            other.release();
            mount.assertNothingLeaks();
        }
    }

    @Test
    void write_ofARemovedFileWithStagingBroken_commitsNoOther() throws Exception {
        try (TestMount mount = new TestMount(store, files, TestConfig.withMemory(2)).start()) {
            WrittenFile idle = mount.writeback.create("idle", null);
            write(idle, "idle");
            idle.fsync();
            files.set(Fault.READ_ONLY);
            WrittenFile removed = mount.writeback.create("removed", null);
            removed.unlink();
            assertThatThrownBy(() -> writeAll(removed, bytes(5 * BLOCK_SIZE)))
                    .hasCauseInstanceOf(ObjectStoreException.OutOfSpace.class);
            assertThat(idle.isDirty()).isTrue();
            files.set(Fault.NONE);
            removed.release();
            idle.release();
            mount.assertNothingLeaks();
        }
    }

    @Test
    void write_afterACommitFailedForAPastReason_succeedsAfterAWhile() throws Exception {
        files.set(Fault.FULL);
        CommitTiming timing = new CommitTiming(
                CommitTiming.DEFAULT.firstPause(),
                Duration.ofSeconds(10).toNanos(),
                CommitTiming.DEFAULT.patience(),
                0);
        FaultyObjectStore faults = new FaultyObjectStore(store);
        faults.next(Call.Put.class::isInstance, io.penstock.testing.Fault.fail(AccessDenied::new));
        try (TestMount mount = new TestMount(
                        faults, files, TestConfig.withMemory(2), (_, _) -> {}, Clock.systemUTC(), timing)
                .start()) {
            WrittenFile idle = mount.writeback.create("idle", null);
            write(idle, "idle");
            idle.write(BLOCK_SIZE, ByteBuffer.wrap(bytes(1)));
            WrittenFile other = mount.writeback.create("other", null);
            assertThatThrownBy(() -> other.write(0, ByteBuffer.wrap(bytes(1))))
                    .hasCauseInstanceOf(ObjectStoreException.OutOfSpace.class);
            assertThat(mount.told).isEmpty();
            while (isRefused(other)) {
                Thread.sleep(10);
            }
            assertThatThrownBy(idle::fsync).isInstanceOf(AccessDenied.class); // not reported to it yet
            idle.release();
            other.release();
            mount.assertNothingLeaks();
            assertThat(mount.told).contains("committed idle " + (BLOCK_SIZE + 1));
        }
    }

    private static boolean isRefused(WrittenFile file) throws Exception {
        try {
            file.write(0, ByteBuffer.wrap("other".getBytes(UTF_8)));
            return false;
        } catch (IOException e) {
            return true;
        }
    }

    @Test
    void write_ofARemovedFileWhereStagingIsFull_hasOthersCommitted() throws Exception {
        WritebackConfig config = TestConfig.withMemory(4);
        try (TestMount mount = new TestMount(store, files, config).start()) {
            limitStaging(mount, config, 3L * BLOCK_SIZE);
            WrittenFile idle = mount.writeback.create("idle", null);
            idle.write(0, ByteBuffer.wrap(bytes(3 * BLOCK_SIZE)));
            idle.bytes().staging().stageAll(null);
            WrittenFile removed = mount.writeback.create("removed", null);
            removed.unlink();
            removed.write(0, ByteBuffer.wrap(bytes(6 * BLOCK_SIZE)));
            assertThat(read(removed)).isEqualTo(bytes(6 * BLOCK_SIZE));
            assertThat(mount.told).containsExactly("committed idle " + 3 * BLOCK_SIZE);
            removed.release();
            idle.release();
            mount.assertNothingLeaks();
        }
    }

    private static void limitStaging(TestMount mount, WritebackConfig config, long bytes) {
        WritebackLimits.Values limits = config.limits();
        mount.writeback
                .limits()
                .set(new WritebackLimits.Values(
                        limits.uploads(),
                        limits.uploadsPerFile(),
                        limits.uploadsWhileStaging(),
                        limits.dirtyBytes(),
                        bytes,
                        limits.partBytes()));
    }

    @Test
    void isBusy_aWhileAfterABlockWasStaged_only() throws Exception {
        AtomicLong nanoTime = new AtomicLong();
        Staging staging = new Staging(files, "", () -> 1L << 30, nanoTime::get);
        assertThat(staging.isBusy()).isFalse();
        StagedFile file = new StagedFile(staging);
        assertThat(file.data().write(0, ByteBuffer.wrap(bytes(1)))).isTrue();
        assertThat(staging.isBusy()).isTrue();
        nanoTime.addAndGet(Duration.ofMillis(99).toNanos());
        assertThat(staging.isBusy()).isTrue();
        nanoTime.addAndGet(Duration.ofMillis(1).toNanos());
        assertThat(staging.isBusy()).isFalse();
        file.remove();
    }

    @Test
    void write_afterSomethingUnforeseenInReclaiming_goesOn() throws Exception {
        try (TestMount mount = new TestMount(store, files, TestConfig.withMemory(2)).start()) {
            WrittenFile file = mount.writeback.create("a", null);
            file.write(0, ByteBuffer.wrap(bytes(1)));
            file.write(BLOCK_SIZE, ByteBuffer.wrap(bytes(1)));
            files.set(Fault.UNFORESEEN);
            FutureTask<Boolean> third = new FutureTask<>(() -> {
                file.write(2L * BLOCK_SIZE, ByteBuffer.wrap(bytes(1)));
                return true;
            });
            Thread.startVirtualThread(third);
            while (files.unforeseen() == 0) {
                Thread.sleep(1);
            }
            files.set(Fault.NONE);
            assertThat(third.get()).isTrue();
            file.release();
            mount.assertNothingLeaks();
        }
    }

    @Test
    void failed_withoutSpaceThatWasFreedSince_doesNotCountAsABrokenDisk() {
        Staging staging = new Staging(files, "test", () -> 1L << 30, System::nanoTime);
        staging.failed("write", new IOException("No space left on device"));
        assertThat(staging.isBroken()).isFalse();
        assertThat(staging.isUsable()).isFalse();
        staging.failed("write", new IOException("Input/output error"));
        assertThat(staging.isBroken()).isTrue();
    }

    @Test
    void take_ofAFileThatWasRemoved_takesNothingAndBlamesNoDisk() throws Exception {
        Staging staging = new Staging(files, "test", () -> 1L << 30, System::nanoTime);
        StagedFile file = new StagedFile(staging);
        assertThat(file.data().take(0, 100)).isTrue();
        file.remove();
        assertThat(file.data().take(1, 100)).isFalse();
        assertThat(file.data().write(0, ByteBuffer.allocate(100))).isFalse();
        assertThat(staging.usedBytes()).isZero();
        assertThat(staging.isUsable()).isTrue();
        assertThat(files.names()).isEmpty();
    }

    @Test
    void freeAllBut_aPageInTheMiddle_punchesTheRunsBesideItOnceEach() throws Exception {
        AtomicInteger punches = new AtomicInteger();
        WatchedFiles watched = new WatchedFiles(files, (operation, _) -> {
            if (operation == Operation.PUNCH) {
                punches.incrementAndGet();
            }
        });
        Staging staging = new Staging(watched, "test", () -> 1L << 30, System::nanoTime);
        StagedFile file = new StagedFile(staging);
        byte[] content = bytes(BLOCK_SIZE);
        assertThat(file.data().take(0, BLOCK_SIZE)).isTrue();
        assertThat(file.data().write(0, ByteBuffer.wrap(content))).isTrue();
        BitSet kept = new BitSet();
        kept.set(1);
        file.data().freeAllBut(kept);
        assertThat(punches).hasValue(2);
        byte[] left = new byte[BLOCK_SIZE];
        System.arraycopy(content, PAGE_SIZE, left, PAGE_SIZE, PAGE_SIZE);
        ByteBuffer to = ByteBuffer.allocate(BLOCK_SIZE);
        assertThat(file.data().read(0, to)).isEqualTo(BLOCK_SIZE);
        assertThat(to.array()).isEqualTo(left);
        file.remove();
        file.close(file.data());
    }

    @Test
    void stage_ofABlockWhoseSuccessorIsInTheNextFile_doesNothing() throws Exception {
        AtomicReference<WrittenFile> file = new AtomicReference<>();
        AtomicReference<Block> committed = new AtomicReference<>();
        AtomicBoolean staged = new AtomicBoolean();
        CommittedPages pages = (_, content) -> {
            if (!staged.get()) {
                committed.set(content.content().blocks().iterator().next());
                write(file.get(), "successor");
            }
        };
        try (TestMount mount = new TestMount(store, files, TestConfig.withMemory(4), pages)) {
            mount.writeback.start(new Writeback.Listener() {
                @Override
                public void committed(WrittenFile of, StoredObject object) {
                    staged.set(stages(of, committed.get()));
                }

                @Override
                public void abandoned(WrittenFile of) {}
            });
            file.set(mount.writeback.create("a", null));
            write(file.get(), "first and longer");
            file.get().commit();
            assertThat(staged).isTrue();
            assertThat(mount.staging.usedBytes()).isZero();
            assertThat(files.names()).isEmpty();
            file.get().release();
            mount.assertNothingLeaks();
        }
        assertThat(stored("a")).asString().isEqualTo("successor longer");
    }

    @Test
    void hold_ofContentThatReplacesTheJournalled_isReadInTheNextFile() throws Exception {
        try (TestMount mount = mount(files)) {
            WrittenFile file = mount.writeback.create("a", null);
            write(file, "one");
            file.fsync();
            file.truncate(0);
            write(file, "two");
            ByteBuffer to = ByteBuffer.allocate(3);
            try (Snapshot body = file.bytes().hold(new ByteRange(0, 3))) {
                assertThat(stages(file, firstBlock(file))).isTrue();
                assertThat(file.bytes().staging().evict(0, false)).isEqualTo(Reclaim.Eviction.FREED);
                body.readAt(0, to);
            }
            assertThat(to.array()).asString().isEqualTo("two");
            file.unlink();
            file.release();
            mount.assertNothingLeaks();
        }
    }

    private static void write(WrittenFile file, String text) {
        try {
            file.write(0, ByteBuffer.wrap(text.getBytes(UTF_8)));
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    private static Block firstBlock(WrittenFile file) {
        return file.bytes().locked(() -> requireNonNull(file.bytes().content().block(0)));
    }

    private static boolean stages(WrittenFile file, Block block) {
        try {
            return file.bytes().staging().stage(block);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    // ---- the cache

    @Test
    void commit_ofAStagedFile_isReadFromTheCache() throws Exception {
        byte[] content = bytes(2 * BLOCK_SIZE + 123_456);
        assertCached(content, content.length);
    }

    @Test
    void commit_ofASmallFile_isReadFromTheCache() throws Exception {
        byte[] content = bytes(100_000);
        assertCached(content, content.length);
    }

    private void assertCached(byte[] content, int cachedBytes) throws Exception {
        Path staging = directory.resolve("staging");
        try (PageCache cache = PageCache.open(new CacheConfig(directory, 1L << 30, 0, 32 << 20))) {
            CommittedPages pages = new CachedPages(cache, TestMount.NAMESPACE);
            TestMount mount = new TestMount(store, StagingFolder.open(staging), TestConfig.withMemory(4), pages);
            WrittenFile file = mount.start().writeback.create("a", null);
            file.write(0, ByteBuffer.wrap(content));
            file.commit();
            try (CachedObject object =
                    cache.open(TestMount.NAMESPACE, store.head("a").version())) {
                ByteBuffer to = ByteBuffer.allocate(content.length);
                while (to.hasRemaining()) {
                    assertThat(object.read(to.position(), to, null, CachedObject.FromDisk.REQUESTED))
                            .as("at %s", to.position())
                            .isPositive();
                }
                assertThat(to.array()).isEqualTo(content);
                assertThat(to.position()).isEqualTo(cachedBytes);
            }
            file.release();
            mount.assertNothingLeaks();
            mount.close();
            try (Stream<Path> left = Files.list(staging)) {
                assertThat(left).containsExactlyInAnyOrder(staging.resolve("lock"), staging.resolve("PENSTOCK.txt"));
            }
        }
    }

    @Test
    void open_folderInUse_isRefusedUntilItIsNot() throws Exception {
        WritebackConfig config = TestConfig.in(directory.resolve("staging"), 4);
        try (PageCache cache = PageCache.open(new CacheConfig(directory.resolve("cache"), 1L << 30, 0, 32 << 20))) {
            Writeback first = open(config, cache);
            assertThatThrownBy(() -> open(config, cache))
                    .isInstanceOf(FolderLock.TakenException.class)
                    .hasMessageContaining("staging folder " + config.staging() + " is in use by process")
                    .hasMessageContaining("write.staging");
            first.close();
            open(config, cache).close();
        }
    }

    /** A signal that ends the process must not make it mount without the staged files. */
    @Test
    void open_interrupted_isRefusedRatherThanWithoutStaging() throws Exception {
        WritebackConfig config = TestConfig.in(directory.resolve("staging"), 4);
        try (PageCache cache = PageCache.open(new CacheConfig(directory.resolve("cache"), 1L << 30, 0, 32 << 20))) {
            Thread.currentThread().interrupt();
            assertThatThrownBy(() -> open(config, cache)).isInstanceOf(ClosedByInterruptException.class);
            assertThat(Thread.interrupted()).isTrue();
            open(config, cache).close();
        }
    }

    private Writeback open(WritebackConfig config, PageCache cache) throws IOException {
        return Writeback.open(store, cache, TestMount.NAMESPACE, new StoredBase(store), config);
    }

    @Test
    void read_whileCommitsGiveFilesAway_isAlwaysRight() throws Exception {
        byte[] content = bytes(3 * BLOCK_SIZE + 500_000);
        try (PageCache cache = PageCache.open(new CacheConfig(directory, 4L << 20, 0, 8 << 20));
                TestMount mount = new TestMount(
                                store,
                                StagingFolder.open(directory.resolve("staging")),
                                TestConfig.withMemory(2),
                                new CachedPages(cache, TestMount.NAMESPACE))
                        .start()) {
            WrittenFile file = mount.writeback.create("a", null);
            file.write(0, ByteBuffer.wrap(content));
            AtomicBoolean done = new AtomicBoolean();
            FutureTask<Integer> reader = new FutureTask<>(() -> {
                RandomGenerator random = Seeded.random(7);
                int reads = 0;
                for (; !done.get(); reads++) {
                    int at = random.nextInt(content.length - 5000);
                    ByteBuffer to = ByteBuffer.allocate(5000);
                    file.read(at, to);
                    assertThat(to.flip()).as("at %s", at).isEqualTo(ByteBuffer.wrap(content, at, 5000));
                }
                return reads;
            });
            Thread.ofPlatform().start(reader);
            RandomGenerator random = Seeded.random(8);
            for (int round = 0; round < 15; round++) {
                for (int i = 0; i < 30; i++) {
                    int at = random.nextInt(content.length - 70_000);
                    file.write(at, ByteBuffer.wrap(content, at, 1 + random.nextInt(70_000)));
                }
                file.fsync();
                file.commit();
            }
            done.set(true);
            assertThat(reader.get()).isPositive();
            file.release();
            mount.assertNothingLeaks();
        }
    }
}

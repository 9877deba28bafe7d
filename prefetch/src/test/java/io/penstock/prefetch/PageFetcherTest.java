package io.penstock.prefetch;

import static io.penstock.cache.PageCache.SECTOR_SIZE;
import static io.penstock.prefetch.FetcherFixture.KIB;
import static io.penstock.prefetch.FetcherFixture.MIB;
import static io.penstock.prefetch.FetcherFixture.REQUEST;
import static io.penstock.prefetch.FetcherFixture.readAndVerify;
import static io.penstock.prefetch.FetcherFixture.readInSequence;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.HotSpotDiagnosticMXBean;
import io.penstock.cache.CachedObject;
import io.penstock.core.ByteRange;
import io.penstock.core.NoWait;
import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.Call;
import io.penstock.objectstore.Deadline;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.RetryPolicy;
import io.penstock.testing.Fault;
import io.penstock.testing.Gate;
import io.penstock.testing.Seeded;
import io.penstock.testing.TestData;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Predicate;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class PageFetcherTest {
    private static final ReadaheadConfig CONFIG = new ReadaheadConfig(128 * MIB, 8 * MIB, 64, 4 * MIB);

    @TempDir
    private Path directory;

    private FetcherFixture fixture;
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

    @BeforeEach
    void open() throws IOException {
        fixture = new FetcherFixture(directory, CONFIG, 512 * MIB, 256 * MIB);
    }

    @AfterEach
    void close() {
        threads.close();
        fixture.close();
    }

    @Test
    void open_withoutRead_fetchesNothing() {
        ObjectVersion version = fixture.put("small", 100);
        fixture.fetcher.open(version).close();
        assertThat(fixture.store.calls()).isEmpty();
    }

    @Test
    void read_edges_answersAsFilesDo() throws Exception {
        ObjectVersion empty = fixture.put("empty", 0);
        ObjectVersion version = fixture.put("object", 5 * MIB + 1);
        try (ObjectReader none = fixture.fetcher.open(empty);
                ObjectReader reader = fixture.fetcher.open(version)) {
            assertThat(none.read(0, ByteBuffer.allocate(1), null, true)).isZero();
            assertThat(reader.read(version.size(), ByteBuffer.allocate(1), null, true))
                    .isZero();
            assertThat(reader.read(Long.MAX_VALUE, ByteBuffer.allocate(1), null, true))
                    .isZero();
            assertThat(reader.read(0, ByteBuffer.allocate(0), null, true)).isZero();
            assertThat(fixture.store.calls()).isEmpty();
            readAndVerify(reader, version, 5 * MIB, 100);
            readAndVerify(reader, version, MIB - 1, 2);
            assertThatIllegalArgumentException().isThrownBy(() -> reader.read(-1, ByteBuffer.allocate(1), null, true));
        }
    }

    @Test
    void read_closedReader_isRefused() {
        ObjectReader reader = fixture.fetcher.open(fixture.put("object", 10));
        reader.close();
        reader.close();
        assertThatIllegalStateException()
                .isThrownBy(() -> reader.read(0, ByteBuffer.allocate(1), null, true))
                .withMessageContaining("object");
    }

    @Test
    void read_coldInSequence_fetchesEachByteOnceInFullRanges() throws Exception {
        ObjectVersion version = fixture.put("object", 100 * MIB + 5);
        try (ObjectReader reader = fixture.fetcher.open(version)) {
            readInSequence(reader, version, 0, version.size());
        }
        long next = 0;
        for (ByteRange range : fixture.ranges()) {
            assertThat(range.offset()).isEqualTo(next);
            next = range.end();
        }
        assertThat(next).isEqualTo(version.size());
        assertThat(fixture.ranges())
                .filteredOn(range -> range.offset() >= 40 * MIB && range.end() < version.size())
                .isNotEmpty()
                .allSatisfy(range -> assertThat(range.length()).isEqualTo(8 * MIB));
        ReadaheadStatistics statistics = fixture.fetcher.statistics();
        assertThat(statistics.bytesFetched()).isEqualTo(version.size());
        assertThat(statistics.allGets()).isEqualTo(fixture.ranges().size());
        assertThat(statistics.readaheadBytesUsed()).isEqualTo(statistics.readaheadBytes());
        assertThat(fixture.store.gets())
                .allSatisfy(get -> assertThat(get.etag()).isEqualTo(version.etag()));
    }

    @Test
    void read_warm_fetchesNothing() throws Exception {
        ObjectVersion version = fixture.put("object", 20 * MIB);
        try (ObjectReader reader = fixture.fetcher.open(version)) {
            readInSequence(reader, version, 0, version.size());
        }
        fixture.store.drain();
        try (ObjectReader reader = fixture.fetcher.open(version)) {
            readInSequence(reader, version, 0, version.size());
        }
        assertThat(fixture.store.calls()).isEmpty();
    }

    @Test
    void read_randomly_fetchesOnlyTheSectorsOnceItIsKnown() throws Exception {
        ObjectVersion version = fixture.put("object", 1024 * MIB);
        int pages = Streams.RANDOM_AFTER - 1;
        try (ObjectReader reader = fixture.fetcher.open(version)) {
            for (int page : shuffled(1024)) {
                readAndVerify(reader, version, page * MIB + 777 * KIB, (int) (4 * KIB));
            }
            for (int page : shuffled(1024)) { // from the cache
                readAndVerify(reader, version, page * MIB + 777 * KIB, (int) (4 * KIB));
            }
        }
        assertThat(fixture.ranges()).hasSize(1024);
        assertThat(fixture.ranges())
                .filteredOn(range -> range.length() == SECTOR_SIZE)
                .hasSize(1024 - pages)
                .allSatisfy(range -> assertThat(range.offset() % MIB).isEqualTo(768 * KIB));
        assertThat(fixture.fetcher.statistics().bytesFetched())
                .isEqualTo(pages * MIB + (1024 - pages) * (long) SECTOR_SIZE);
    }

    @Test
    void read_randomAcrossSectorsAndPages_isOneGetFromItsStart() throws Exception {
        ObjectVersion version = fixture.put("object", 1024 * MIB);
        try (ObjectReader reader = fixture.fetcher.open(version)) {
            makeRandom(reader, version);
            readAndVerify(reader, version, 500 * MIB - 100 * KIB, (int) (256 * KIB));
        }
        assertThat(fixture.store.gets().getLast().range())
                .isEqualTo(new ByteRange(500 * MIB - 128 * KIB, 128 * KIB + 192 * KIB));
    }

    /** The kernel's reads around page faults, in a map of 1 GiB that is touched a hundred times. */
    @Test
    void read_faultsOfARandomMap_fetchAtMostTwiceTheUnitsTouched() throws Exception {
        ObjectVersion version = fixture.put("object", 1024 * MIB);
        RandomGenerator random = Seeded.random(11);
        Set<Long> touched = new HashSet<>();
        int around = (int) (256 * KIB);
        try (ObjectReader reader = fixture.fetcher.open(version)) {
            for (int i = 0; i < 100; i++) {
                long fault = around / 2 + random.nextLong((version.size() - around) / (4 * KIB)) * 4 * KIB;
                readAndVerify(reader, version, fault - around / 2, around);
                touched.add(fault / (256 * KIB));
            }
        }
        assertThat(fixture.fetcher.statistics().allGets()).isLessThanOrEqualTo(100);
        assertThat(fixture.fetcher.statistics().bytesFetched()).isLessThanOrEqualTo(2L * touched.size() * 256 * KIB);
    }

    @Test
    void read_secondMissInAPage_fetchesThePage() throws Exception {
        ObjectVersion version = fixture.put("object", 1024 * MIB);
        try (ObjectReader reader = fixture.fetcher.open(version)) {
            makeRandom(reader, version);
            int before = fixture.store.gets().size();
            for (long at : new long[] {0, 512 * KIB, 256 * KIB, 900 * KIB}) {
                readAndVerify(reader, version, 700 * MIB + at, (int) (4 * KIB));
            }
            assertThat(fixture.store.gets().stream().skip(before).map(Call.Get::range))
                    .containsExactly(new ByteRange(700 * MIB, SECTOR_SIZE), new ByteRange(700 * MIB, MIB));
        }
    }

    @Test
    void read_randomReadsOfSeveralRequests_fetchPages() throws Exception {
        ObjectVersion version = fixture.put("object", 1024 * MIB);
        try (ObjectReader reader = fixture.fetcher.open(version)) {
            for (int page : shuffled(200)) { // 256 KiB each, in the kernel's requests of 128 KiB
                readAndVerify(reader, version, page * 2L * MIB + 300 * KIB, REQUEST);
                readAndVerify(reader, version, page * 2L * MIB + 300 * KIB + REQUEST, REQUEST);
            }
        }
        assertThat(fixture.ranges())
                .hasSize(200)
                .allSatisfy(range -> assertThat(range.length()).isEqualTo(MIB));
    }

    /** Reads nothing above 100 MiB. */
    private static void makeRandom(ObjectReader reader, ObjectVersion version) throws Exception {
        for (int page : shuffled(2 * Streams.RANDOM_AFTER)) {
            readAndVerify(reader, version, page * 10L * MIB, 1);
        }
    }

    private static List<Integer> shuffled(int count) {
        List<Integer> all = new ArrayList<>(IntStream.range(0, count).boxed().toList());
        Collections.shuffle(all, Random.from(Seeded.random(7)));
        return all;
    }

    @Test
    void read_acrossPages_fetchesThemAtOnce() throws Exception {
        ObjectVersion version = fixture.put("object", 64 * MIB);
        try (ObjectReader reader = fixture.fetcher.open(version)) {
            readAndVerify(reader, version, 31 * MIB - 5, (int) (2 * MIB));
        }
        assertThat(fixture.ranges()).containsExactly(new ByteRange(30 * MIB, 2 * MIB), new ByteRange(32 * MIB, MIB));
    }

    @Test
    void read_footerFirst_fetchesOnePage() throws Exception {
        ObjectVersion version = fixture.put("table.parquet", 64 * MIB);
        try (ObjectReader reader = fixture.fetcher.open(version)) {
            readAndVerify(reader, version, version.size() - 8, 8);
            readAndVerify(reader, version, version.size() - 9_000, 8_992);
        }
        assertThat(fixture.ranges()).containsExactly(new ByteRange(63 * MIB, MIB));
    }

    @Test
    void read_smallFileAnywhere_fetchesItWholeInOneGet() throws Exception {
        ObjectVersion version = fixture.put("small", 3 * MIB + 17);
        try (ObjectReader reader = fixture.fetcher.open(version)) {
            readAndVerify(reader, version, version.size() - 22, 22);
            readInSequence(reader, version, 0, version.size());
        }
        assertThat(fixture.ranges()).containsExactly(new ByteRange(0, version.size()));
    }

    private void readAll(ObjectVersion version) throws Exception {
        try (ObjectReader reader = fixture.fetcher.open(version)) {
            readInSequence(reader, version, 0, version.size());
        }
    }

    @Test
    void adjust_rangeSize_isThatOfLaterGets() throws Exception {
        fixture.fetcher.adjust(new ReadaheadConfig(128 * MIB, 2 * MIB, 64, 0));
        readAll(fixture.put("narrow", 64 * MIB));
        assertThat(fixture.ranges())
                .allSatisfy(range -> assertThat(range.length()).isLessThanOrEqualTo(2 * MIB))
                .anySatisfy(range -> assertThat(range.length()).isEqualTo(2 * MIB));

        fixture.store.drain();
        fixture.fetcher.adjust(new ReadaheadConfig(128 * MIB, 16 * MIB, 64, 0));
        readAll(fixture.put("wide", 100 * MIB));
        assertThat(fixture.ranges())
                .anySatisfy(range -> assertThat(range.length()).isEqualTo(16 * MIB));
    }

    @Test
    void adjust_maxWindow_turnsReadaheadOffAndOn() throws Exception {
        fixture.fetcher.adjust(new ReadaheadConfig(0, 8 * MIB, 64, 0));
        readAll(fixture.put("first", 40 * MIB));
        assertThat(fixture.fetcher.statistics().readaheadBytes()).isZero();

        fixture.fetcher.adjust(CONFIG);
        readAll(fixture.put("second", 40 * MIB));
        assertThat(fixture.fetcher.statistics().readaheadBytes()).isPositive();
    }

    @Test
    void adjust_smallFile_isTheSizeUpToWhichAFileIsFetchedWhole() throws Exception {
        fixture.fetcher.adjust(new ReadaheadConfig(128 * MIB, 8 * MIB, 64, 0));
        ObjectVersion inPart = fixture.put("in part", 3 * MIB);
        try (ObjectReader reader = fixture.fetcher.open(inPart)) {
            readAndVerify(reader, inPart, inPart.size() - 22, 22);
        }
        assertThat(fixture.ranges())
                .hasSize(1)
                .allSatisfy(range -> assertThat(range.length()).isLessThan(inPart.size()));

        fixture.store.drain();
        fixture.fetcher.adjust(CONFIG);
        ObjectVersion whole = fixture.put("whole", 3 * MIB);
        try (ObjectReader reader = fixture.fetcher.open(whole)) {
            readAndVerify(reader, whole, whole.size() - 22, 22);
        }
        assertThat(fixture.ranges()).containsExactly(new ByteRange(0, whole.size()));
    }

    @Test
    void read_onePageBy64Readers_isOneGet() throws Exception {
        ObjectVersion version = fixture.put("object", 64 * MIB);
        List<Future<?>> reads = new ArrayList<>();
        try (Gate gate = fixture.delays.hold(call -> true)) {
            for (int i = 0; i < 64; i++) {
                int at = i * 4096;
                reads.add(inBackground(() -> {
                    try (ObjectReader reader = fixture.fetcher.open(version)) {
                        readAndVerify(reader, version, 32 * MIB + at, 4096);
                    }
                    return null;
                }));
            }
            FetcherFixture.await(
                    "all wait",
                    () -> fixture.cache.statistics().waits()
                                    + fixture.cache.statistics().misses()
                            >= 64);
            gate.awaitHeld(1);
        }
        for (Future<?> read : reads) {
            read.get();
        }
        assertThat(fixture.ranges()).hasSize(1);
    }

    @Test
    void read_ownBytesArrived_returnsWhileTheGetGoesOn() throws Exception {
        ObjectVersion version = fixture.put("small", 4 * MIB);
        try (ObjectReader reader = fixture.fetcher.open(version);
                Gate gate = fixture.delays.holdAfter(256 * KIB, call -> true)) {
            readAndVerify(reader, version, 0, (int) (256 * KIB));
            gate.awaitHeld(1);
            gate.advanceTo(2 * MIB);
            readAndVerify(reader, version, MIB + 5, (int) (512 * KIB));
            gate.awaitHeld(1);
            assertThat(fixture.store.gets()).hasSize(1);
        }
    }

    @Test
    void close_lastReader_cancelsReadahead() throws Exception {
        ObjectVersion version = fixture.put("object", 512 * MIB);
        try (Gate gate = fixture.delays.hold(from(2 * MIB))) {
            ObjectReader reader = fixture.fetcher.open(version);
            ObjectReader other = fixture.fetcher.open(version);
            readInSequence(reader, version, 0, 2 * MIB);
            gate.awaitHeld(2);
            int held = gate.held();
            reader.close();
            assertThat(gate.held()).isGreaterThanOrEqualTo(held);
            other.close();
            FetcherFixture.await("held GETs end", () -> fixture.store.getsInFlight() == 0);
            assertThat(fixture.fetcher.statistics().cancelledGets()).isGreaterThanOrEqualTo(held);
        }
        int before = fixture.store.gets().size();
        try (ObjectReader again = fixture.fetcher.open(version)) {
            readInSequence(again, version, 0, 2 * MIB);
            assertThat(fixture.store.gets().stream().skip(before))
                    .allMatch(get -> get.range().offset() >= 2 * MIB);
            readInSequence(again, version, 2 * MIB, 4 * MIB);
        }
    }

    @Test
    void open_soonAfterTheLastClose_continuesItsStreamAndGets() throws Exception {
        ObjectVersion version = fixture.put("object", 512 * MIB);
        try (PageFetcher lingering = fixture.lingering(Duration.ofHours(1));
                Gate gate = fixture.delays.hold(from(2 * MIB))) {
            leaveWhileReadingAhead(lingering, version, gate);
            assertThat(lingering.openObjects()).isOne();
            gate.open();
            FetcherFixture.await("GETs end", () -> fixture.store.getsInFlight() == 0);
            int before = fixture.store.gets().size();
            for (long at = 2 * MIB; at < 4 * MIB; at += FetcherFixture.REQUEST) {
                try (ObjectReader reader = lingering.open(version)) {
                    FetcherFixture.readAndVerify(reader, version, at, FetcherFixture.REQUEST);
                }
            }
            assertThat(fixture.store.gets().stream().skip(before))
                    .allMatch(get -> get.range().offset() >= 4 * MIB);
            assertThat(lingering.statistics().cancelledGets()).isZero();
        }
    }

    @Test
    void open_noReaderFollows_closesAndCancelsReadahead() throws Exception {
        ObjectVersion version = fixture.put("object", 512 * MIB);
        try (PageFetcher lingering = fixture.lingering(Duration.ofMillis(1));
                Gate gate = fixture.delays.hold(from(2 * MIB))) {
            leaveWhileReadingAhead(lingering, version, gate);
            FetcherFixture.await("it closes", () -> lingering.openObjects() == 0);
            FetcherFixture.await("held GETs end", () -> fixture.store.getsInFlight() == 0);
        }
    }

    @Test
    void close_anotherVersionFailsToClose_closesThisOneAnyway() throws Exception {
        ObjectVersion version = fixture.put("object", 512 * MIB);
        OpenVersion broken = brokenVersion(fixture.put("broken", 512 * MIB));
        try (PageFetcher lingering = fixture.lingering(Duration.ofMillis(100));
                Gate gate = fixture.delays.hold(from(2 * MIB))) {
            try (ObjectReader reader = lingering.open(version)) {
                readInSequence(reader, version, 0, 2 * MIB);
                gate.awaitHeld(2);
                lingering.closed(broken);
            }
            FetcherFixture.await("held GETs end", () -> fixture.store.getsInFlight() == 0);
            assertThat(lingering.openObjects()).isZero();
        } finally {
            broken.closePages();
        }
    }

    @SuppressWarnings("NullAway") // The missing part makes its close fail.
    private OpenVersion brokenVersion(ObjectVersion version) {
        CachedObject pages = fixture.cache.open("test", version);
        OpenVersion broken = new OpenVersion(pages, fixture.cache.openSectors(pages), null);
        broken.readers = 1;
        return broken;
    }

    /** The gate holds GETs from 2 MiB on. */
    private static void leaveWhileReadingAhead(PageFetcher fetcher, ObjectVersion version, Gate gate) throws Exception {
        try (ObjectReader reader = fetcher.open(version)) {
            readInSequence(reader, version, 0, 2 * MIB);
            gate.awaitHeld(2);
        }
    }

    @Test
    void open_againAndAgain_keepsOneThreadToClose() throws Exception {
        ObjectVersion version = fixture.put("object", 512 * MIB);
        try (PageFetcher lingering = fixture.lingering(Duration.ofHours(1))) {
            for (int i = 0; i < 100; i++) {
                lingering.open(version).close();
            }
            Path dump = directory.resolve("threads");
            ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class)
                    .dumpThreads(dump.toString(), HotSpotDiagnosticMXBean.ThreadDumpFormat.JSON);
            assertThat(Files.readString(dump).split("\"name\": \"fetch-", -1)).hasSize(2);
        }
    }

    @Test
    void close_fetcher_endsGetsAndLeavesWhatIsCached() throws Exception {
        ObjectVersion version = fixture.put("object", 512 * MIB);
        try (Gate gate = fixture.delays.hold(from(2 * MIB));
                ObjectReader reader = fixture.fetcher.open(version)) {
            readInSequence(reader, version, 0, 2 * MIB);
            gate.awaitHeld(2);
            fixture.fetcher.close();
            assertThat(fixture.store.getsInFlight()).isZero();
            readAndVerify(reader, version, MIB, 100);
            assertThatExceptionOfType(ObjectStoreException.Unavailable.class)
                    .isThrownBy(() -> reader.read(100 * MIB, ByteBuffer.allocate(1), null, true));
        }
    }

    @Test
    void read_demandFails_allWhoWaitGetTheError() throws Exception {
        ObjectVersion version = fixture.put("object", 64 * MIB);
        fixture.faults.next(call -> true, Fault.fail(ObjectStoreException.Throttled::new));
        List<Future<?>> reads = new ArrayList<>();
        try (ObjectReader reader = fixture.fetcher.open(version)) {
            try (Gate gate = fixture.delays.hold(call -> true)) {
                for (int i = 0; i < 8; i++) {
                    reads.add(inBackground(() -> reader.read(0, ByteBuffer.allocate(100), null, true)));
                }
                FetcherFixture.await(
                        "all wait", () -> fixture.cache.statistics().waits() >= 8);
                gate.awaitHeld(1);
            }
            for (Future<?> read : reads) {
                assertThatThrownBy(read::get).cause().isInstanceOf(ObjectStoreException.Throttled.class);
            }
            assertThat(fixture.store.gets()).hasSize(1);
            readAndVerify(reader, version, 0, 100);
        }
        assertThat(fixture.fetcher.statistics().failedGets()).isEqualTo(1);
    }

    @Test
    void read_objectChanged_isPreconditionFailed() throws Exception {
        ObjectVersion version = fixture.put("object", 64 * MIB);
        fixture.bucket.put("object", new TestData("object", 64 * MIB, 1));
        try (ObjectReader reader = fixture.fetcher.open(version)) {
            for (int i = 0; i < 50; i++) { // without a wait as well as after one
                assertThatExceptionOfType(ObjectStoreException.PreconditionFailed.class)
                        .isThrownBy(() -> reader.read(0, ByteBuffer.allocate(100), null, true));
            }
        }
        assertThat(fixture.store.gets()).hasSize(50);
    }

    @Test
    void read_readaheadFails_readerAsksForItself() throws Exception {
        ObjectVersion version = fixture.put("object", 32 * MIB);
        fixture.faults.next(3, from(MIB), new Fault.Fail(300 * KIB, ObjectStoreException.Unavailable::new));
        try (ObjectReader reader = fixture.fetcher.open(version)) {
            for (long at = 0; at < version.size(); at += REQUEST) {
                try {
                    readAndVerify(reader, version, at, REQUEST);
                } catch (ObjectStoreException.Unavailable e) {
                    throw new AssertionError("readahead's failure reached the reader at " + at, e);
                }
                if (at == MIB - REQUEST) {
                    FetcherFixture.await("readahead fails", () -> fixture.faults.injected() == 3);
                }
            }
        }
        assertThat(fixture.fetcher.statistics().failedGets()).isEqualTo(3);
    }

    @Test
    void read_withinAnotherCall_hasItsDeadline() throws Exception {
        ObjectVersion version = fixture.put("object", 64 * MIB);
        Deadline deadline = RetryPolicy.DEFAULT.forWriting();
        try (ObjectReader reader = fixture.fetcher.open(version)) {
            deadline.call(() -> {
                readAndVerify(reader, version, 30 * MIB, 1000);
                return null;
            });
        }
        assertThat(fixture.store.deadlines()).containsExactly(deadline);
    }

    @Test
    void read_missingPages_haveOneDeadline() throws Exception {
        ObjectVersion version = fixture.put("object", 64 * MIB);
        try (ObjectReader reader = fixture.fetcher.open(version)) {
            readAndVerify(reader, version, 30 * MIB, 20 * (int) MIB);
        }
        assertThat(fixture.store.gets()).hasSizeGreaterThan(1);
        assertThat(fixture.store.deadlines()).hasSize(1);
    }

    @Test
    void read_waitsForReadaheadThatFails_getsItsBytes() throws Exception {
        ObjectVersion version = fixture.put("object", 64 * MIB);
        fixture.faults.next(from(MIB), Fault.fail(ObjectStoreException.Unavailable::new));
        try (ObjectReader reader = fixture.fetcher.open(version)) {
            Future<?> waiting;
            try (Gate gate = fixture.delays.hold(from(MIB))) {
                readInSequence(reader, version, 0, MIB);
                gate.awaitHeld(1);
                long first = fixture.ranges().get(1).offset();
                long waits = fixture.cache.statistics().waits();
                waiting = inBackground(() -> {
                    readAndVerify(reader, version, first, 1000);
                    return null;
                });
                FetcherFixture.await(
                        "it waits", () -> fixture.cache.statistics().waits() > waits);
            }
            waiting.get();
        }
    }

    @Test
    void read_storeThrowsTheUnforeseen_isUnavailable() throws Exception {
        ObjectVersion version = fixture.put("object", 64 * MIB);
        fixture.faults.next(call -> true, Fault.fail((message, cause) -> {
            throw new IllegalStateException(message);
        }));
        try (ObjectReader reader = fixture.fetcher.open(version)) {
            assertThatExceptionOfType(ObjectStoreException.Unavailable.class)
                    .isThrownBy(() -> reader.read(0, ByteBuffer.allocate(1), null, true))
                    .withMessageContaining("object");
            readAndVerify(reader, version, 0, 1);
        }
    }

    @Test
    void read_interrupted_endsAndOthersGoOn() throws Exception {
        ObjectVersion version = fixture.put("object", 64 * MIB);
        try (ObjectReader reader = fixture.fetcher.open(version)) {
            Future<?> other;
            try (Gate gate = fixture.delays.hold(call -> true)) {
                Future<?> interrupted = inBackground(() -> reader.read(0, ByteBuffer.allocate(1), null, true));
                FetcherFixture.await(
                        "it waits", () -> fixture.cache.statistics().waits() == 1);
                other = inBackground(() -> {
                    readAndVerify(reader, version, 1, 100);
                    return null;
                });
                FetcherFixture.await(
                        "both wait", () -> fixture.cache.statistics().waits() == 2);
                interrupted.cancel(true);
                gate.awaitHeld(1);
            }
            other.get();
        }
        assertThat(fixture.store.gets()).hasSize(1);
    }

    private static int readNow(ObjectReader reader, long position, ByteBuffer to) {
        try {
            return reader.read(position, to, null, false);
        } catch (ObjectStoreException | InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void readNow_notInMemory_leavesTheBufferAndFetchesNothing() {
        ObjectVersion version = fixture.put("object", 64 * MIB);
        try (ObjectReader reader = fixture.fetcher.open(version)) {
            ByteBuffer buffer = ByteBuffer.allocate(100).position(10);
            assertThat(readNow(reader, 0, buffer)).isEqualTo(NoWait.WOULD_WAIT);
            assertThat(buffer.position()).isEqualTo(10);
            assertThat(readNow(reader, version.size(), buffer)).isZero();
        }
        assertThat(fixture.store.calls()).isEmpty();
    }

    @Test
    void readNow_streamServedFromMemory_goesOnReadingAhead() throws Exception {
        ObjectVersion version = fixture.put("object", 512 * MIB);
        try (ObjectReader reader = fixture.fetcher.open(version)) {
            readInSequence(reader, version, 0, 4 * MIB);
            ByteBuffer buffer = ByteBuffer.allocate(REQUEST);
            for (long at = 4 * MIB; at < 64 * MIB; at += REQUEST) {
                long position = at;
                FetcherFixture.await("readahead brings " + at, () -> readNow(reader, position, buffer.clear()) > 0);
                TestData.of("object", version.size()).verify(at, buffer.flip());
            }
        }
        assertThat(fixture.fetcher.statistics().demandGets()).isLessThanOrEqualTo(5);
    }

    @Test
    void read_manyReaders_getsAreBounded() throws Exception {
        try (FetcherFixture narrow = new FetcherFixture(
                directory.resolve("narrow"), new ReadaheadConfig(32 * MIB, 2 * MIB, 8, 0), 512 * MIB, 256 * MIB)) {
            List<Future<?>> reads = new ArrayList<>();
            for (int i = 0; i < 6; i++) {
                ObjectVersion version = narrow.put("object" + i, 12 * MIB);
                reads.add(inBackground(() -> {
                    try (ObjectReader reader = narrow.fetcher.open(version)) {
                        readInSequence(reader, version, 0, version.size());
                    }
                    return null;
                }));
            }
            for (Future<?> read : reads) {
                read.get();
            }
            assertThat(narrow.store.mostGetsInFlight()).isLessThanOrEqualTo(8);
        }
    }

    @Test
    void readAhead_twoFiles_takeTurns() throws Exception {
        // One GET at a time, so that the order of GETs does not depend on threads.
        try (FetcherFixture narrow = new FetcherFixture(
                directory.resolve("narrow"), new ReadaheadConfig(32 * MIB, MIB, 1, 0), 512 * MIB, 256 * MIB)) {
            ObjectVersion first = narrow.put("first", 256 * MIB);
            ObjectVersion second = narrow.put("second", 256 * MIB);
            try (ObjectReader a = narrow.fetcher.open(first);
                    ObjectReader b = narrow.fetcher.open(second)) {
                readInSequence(a, first, 0, 2 * MIB);
                readInSequence(b, second, 0, 2 * MIB);
                FetcherFixture.await("first windows are full", () -> narrow.fetcher.running() == 0);
                narrow.store.drain();
                try (Gate gate = narrow.delays.hold(call -> true)) {
                    readInSequence(a, first, 2 * MIB, 8 * MIB);
                    readInSequence(b, second, 2 * MIB, 8 * MIB);
                    gate.awaitHeld(1);
                    assertThat(narrow.store.gets("second")).isEmpty();
                }
                FetcherFixture.await(
                        "second's turn comes",
                        () -> narrow.store.gets("second").size() >= 8
                                && narrow.store.gets().size() >= 24);
                List<String> order =
                        narrow.store.gets().stream().map(Call.Get::key).toList();
                assertThat(order.subList(1, 17))
                        .as("after the first's that was held")
                        .filteredOn("second"::equals)
                        .hasSize(8);
            }
        }
    }

    @Test
    void read_memoryShort_readsAllTheSame() throws Exception {
        try (FetcherFixture poor = new FetcherFixture(directory.resolve("poor"), CONFIG, 512 * MIB, 4 * MIB)) {
            ObjectVersion version = poor.put("object", 40 * MIB);
            try (ObjectReader reader = poor.fetcher.open(version)) {
                readInSequence(reader, version, 0, version.size());
            }
            // Demand may have evicted pages that were read ahead.
            assertThat(poor.fetcher.statistics().bytesFetched()).isBetween(version.size(), 2 * version.size());
        }
    }

    private static Predicate<Call> from(long offset) {
        return call -> call instanceof Call.Get get && get.range().offset() >= offset;
    }

    private Future<?> inBackground(Callable<?> task) {
        return threads.submit(task);
    }
}

package io.penstock.prefetch;

import static io.penstock.prefetch.FetcherFixture.KIB;
import static io.penstock.prefetch.FetcherFixture.MIB;
import static io.penstock.prefetch.FetcherFixture.readAndVerify;
import static io.penstock.prefetch.FetcherFixture.readInSequence;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.Call;
import io.penstock.testing.Gate;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.FutureTask;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What is remembered of a version's reads. */
@Timeout(60)
class LastReadsTest {
    private static final ReadaheadConfig CONFIG = new ReadaheadConfig(8 * MIB, 8 * MIB, 1, MIB);

    @TempDir
    private Path folder;

    private FetcherFixture fixture;

    @BeforeEach
    void open() throws IOException {
        fixture = new FetcherFixture(folder, CONFIG, 512 * MIB, 64 * MIB);
    }

    @AfterEach
    void close() {
        fixture.close();
    }

    private LastReads lastReads(ObjectVersion version) {
        return fixture.fetcher.readState(version).lastReads();
    }

    @Test
    void readState_neverRead_hasNone() {
        ObjectVersion version = fixture.put("a", MIB);

        assertThat(lastReads(version)).isEqualTo(new LastReads(Map.of(), 0, 0, 0, FetchedAhead.NOT));
    }

    @Test
    void readState_missedThenInMemory_hasBothAlsoOnceItIsClosed() throws Exception {
        ObjectVersion version = fixture.put("a", 300 * KIB);
        try (ObjectReader reader = fixture.fetcher.open(version)) {
            readAndVerify(reader, version, 0, 1000);
            readAndVerify(reader, version, 0, 1000);
            assertThat(reader.read(1000, ByteBuffer.allocate(1000), null, false))
                    .isEqualTo(1000);
        }

        LastReads reads = lastReads(version);
        assertThat(reads.sources()).isEqualTo(Map.of(ReadSource.STORE, 1, ReadSource.MEMORY, 2));
        assertThat(reads.storeNanos()).isPositive();
        assertThat(reads.nvmeNanos()).isZero();

        try (ObjectReader reader = fixture.fetcher.open(version)) {
            readAndVerify(reader, version, 0, 1000);
        }
        assertThat(lastReads(version).sources()).isEqualTo(Map.of(ReadSource.STORE, 1, ReadSource.MEMORY, 3));
    }

    /** Both reads end with the fetch, so one of them may be lost: then the test tries two other reads. */
    @Test
    void readState_fetchUnderWay_hasTheReadThatWaitedForIt() throws Exception {
        Map<ReadSource, Integer> both = Map.of(ReadSource.STORE, 1, ReadSource.IN_FLIGHT, 1);
        Map<ReadSource, Integer> seen = sourcesOfTwoReads("0");
        for (int i = 1; i < 50 && seen.size() < both.size(); i++) {
            seen = sourcesOfTwoReads(Integer.toString(i));
        }
        assertThat(seen).isEqualTo(both);
    }

    /** Reads a new object twice; the second read finds the fetch in flight. */
    private Map<ReadSource, Integer> sourcesOfTwoReads(String key) throws Exception {
        ObjectVersion version = fixture.put(key, 300 * KIB);
        try (ObjectReader reader = fixture.fetcher.open(version);
                Gate gate = fixture.delays.hold(Call.Get.class::isInstance)) {
            long before = fixture.cache.statistics().waits();
            Thread first = reads(reader, version);
            gate.awaitHeld(1);
            Thread second = reads(reader, version);
            FetcherFixture.await(
                    "both reads wait", () -> fixture.cache.statistics().waits() == before + 2);
            gate.open();
            first.join();
            second.join();
            return lastReads(version).sources();
        }
    }

    @Test
    void readState_turnOfItsGetWaitedFor_hasThatTimeAsOneOfLimits() throws Exception {
        ObjectVersion held = fixture.put("held", 300 * KIB);
        ObjectVersion version = fixture.put("a", 300 * KIB);
        try (ObjectReader other = fixture.fetcher.open(held);
                ObjectReader reader = fixture.fetcher.open(version);
                Gate gate = fixture.delays.hold(call -> call.isGetOf("held"))) {
            Thread first = reads(other, held);
            gate.awaitHeld(1);
            Thread second = reads(reader, version);
            FetcherFixture.await("the GET waits for its turn", () -> fixture.fetcher.waiting() == 1);
            gate.open();
            first.join();
            second.join();
            assertThat(lastReads(version).limitNanos()).isPositive();
            assertThat(fixture.fetcher.statistics().turnNanos()).isPositive();
            assertThat(lastReads(held).limitNanos()).isZero();
        }
    }

    private static Thread reads(ObjectReader reader, ObjectVersion version) {
        return Thread.ofPlatform().daemon().start(new FutureTask<>(() -> {
            readAndVerify(reader, version, 0, 1000);
            return true;
        }));
    }

    @Test
    void readState_readInSequence_wasFetchedAheadByAStream() throws Exception {
        ObjectVersion version = fixture.put("a", 40 * MIB);
        try (ObjectReader reader = fixture.fetcher.open(version)) {
            readInSequence(reader, version, 0, 40 * MIB);
        }

        assertThat(lastReads(version).ahead()).isEqualTo(FetchedAhead.STREAM);
    }

    @Test
    void readState_broughtIn_wasFetchedAheadByThat() throws Exception {
        ObjectVersion version = fixture.put("a", 3 * MIB);
        try (Warmup warmup = new Warmup(fixture.fetcher, new Pace(0, System::nanoTime), (_, _, _) -> {})) {
            warmup.bring(version);
            warmup.finish();
        }

        assertThat(lastReads(version)).isEqualTo(new LastReads(Map.of(), 0, 0, 0, FetchedAhead.WARMUP));
    }

    private List<ObjectVersion> files() {
        return IntStream.range(0, 200)
                .mapToObj(index -> fixture.put("d/%03d".formatted(index), 1000))
                .toList();
    }

    private List<FetchedAhead> whys(List<ObjectVersion> read, List<ObjectVersion> files) throws Exception {
        try (PageFetcher fetcher = fixture.knowing(CONFIG, _ -> new FakeDirectory(files, true))) {
            for (ObjectVersion file : read) {
                try (ObjectReader reader = fetcher.open(file)) {
                    readAndVerify(reader, file, 0, 1000);
                }
            }
            FetcherFixture.await("GETs end", () -> fetcher.running() == 0 && fetcher.openObjects() == 0);
            return files.stream()
                    .map(file -> fetcher.readState(file).lastReads().ahead())
                    .distinct()
                    .toList();
        }
    }

    @Test
    void readState_directorysFilesInOrder_reportsFetchesInOrder() throws Exception {
        List<ObjectVersion> files = files();

        assertThat(whys(files.subList(0, 20), files))
                .containsExactlyInAnyOrder(FetchedAhead.NOT, FetchedAhead.DIRECTORY_ORDER);
    }

    @Test
    void readState_ofADirectorysFilesAtRandom_saysThatAllAreFetched() throws Exception {
        List<ObjectVersion> files = files();
        List<ObjectVersion> shuffled = new ArrayList<>(files);
        Collections.shuffle(shuffled, new Random(3));

        assertThat(whys(shuffled.subList(0, 60), files)) // some of these are near each other by chance
                .contains(FetchedAhead.NOT, FetchedAhead.WHOLE_DIRECTORY)
                .doesNotContain(FetchedAhead.EPOCH_ORDER);
    }
}

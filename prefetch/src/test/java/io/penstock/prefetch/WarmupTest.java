package io.penstock.prefetch;

import static io.penstock.prefetch.FetcherFixture.MIB;
import static io.penstock.prefetch.FetcherFixture.readAndVerify;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.penstock.cache.CacheConfig;
import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.Call;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.prefetch.Warmup.Outcome;
import io.penstock.testing.Fault;
import io.penstock.testing.Gate;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Data is brought in before it is read. */
@Timeout(60)
class WarmupTest {
    private static final ReadaheadConfig CONFIG = new ReadaheadConfig(8 * MIB, 8 * MIB, 8, MIB);
    private static final String NAMESPACE = "memory/bucket";

    @TempDir
    private Path folder;

    private FetcherFixture fixture;
    private final Map<String, Outcome> outcomes = new LinkedHashMap<>();

    @BeforeEach
    void open() throws IOException {
        fixture = new FetcherFixture(folder, CONFIG, 64 * MIB, 16 * MIB);
    }

    @AfterEach
    void close() {
        fixture.close();
    }

    private long warm(List<ObjectVersion> versions) throws InterruptedException {
        try (Warmup warmup = new Warmup(fixture.fetcher, new Pace(0, System::nanoTime), this::told)) {
            for (ObjectVersion version : versions) {
                warmup.bring(version);
            }
            warmup.finish();
            return warmup.bytes();
        }
    }

    private void told(ObjectVersion version, Outcome outcome, @Nullable Exception why) {
        outcomes.put(version.key(), outcome);
    }

    private long onDisk(ObjectVersion version) {
        return fixture.cache.residency(NAMESPACE, version).diskBytes();
    }

    private List<ObjectVersion> files(int small, int large) {
        List<ObjectVersion> files = new ArrayList<>();
        IntStream.range(0, small).forEach(i -> files.add(fixture.put("small/%03d".formatted(i), 10_000 + i)));
        IntStream.range(0, large).forEach(i -> files.add(fixture.put("large/%03d".formatted(i), 9 * MIB + i)));
        files.add(fixture.put("empty", 0));
        return files;
    }

    @Test
    void bring_filesOfAllSizes_haveAllOfThemOnDisk() throws Exception {
        List<ObjectVersion> files = files(100, 4);
        assertThat(warm(files))
                .isEqualTo(files.stream().mapToLong(ObjectVersion::size).sum());
        assertThat(files).allSatisfy(file -> assertThat(onDisk(file)).isEqualTo(file.size()));
        assertThat(outcomes).hasSize(files.size()).containsEntry("empty", Outcome.CACHED);
        outcomes.remove("empty");
        assertThat(outcomes.values()).containsOnly(Outcome.FETCHED);
        assertThat(fixture.store.gets()).hasSize(100 + 2 * 4); // 8 MiB and the rest
    }

    @Test
    void bring_whatIsThereInPart_fetchesTheRestOnly() throws Exception {
        List<ObjectVersion> files = files(10, 1);
        try (ObjectReader reader = fixture.fetcher.open(files.get(3))) {
            readAndVerify(reader, files.get(3), 0, 100);
        }
        warm(files);
        assertThat(fixture.store.gets()).hasSize(10 + 2);
        outcomes.clear();
        long bytes = warm(files);
        assertThat(fixture.store.gets()).hasSize(10 + 2);
        assertThat(outcomes.values()).containsOnly(Outcome.CACHED);
        assertThat(bytes)
                .isEqualTo(files.stream().mapToLong(ObjectVersion::size).sum());
    }

    @Test
    void bring_moreThanTheCacheHolds_bringsTheFirstAndLeavesTheRest() throws Exception {
        List<ObjectVersion> files = files(0, 12); // 108 MiB
        warm(files);
        List<String> left = outcomes.entrySet().stream()
                .filter(each -> each.getValue() == Outcome.NO_ROOM)
                .map(Map.Entry::getKey)
                .toList();
        assertThat(left).startsWith("large/006").hasSize(6);
        assertThat(files.subList(0, 6))
                .allSatisfy(file -> assertThat(onDisk(file)).isEqualTo(file.size()));
    }

    @Test
    void bring_whatChangesAndVanishesAndFails_bringsTheOthers() throws Exception {
        List<ObjectVersion> files = files(5, 0);
        fixture.bucket.putTestData("small/001", 20_000);
        fixture.bucket.delete("small/002");
        fixture.faults.always(
                call -> call instanceof Call.Get get && get.key().equals("small/003"),
                Fault.fail(ObjectStoreException.Unavailable::new));
        warm(files);
        assertThat(outcomes)
                .containsEntry("small/000", Outcome.FETCHED)
                .containsEntry("small/001", Outcome.CHANGED)
                .containsEntry("small/002", Outcome.GONE)
                .containsEntry("small/003", Outcome.FAILED)
                .containsEntry("small/004", Outcome.FETCHED);
    }

    @Test
    void bring_besideASickDisk_fetchesNothing() throws Exception {
        Path objects = folder.resolve("cache/objects");
        Files.delete(objects);
        Files.createFile(objects);
        warm(files(10, 0)); // finds that the disk is sick
        assertThat(outcomes.values()).contains(Outcome.NOT_STORED);
        int before = fixture.store.gets().size();

        ObjectVersion large = fixture.put("large", 40 * MIB);
        warm(List.of(large, fixture.put("none", 0)));

        assertThat(outcomes).containsEntry("large", Outcome.NOT_STORED).containsEntry("none", Outcome.CACHED);
        assertThat(fixture.store.gets()).hasSize(before);
    }

    @Test
    void bring_diskBecomesFull_fetchesAllOnceAndTheStartTwice() throws Exception {
        ObjectVersion large = fixture.put("large", 40 * MIB);
        try (Gate gate = fixture.delays.hold(Call.Get.class::isInstance)) {
            CompletableFuture<@Nullable Throwable> end = new CompletableFuture<>();
            Thread _ = Thread.ofVirtual().start(() -> end.complete(catchThrowable(() -> warm(List.of(large)))));
            gate.awaitHeld(1);
            fixture.cache.adjust(
                    new CacheConfig(folder.resolve("cache"), 64 * MIB, Long.MAX_VALUE / 2, 16 * MIB)); // must stay free
            FetcherFixture.await("nothing fits", () -> fixture.cache.roomBytes() == 0);
            gate.open();
            assertThat(end.get()).isNull();
        }
        assertThat(outcomes).containsEntry("large", Outcome.NOT_STORED);
        assertThat(fixture.store.gets()).hasSizeBetween(5 + 1, 5 + 3);
    }

    @Test
    void bring_interruptedWhileAReaderWaits_leavesTheReaderItsGet() throws Exception {
        List<ObjectVersion> files = files(50, 4);
        try (Gate gate = fixture.delays.hold(Call.Get.class::isInstance)) {
            CompletableFuture<Throwable> end = new CompletableFuture<>();
            Thread job = Thread.ofVirtual().start(() -> end.complete(catchThrowable(() -> warm(files))));
            gate.awaitHeld(7); // one of eight GETs is for readers
            ObjectVersion wanted = files.get(40);
            try (ObjectReader reader = fixture.fetcher.open(wanted)) {
                CompletableFuture<@Nullable Throwable> read = new CompletableFuture<>();
                Thread _ = Thread.ofVirtual()
                        .start(() -> read.complete(catchThrowable(() -> readAndVerify(reader, wanted, 0, 100))));
                gate.awaitHeld(8);
                job.interrupt();
                assertThat(end.get()).isInstanceOf(InterruptedException.class);
                gate.open();
                assertThat(read.get()).isNull();
            }
        }
        assertThat(fixture.cache.pins().room().pinned()).isZero();
    }

    @Test
    void pace_piecesOfABandwidth_waitsAsLongAsTheyTake() {
        AtomicLong now = new AtomicLong(5);
        Pace pace = new Pace(MIB, now::get);
        assertThat(pace.nanosToWait()).isNotPositive();
        pace.take(2 * MIB);
        assertThat(pace.nanosToWait()).isEqualTo(TimeUnit.SECONDS.toNanos(2));
        now.addAndGet(TimeUnit.SECONDS.toNanos(3));
        pace.take(MIB);
        assertThat(pace.nanosToWait()).isEqualTo(TimeUnit.SECONDS.toNanos(1));
    }

    @Test
    void pace_withoutALimit_neverWaits() {
        Pace pace = new Pace(0, System::nanoTime);
        pace.take(1L << 50);
        assertThat(pace.nanosToWait()).isNotPositive();
    }
}

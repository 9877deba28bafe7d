package io.penstock.cache;

import static io.penstock.cache.PageCache.PAGE_SIZE;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.cache.CachedObject.FromDisk;
import io.penstock.cache.PageCache.Environment;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * How much of a data set that is read repeatedly comes from the cache: recorded epochs against a store that counts
 * fetched pages, and a disk without bytes.
 */
@Timeout(120)
final class EpochsTest {
    private static final long SEED = 20_260_102;

    /** Pages per extent, and per object. */
    private static final int EXTENT_PAGES = 8;

    /** The capacity of the cache. */
    private static final int EXTENTS = 128;

    /** The size of a small object. */
    private static final int SAMPLE_BYTES = 400_000 / 4096 * 4096;

    /** The size of the kernel's requests. */
    private static final int READ_BYTES = 128 << 10;

    @TempDir
    Path directory;

    private final ByteBuffer buffer = ByteBuffer.allocateDirect(READ_BYTES);

    private PageCache open() throws IOException {
        CacheConfig config =
                new CacheConfig(directory, (long) EXTENTS * EXTENT_PAGES * PAGE_SIZE, 0, 2L * EXTENT_PAGES * PAGE_SIZE);
        return PageCache.open(config, new Environment(none -> new NoFiles(), System::nanoTime, EXTENT_PAGES));
    }

    private static List<TestObject> dataSet(String name, double timesTheCache) {
        return IntStream.range(0, (int) (timesTheCache * EXTENTS))
                .mapToObj(i -> new TestObject(name + i, (long) EXTENT_PAGES * PAGE_SIZE))
                .toList();
    }

    /** Small objects, which are stored in packs. */
    private static List<TestObject> samples(String name, double timesTheCache) {
        int inAnExtent = EXTENT_PAGES * PAGE_SIZE / SAMPLE_BYTES;
        return IntStream.range(0, (int) (timesTheCache * EXTENTS * inAnExtent))
                .mapToObj(i -> new TestObject(name + i, SAMPLE_BYTES))
                .toList();
    }

    /** Reads each object from start to end. Returns the fraction of pages that were not fetched. */
    private double readAll(PageCache cache, List<TestObject> objects) throws Exception {
        int fetched = 0;
        for (TestObject object : objects) {
            try (CachedObject open = object.open(cache)) {
                for (int page = 0; page < object.pages(); page++) {
                    fetched += readPage(open, page, object);
                }
            }
            cache.awaitWritten(); // else the machine's speed would decide what waits in memory
        }
        return 1
                - fetched
                        / (double) objects.stream().mapToInt(TestObject::pages).sum();
    }

    /** Returns the number of pages fetched for it. */
    private int readPage(CachedObject open, int page, TestObject object) throws Exception {
        int fetched = 0;
        int length = (int) Math.min(PAGE_SIZE, object.size() - (long) page * PAGE_SIZE);
        for (int offset = 0; offset < length; offset += READ_BYTES) {
            while (open.read((long) page * PAGE_SIZE + offset, buffer.clear(), null, FromDisk.REQUESTED)
                    == CachedObject.MISSING) {
                TestObject.claimed(open, page, page + 1L).filled(length);
                fetched++;
            }
        }
        return fetched;
    }

    /** The hit rates from the third epoch on. */
    private List<Double> laterEpochs(List<TestObject> objects, boolean shuffled) throws Exception {
        List<TestObject> order = new ArrayList<>(objects);
        Random random = new Random(SEED);
        List<Double> rates = new ArrayList<>();
        try (PageCache cache = open()) {
            for (int epoch = 1; epoch <= 5; epoch++) {
                if (shuffled) {
                    Collections.shuffle(order, random);
                }
                double rate = readAll(cache, order);
                if (epoch >= 3) {
                    rates.add(rate);
                }
            }
        }
        return rates;
    }

    private static void assertEach(List<Double> rates, double least) {
        assertThat(rates).allSatisfy(rate -> assertThat(rate).isGreaterThanOrEqualTo(least));
    }

    /** If data sets are read repeatedly in the same order, Belady's policy keeps all that fits except one extent. */
    @ParameterizedTest
    @ValueSource(doubles = {0.5, 1.2, 2, 5})
    void epochs_inOrder_comeFromTheCacheForNineTenthsOfTheOptimum(double timesTheCache) throws Exception {
        List<TestObject> objects = dataSet("a", timesTheCache);
        double optimum = Math.min(1, (EXTENTS - 1) / (objects.size() - 1.0));
        assertEach(laterEpochs(objects, false), 0.9 * optimum);
    }

    /** Without knowledge of the next order, no policy is expected to do better than to keep as much as fits. */
    @ParameterizedTest
    @ValueSource(doubles = {0.5, 1.2, 2, 5})
    void epochs_shuffled_comeFromTheCacheForNearlyWhatFits(double timesTheCache) throws Exception {
        List<TestObject> objects = dataSet("a", timesTheCache);
        double fits = Math.min(1, EXTENTS / (double) objects.size());
        assertEach(laterEpochs(objects, true), 0.95 * fits);
    }

    @ParameterizedTest
    @ValueSource(doubles = {0.5, 1.2, 2})
    void epochs_smallObjectsInOrder_hitNineTenthsOfTheOptimum(double timesTheCache) throws Exception {
        double optimum = Math.min(1, 1 / timesTheCache);
        assertEach(laterEpochs(samples("a", timesTheCache), false), 0.9 * optimum);
    }

    @ParameterizedTest
    @ValueSource(doubles = {0.5, 1.2, 2})
    void epochs_smallObjectsShuffled_hitNearlyAllThatFits(double timesTheCache) throws Exception {
        double fits = Math.min(1, 1 / timesTheCache);
        assertEach(laterEpochs(samples("a", timesTheCache), true), 0.95 * fits);
    }

    @Test
    void scan_ofTwiceWhatFits_leavesTheHotSet() throws Exception {
        List<TestObject> hot = dataSet("hot", 0.5);
        try (PageCache cache = open()) {
            for (int epoch = 1; epoch <= 3; epoch++) {
                readAll(cache, hot);
            }
            readAll(cache, dataSet("scan", 2));
            assertThat(readAll(cache, hot)).isGreaterThanOrEqualTo(0.95);
        }
    }

    /** Small objects are stored in extents without a history; only their previous extents have one. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void epochs_anotherDataSetThatFits_hitFromTheFourthOn(boolean small) throws Exception {
        List<TestObject> old = small ? samples("old", 1) : dataSet("old", 1);
        List<TestObject> next = small ? samples("next", 0.8) : dataSet("next", 0.8);
        try (PageCache cache = open()) {
            for (int epoch = 1; epoch <= 5; epoch++) {
                readAll(cache, old);
            }
            for (int epoch = 1; epoch <= 3; epoch++) {
                readAll(cache, next);
            }
            assertThat(readAll(cache, next)).isGreaterThanOrEqualTo(0.95);
        }
    }

    @Test
    void epochs_anotherDataSetOfTwiceTheSize_hitFromTheSixthOn() throws Exception {
        List<TestObject> next = dataSet("next", 2);
        try (PageCache cache = open()) {
            for (int epoch = 1; epoch <= 5; epoch++) {
                readAll(cache, dataSet("old", 1));
            }
            for (int epoch = 1; epoch <= 5; epoch++) {
                readAll(cache, next);
            }
            assertThat(readAll(cache, next)).isGreaterThanOrEqualTo(0.38);
        }
    }
}

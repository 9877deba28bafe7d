package io.penstock.cache;

import static io.penstock.cache.PageCache.PAGE_SIZE;
import static io.penstock.cache.TestObject.claimed;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.cache.CachedObject.FromDisk;
import io.penstock.core.ByteRange;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Who gets memory when it is short. */
@Timeout(60)
final class MemoryBudgetTest {
    private static final int MEMORY_PAGES = 8;
    private static final TestObject OBJECT = new TestObject("object", 64L * PAGE_SIZE);

    @TempDir
    Path directory;

    private PageCache cache;
    private CachedObject open;
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

    @BeforeEach
    void openCache() throws IOException {
        cache = PageCache.open(new CacheConfig(directory, 1L << 30, 0, (long) MEMORY_PAGES * PAGE_SIZE));
        open = OBJECT.open(cache);
    }

    @AfterEach
    void closeCache() {
        threads.close();
        open.close();
        cache.close();
        assertThat(cache.busyBytes()).as("memory that was not given back").isZero();
    }

    @Test
    void claim_moreThanTheBudget_endsTheRunThere() throws Exception {
        Fill fill = claimed(open, 0, 64);
        assertThat(fill.range()).isEqualTo(new ByteRange(0, (long) MEMORY_PAGES * PAGE_SIZE));
        assertThat(open.state(MEMORY_PAGES)).isEqualTo(PageState.MISSING);
        OBJECT.fill(fill, PAGE_SIZE);
    }

    private void adjustMemory(int pages) {
        cache.adjust(new CacheConfig(directory, 1L << 30, 0, (long) pages * PAGE_SIZE));
    }

    @Test
    void adjust_lessMemory_isReachedAsItBecomesFree() throws Exception {
        Fill all = claimed(open, 0, 64);

        adjustMemory(3);

        assertThat(cache.memoryBytes()).isEqualTo(3L * PAGE_SIZE);
        assertThat(cache.busyBytes()).isEqualTo((long) MEMORY_PAGES * PAGE_SIZE);
        all.fail(new IOException("over"));
        Fill fill = claimed(open, 0, 64);
        assertThat(fill.range().length()).isEqualTo(3L * PAGE_SIZE);
        OBJECT.fill(fill, PAGE_SIZE);
        cache.awaitWritten();
        assertThat(cache.statistics().memoryBytes()).isLessThanOrEqualTo(3L * PAGE_SIZE);
    }

    @Test
    void adjust_lessMemory_givesUpKeptPages() throws Exception {
        OBJECT.fill(claimed(open, 0, MEMORY_PAGES), PAGE_SIZE);
        cache.awaitWritten();
        assertThat(cache.statistics().memoryBytes()).isEqualTo((long) MEMORY_PAGES * PAGE_SIZE);

        adjustMemory(2);

        assertThat(cache.statistics().memoryBytes()).isLessThanOrEqualTo(2L * PAGE_SIZE);
        OBJECT.readAndCheck(open, 0, (int) (MEMORY_PAGES * (long) PAGE_SIZE));
    }

    @Test
    void adjust_moreMemory_servesDemandThatWaits() throws Exception {
        Fill all = claimed(open, 0, 64);
        Future<Fill> waiting = threads.submit(() -> claimed(open, 32, 33));
        while (open.state(32) != PageState.INFLIGHT) {
            Thread.onSpinWait();
        }

        adjustMemory(MEMORY_PAGES + 1);

        OBJECT.fill(waiting.get(), PAGE_SIZE);
        all.fail(new IOException("over"));
    }

    @Test
    void claim_readahead_leavesAQuarterToDemand() throws Exception {
        Fill ahead = requireNonNull(open.claim(0, 64, Urgency.READAHEAD));
        assertThat(ahead.range().length()).isEqualTo(MEMORY_PAGES * 3L / 4 * PAGE_SIZE);
        assertThat(open.claim(6, 64, Urgency.READAHEAD)).isNull();
        assertThat(open.state(6)).isEqualTo(PageState.MISSING);
        Fill demand = claimed(open, 6, 7);
        OBJECT.fill(demand, PAGE_SIZE);
        ahead.fail(new IOException("over"));
    }

    @Test
    void claim_demandWithoutMemory_waitsForIt() throws Exception {
        Fill all = claimed(open, 0, 64);
        CountDownLatch asked = new CountDownLatch(1);
        Future<Fill> waiting = threads.submit(() -> {
            asked.countDown();
            return claimed(open, 32, 33);
        });
        asked.await();
        while (open.state(32) != PageState.INFLIGHT) {
            Thread.onSpinWait();
        }
        assertThat(open.claim(40, 41, Urgency.READAHEAD))
                .as("nothing overtakes demand")
                .isNull();
        assertThat(waiting.isDone()).isFalse();
        all.fail(new IOException("over"));
        OBJECT.fill(waiting.get(), PAGE_SIZE);
    }

    @Test
    void memoryNanos_ofAClaim_isHowLongItHasWaited() throws Exception {
        Fill all = claimed(open, 0, 64);
        FutureTask<Fill> waiting = new FutureTask<>(() -> claimed(open, 32, 33));
        Thread thread = Thread.ofPlatform().daemon().start(waiting);
        while (open.state(32) != PageState.INFLIGHT || thread.getState() != Thread.State.WAITING) {
            Thread.onSpinWait();
        }
        all.fail(new IOException("over"));

        assertThat(all.memoryNanos()).isZero();
        assertThat(waiting.get().memoryNanos()).isPositive();
        OBJECT.fill(waiting.get(), PAGE_SIZE);
    }

    @Test
    void claim_interruptedWhileItWaits_leavesThePageMissing() throws Exception {
        Fill all = claimed(open, 0, 64);
        CountDownLatch interrupted = new CountDownLatch(1);
        Thread claimer = Thread.startVirtualThread(() -> {
            try {
                claimed(open, 32, 33).fail(new IOException("not expected"));
            } catch (InterruptedException e) {
                interrupted.countDown();
            }
        });
        while (open.state(32) != PageState.INFLIGHT) {
            Thread.onSpinWait();
        }
        Future<Integer> reader = threads.submit(() -> OBJECT.readAndCheck(open, 32L * PAGE_SIZE, 10));
        while (cache.statistics().waits() == 0) {
            Thread.onSpinWait();
        }
        claimer.interrupt();
        interrupted.await();
        assertThat(reader.get()).isEqualTo(CachedObject.MISSING);
        all.fail(new IOException("over"));
    }

    @Test
    void claim_smallPages_takeLittle() throws Exception {
        List<CachedObject> small = new ArrayList<>();
        List<Fill> fills = new ArrayList<>();
        for (int i = 0; i < 8 * MEMORY_PAGES; i++) {
            CachedObject object = new TestObject("small-" + i, 100_000).open(cache);
            small.add(object);
            fills.add(claimed(object, 0, 1));
        }
        assertThat(cache.statistics().memoryBytes()).isEqualTo((long) MEMORY_PAGES * PAGE_SIZE);
        fills.forEach(fill -> fill.fail(new IOException("over")));
        small.forEach(CachedObject::close);
        claimed(open, 0, MEMORY_PAGES).fail(new IOException("over"));
        assertThat(cache.statistics().memoryBytes()).isZero();
    }

    @Test
    void keptPages_areEvictedForNewOnes_thoseReadToTheEndFirst() throws Exception {
        OBJECT.fill(claimed(open, 0, 4), PAGE_SIZE);
        cache.awaitWritten();
        OBJECT.fill(claimed(open, 4, 8), PAGE_SIZE);
        cache.awaitWritten();
        assertThat(cache.statistics().memoryBytes()).isEqualTo((long) MEMORY_PAGES * PAGE_SIZE);
        OBJECT.readAndCheck(open, 6L * PAGE_SIZE, PAGE_SIZE);
        OBJECT.fill(claimed(open, 20, 21), PAGE_SIZE);
        assertThat(inMemory(6)).isFalse();
        assertThat(inMemory(0)).isTrue();
        assertThat(open.state(6)).isEqualTo(PageState.READY);
        cache.awaitWritten();
    }

    @Test
    void claim_byManyThreadsWithATinyBudget_endsForAll() throws Exception {
        List<Future<?>> workers = new ArrayList<>();
        for (int i = 0; i < 32; i++) {
            Random random = new Random(i);
            workers.add(threads.submit((Callable<?>) () -> {
                for (int step = 0; step < 60; step++) {
                    work(random);
                }
                return null;
            }));
        }
        for (Future<?> worker : workers) {
            worker.get();
        }
        cache.awaitWritten();
    }

    private void work(Random random) throws Exception {
        TestObject object = random.nextBoolean()
                ? OBJECT
                : new TestObject("small-" + random.nextInt(20), 1 + random.nextInt(300_000));
        long page = random.nextInt(object.pages());
        Urgency urgency = random.nextInt(3) == 0 ? Urgency.READAHEAD : Urgency.DEMAND;
        try (CachedObject mine = object.open(cache)) {
            Fill fill = mine.claim(page, page + 4, urgency);
            if (fill != null && random.nextInt(4) == 0) {
                fill.fail(new IOException("a reset, made up"));
            } else if (fill != null) {
                object.fill(fill, 1 << 18);
            } else {
                object.readAndCheck(mine, page * PAGE_SIZE, 4096);
            }
        } catch (FillFailedException e) {
            assertThat(e).hasRootCauseMessage("a reset, made up");
        }
    }

    private boolean inMemory(long page) throws Exception {
        return open.read(page * PAGE_SIZE, java.nio.ByteBuffer.allocate(1), null, FromDisk.NEVER) == 1;
    }
}

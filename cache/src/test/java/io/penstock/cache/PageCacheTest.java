package io.penstock.cache;

import static io.penstock.cache.PageCache.PAGE_SIZE;
import static io.penstock.cache.TestObject.claimed;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.cache.CachedObject.FromDisk;
import io.penstock.core.ByteRange;
import io.penstock.core.LentBytes;
import io.penstock.core.NoWait;
import io.penstock.disk.DirectIo;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Claims, fills and reads, in memory. */
@Timeout(60)
final class PageCacheTest {
    private static final TestObject OBJECT = new TestObject("shard-00.tar", 5L * PAGE_SIZE + 12_345);

    @TempDir
    Path directory;

    private PageCache cache;
    private CachedObject open;
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

    @BeforeEach
    void openCache() throws IOException {
        cache = PageCache.open(new CacheConfig(directory, 1L << 30, 0, 32L * PAGE_SIZE));
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
    void claim_by64Threads_isGrantedToOne() throws Exception {
        AtomicInteger claims = new AtomicInteger();
        CountDownLatch start = new CountDownLatch(1);
        List<Future<Integer>> readers = IntStream.range(0, 64)
                .mapToObj(i -> threads.submit((Callable<Integer>) () -> {
                    start.await();
                    try (CachedObject mine = OBJECT.open(cache)) {
                        Fill fill = mine.claim(0, 1, Urgency.DEMAND);
                        if (fill != null) {
                            claims.incrementAndGet();
                            OBJECT.fill(fill, 100_000);
                        }
                        return OBJECT.readAndCheck(mine, 0, PAGE_SIZE);
                    }
                }))
                .toList();
        start.countDown();
        for (Future<Integer> reader : readers) {
            assertThat(reader.get()).isEqualTo(PAGE_SIZE);
        }
        assertThat(claims).hasValue(1);
        assertThat(cache.statistics().filledPages()).isEqualTo(1);
    }

    @Test
    void claim_runWithReadyPageInIt_endsBeforeIt() throws Exception {
        OBJECT.fill(claimed(open, 3, 4), PAGE_SIZE);
        Fill first = claimed(open, 0, 6);
        assertThat(first.range()).isEqualTo(new ByteRange(0, 3L * PAGE_SIZE));
        Fill second = claimed(open, 0, 100);
        assertThat(second.range()).isEqualTo(new ByteRange(4L * PAGE_SIZE, PAGE_SIZE + 12_345L));
        assertThat(open.claim(0, 6, Urgency.DEMAND)).isNull();
        OBJECT.fill(first, 77_777);
        OBJECT.fill(second, PAGE_SIZE);
        assertThat(OBJECT.readablePages(cache)).hasSize(6);
    }

    @Test
    void read_ofInflightPage_wakesAtItsOwnBytes() throws Exception {
        Fill fill = claimed(open, 0, 2);
        Future<Integer> early = threads.submit(() -> OBJECT.readAndCheck(open, 1000, 4096));
        Future<Integer> late = threads.submit(() -> OBJECT.readAndCheck(open, 500_000, 4096));
        awaitReaders(2);
        OBJECT.fillSome(fill, 0, 5095);
        assertThat(early.isDone()).as("one byte is lacking").isFalse();
        OBJECT.fillSome(fill, 5095, 1);
        assertThat(early.get()).isEqualTo(4096);
        assertThat(late.isDone()).isFalse();
        assertThat(fill.awaited()).isTrue();
        OBJECT.fillSome(fill, 5096, PAGE_SIZE);
        assertThat(late.get()).isEqualTo(4096);
        assertThat(open.state(0)).isEqualTo(PageState.READY);
        assertThat(open.state(1)).isEqualTo(PageState.INFLIGHT);
        assertThat(fill.awaited()).isFalse();
        fill.fail(new IOException("over"));
    }

    @Test
    void read_ofInflightPageThatFails_throwsTheCauseAndLeavesMissing() throws Exception {
        Fill fill = claimed(open, 0, 3);
        List<Future<Integer>> readers = IntStream.range(0, 8)
                .mapToObj(i -> threads.submit(() -> OBJECT.readAndCheck(open, 2L * PAGE_SIZE, 10)))
                .toList();
        awaitReaders(8);
        OBJECT.fillSome(fill, 0, PAGE_SIZE);
        fill.fail(new IOException("connection reset"));
        for (Future<Integer> reader : readers) {
            assertThatThrownBy(reader::get)
                    .cause()
                    .isInstanceOf(FillFailedException.class)
                    .hasRootCauseMessage("connection reset");
        }
        assertThat(open.state(0)).isEqualTo(PageState.READY);
        assertThat(open.state(1)).isEqualTo(PageState.MISSING);
        assertThat(OBJECT.readAndCheck(open, 2L * PAGE_SIZE, 10)).isEqualTo(CachedObject.MISSING);
        assertThat(cache.statistics().failedFills()).isEqualTo(2);
        OBJECT.fill(claimed(open, 1, 3), PAGE_SIZE);
        assertThat(OBJECT.readablePages(cache)).containsExactly(0, 1, 2);
    }

    @Test
    void read_bytesThatArrivedBeforeTheFailure_areGiven() throws Exception {
        Fill fill = claimed(open, 0, 1);
        OBJECT.fillSome(fill, 0, 8192);
        assertThat(OBJECT.readAndCheck(open, 4096, 4096)).isEqualTo(4096);
        fill.fail(new IOException("connection reset"));
        assertThat(OBJECT.readAndCheck(open, 4096, 4096)).isEqualTo(CachedObject.MISSING);
    }

    @Test
    void read_whenInterrupted_throwsAndHarmsNobody() throws Exception {
        Fill fill = claimed(open, 0, 1);
        CountDownLatch interrupted = new CountDownLatch(1);
        Thread reader = Thread.startVirtualThread(() -> {
            try {
                open.read(0, ByteBuffer.allocate(10), null, FromDisk.REQUESTED);
            } catch (InterruptedException e) {
                interrupted.countDown();
            } catch (FillFailedException e) {
                throw new AssertionError(e);
            }
        });
        awaitReaders(1);
        reader.interrupt();
        interrupted.await();
        assertThat(fill.awaited()).isFalse();
        OBJECT.fill(fill, PAGE_SIZE);
        assertThat(OBJECT.readAndCheck(open, 0, PAGE_SIZE)).isEqualTo(PAGE_SIZE);
    }

    @Test
    void readNow_tellsMissingWaitingAndReadyApart() throws Exception {
        ByteBuffer to = ByteBuffer.allocate(4096);
        assertThat(open.read(0, to, null, FromDisk.NEVER)).isEqualTo(CachedObject.MISSING);
        Fill fill = claimed(open, 0, 1);
        assertThat(open.read(0, to, null, FromDisk.NEVER)).isEqualTo(NoWait.WOULD_WAIT);
        OBJECT.fillSome(fill, 0, 4096);
        assertThat(open.read(0, to, null, FromDisk.NEVER)).isEqualTo(4096);
        assertThat(to.flip()).isEqualTo(OBJECT.content(0, 4096));
        assertThat(open.read(1, ByteBuffer.allocate(4096), null, FromDisk.NEVER))
                .isEqualTo(NoWait.WOULD_WAIT);
        fill.fail(new IOException("over"));
        assertThat(open.read(0, ByteBuffer.allocate(1), null, FromDisk.NEVER)).isEqualTo(CachedObject.MISSING);
    }

    @Test
    void read_manyBytesOnLoan_lendsThePagesMemoryUntilItIsGivenBack() throws Exception {
        Fill fill = claimed(open, 0, 1);
        OBJECT.fill(fill, PAGE_SIZE);
        cache.awaitWritten();
        assertThat(cache.busyBytes()).isZero();
        ByteBuffer to = ByteBuffer.allocate(PAGE_SIZE);
        LentBytes loans = new LentBytes(1);

        assertThat(open.read(4096, to.position(10), loans, FromDisk.NEVER)).isEqualTo(PAGE_SIZE - 4096);

        assertThat(to.position()).isEqualTo(10 + PAGE_SIZE - 4096);
        assertThat(loans.count()).isOne();
        assertThat(loans.at(0)).isEqualTo(10);
        assertThat(loans.length(0)).isEqualTo(PAGE_SIZE - 4096);
        assertThat(loans.address(0) % DirectIo.ALIGNMENT).isZero();
        cache.invalidate(TestObject.NAMESPACE, OBJECT.version());
        loans.settle(to);
        assertThat(to.flip().position(10))
                .as("also of a page given up meanwhile")
                .isEqualTo(OBJECT.content(4096, PAGE_SIZE - 4096));
        assertThat(cache.statistics().memoryBytes()).isZero();
    }

    @Test
    void read_aPageThatIsWaitedFor_holdsNothingMeanwhile() throws Exception {
        OBJECT.fill(claimed(open, 0, 1), PAGE_SIZE);
        cache.awaitWritten();
        Fill second = claimed(open, 1, 2);
        ByteBuffer to = ByteBuffer.allocate(2 * PAGE_SIZE);
        LentBytes loans = new LentBytes(2);
        open.read(0, to, loans, FromDisk.REQUESTED);
        assertThat(loans.count()).isOne();
        Thread reader = Thread.startVirtualThread(() -> {
            try {
                open.read(PAGE_SIZE, to, loans, FromDisk.REQUESTED);
            } catch (InterruptedException | FillFailedException e) {
                throw new AssertionError(e);
            }
        });
        awaitReaders(1);

        assertThat(loans.count()).isZero();

        OBJECT.fill(second, PAGE_SIZE);
        reader.join();
        loans.settle(to);
        assertThat(to.flip()).isEqualTo(OBJECT.content(0, 2 * PAGE_SIZE));
    }

    @Test
    void read_endsAtThePagesAndTheObjectsEnd() throws Exception {
        OBJECT.fillAll(cache);
        assertThat(OBJECT.readAndCheck(open, PAGE_SIZE - 10, 4096)).isEqualTo(10);
        assertThat(OBJECT.readAndCheck(open, OBJECT.size() - 7, 4096)).isEqualTo(7);
        assertThat(OBJECT.readAndCheck(open, OBJECT.size(), 4096)).isZero();
        assertThat(OBJECT.readAndCheck(open, 0, 0)).isZero();
    }

    @Test
    void open_emptyObject_hasNothingToClaim() throws Exception {
        try (CachedObject empty = new TestObject("empty", 0).open(cache)) {
            assertThat(empty.claim(0, 1, Urgency.DEMAND)).isNull();
            assertThat(empty.read(0, ByteBuffer.allocate(1), null, FromDisk.REQUESTED))
                    .isZero();
        }
    }

    @Test
    void open_anotherVersion_sharesNothing() throws Exception {
        OBJECT.fillAll(cache);
        try (CachedObject other = cache.open("http://other/bucket", OBJECT.version())) {
            assertThat(other.state(0)).isEqualTo(PageState.MISSING);
        }
    }

    @Test
    void invalidate_readyPages_areMissing() throws Exception {
        OBJECT.fillAll(cache);
        cache.awaitWritten();
        cache.invalidate(TestObject.NAMESPACE, OBJECT.version());
        cache.awaitWritten();
        assertThat(OBJECT.readablePages(cache)).isEmpty();
        assertThat(cache.statistics().diskBytes()).isZero();
        OBJECT.fillAll(cache);
        assertThat(OBJECT.readablePages(cache)).hasSize(OBJECT.pages());
    }

    @Test
    void fill_withMoreThanItsBuffer_isRefused() throws Exception {
        Fill fill = claimed(open, 0, 1);
        assertThatThrownBy(() -> fill.filled(PAGE_SIZE + 1)).isInstanceOf(IllegalArgumentException.class);
        fill.fail(new IOException("over"));
        assertThatThrownBy(fill::buffer).isInstanceOf(IllegalStateException.class);
    }

    /** Waits until this many reads wait for bytes in flight. */
    private void awaitReaders(int count) {
        while (cache.statistics().waits() < count) {
            Thread.onSpinWait();
        }
    }
}

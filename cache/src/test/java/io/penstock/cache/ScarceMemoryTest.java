package io.penstock.cache;

import static io.penstock.cache.PageCache.PAGE_SIZE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.cache.PageCache.Environment;
import io.penstock.cache.disk.Extent;
import io.penstock.core.NativeMemory.Share;
import io.penstock.core.NativeMemory.UsedUpException;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A JVM that grants less memory than the budget. */
@Timeout(60)
final class ScarceMemoryTest {
    private static final TestObject OBJECT = new TestObject("object", 20L * PAGE_SIZE);

    @TempDir
    Path directory;

    private final FaultyFiles files = new FaultyFiles();

    /** Pages of memory that can still be granted. */
    private final AtomicInteger granted = new AtomicInteger();

    private PageCache open(int memoryPages) throws IOException {
        granted.set(memoryPages);
        CacheConfig config = new CacheConfig(directory, 64L * PAGE_SIZE, 0, 32L * PAGE_SIZE);
        return PageCache.open(
                config,
                new Environment(files::on, System::nanoTime, 4, Extent.most(), this::slab, Duration.ofMinutes(1)));
    }

    private Slab slab() {
        if (granted.getAndDecrement() <= 0) {
            throw new UsedUpException(Share.PAGES, null);
        }
        return new Slab();
    }

    @Test
    void claim_whereThereIsNone_failsAndLeavesThePageMissing() throws Exception {
        try (PageCache cache = open(0);
                CachedObject object = OBJECT.open(cache)) {
            assertThatThrownBy(() -> object.claim(0, 1, Urgency.DEMAND)).isInstanceOf(UsedUpException.class);
            assertThat(object.state(0)).isEqualTo(PageState.MISSING);

            granted.set(1);
            assertThatThrownBy(() -> object.claim(0, 4, Urgency.DEMAND)).isInstanceOf(UsedUpException.class);
            assertThat(object.state(0)).isEqualTo(PageState.MISSING);
            assertThat(cache.busyBytes()).isZero();
        }
    }

    @Test
    void open_startsAllItsThreads() throws Exception {
        try (PageCache cache = open(0)) {
            cache.awaitWritten();
            assertThat(Thread.getAllStackTraces().keySet())
                    .extracting(Thread::getName)
                    .contains("penstock-store-3", "penstock-load-3");
        }
    }

    @Test
    void fill_withLessMemoryThanTheBudgetAndAStalledDisk_goesOn() throws Exception {
        try (PageCache cache = open(8);
                CachedObject object = OBJECT.open(cache)) {
            Fill all = TestObject.claimed(object, 0, 20);
            assertThat(all.range().length()).isEqualTo(8L * PAGE_SIZE);
            assertThat(cache.memoryBytes()).isEqualTo(8L * PAGE_SIZE);
            OBJECT.fill(all, PAGE_SIZE);
            cache.awaitWritten();

            files.stall();
            for (int page = 8; page < 20; page++) {
                OBJECT.fill(TestObject.claimed(object, page, page + 1), PAGE_SIZE);
            }
            assertThat(cache.statistics().unstoredPages()).isPositive();
            files.resume();
            cache.awaitWritten();
        }
    }
}

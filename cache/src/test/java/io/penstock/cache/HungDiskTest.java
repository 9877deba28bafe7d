package io.penstock.cache;

import static io.penstock.cache.PageCache.PAGE_SIZE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.penstock.cache.CachedObject.FromDisk;
import io.penstock.cache.PageCache.Environment;
import io.penstock.cache.disk.DiskTasks;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A disk on which reads or writes never end. */
@Timeout(60)
final class HungDiskTest {
    private static final TestObject OBJECT = new TestObject("object", 64L * PAGE_SIZE);

    @TempDir
    Path directory;

    private final FaultyFiles files = new FaultyFiles();

    /** There are as many readers as pages, and more than processors. */
    @Test
    void read_hungDisk_leavesCarriersToOtherThreads() throws Exception {
        assumeThat(Runtime.getRuntime().availableProcessors()).isBetween(2, OBJECT.pages());
        try (PageCache cache = open();
                CachedObject open = OBJECT.open(cache)) {
            OBJECT.store(cache);
            assertCarriersAreLeft(IntStream.range(0, OBJECT.pages() - 4) // the last ones are in memory
                    .<Runnable>mapToObj(page -> () -> read(open, (long) page * PAGE_SIZE))
                    .toList());
        }
    }

    /** Reads into the heap, so that they are not direct. */
    @Test
    void read_smallObjectsOnAHungDisk_leavesCarriersToOtherThreads() throws Exception {
        List<TestObject> objects = IntStream.range(0, 80)
                .mapToObj(i -> new TestObject("small-" + i, 100_000))
                .toList();
        try (PageCache cache = open()) {
            for (TestObject object : objects) {
                object.store(cache);
            }
            assertCarriersAreLeft(objects.subList(0, 40).stream() // the last ones are in memory
                    .<Runnable>map(object -> () -> read(cache, object))
                    .toList());
        }
    }

    /** As {@code penstock evict} does for a whole bucket. */
    @Test
    void invalidate_ofVeryManyWhileWritesHang_waits() throws Exception {
        List<TestObject> objects = IntStream.range(0, 2 * DiskTasks.MOST_WAITING)
                .mapToObj(i -> new TestObject("small-" + i, 100))
                .toList();
        AtomicInteger dropped = new AtomicInteger();
        try (PageCache cache = open(16)) {
            for (TestObject object : objects) {
                object.store(cache);
            }
            files.stall();
            TestObject written = new TestObject("written", 8L * PAGE_SIZE);
            written.fillAll(cache); // with more writes than threads
            Thread dropping = Thread.ofPlatform()
                    .daemon()
                    .start(() -> objects.forEach(object -> {
                        invalidate(cache, object);
                        dropped.incrementAndGet();
                    }));
            while (dropped.get() == 0 || dropping.getState() != Thread.State.WAITING) {
                Thread.onSpinWait();
            }
            assertThat(dropped.get()).isPositive().isLessThanOrEqualTo(DiskTasks.MOST_WAITING);
            files.resume();
            dropping.join();
            cache.awaitWritten();
            assertThat(dropped.get()).isEqualTo(objects.size());
            assertThat(cache.statistics().diskBytes()).isEqualTo(written.size());
        }
    }

    private static void invalidate(PageCache cache, TestObject object) {
        try {
            cache.invalidate(TestObject.NAMESPACE, object.version());
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private PageCache open() throws IOException {
        return open(4);
    }

    private PageCache open(int memoryPages) throws IOException {
        CacheConfig config =
                new CacheConfig(directory.resolve("cache"), 128L * PAGE_SIZE, 0, (long) memoryPages * PAGE_SIZE);
        return PageCache.open(config, new Environment(files::on, System::nanoTime, 4));
    }

    private void assertCarriersAreLeft(List<Runnable> reads) throws Exception {
        try (FileChannel pipe = open(makePipe())) {
            CountDownLatch hangs = new CountDownLatch(1);
            files.whenRead(() -> {
                hangs.countDown();
                waitForByte();
            });
            List<Thread> readers =
                    reads.stream().map(Thread::startVirtualThread).toList();
            hangs.await();

            CountDownLatch other = new CountDownLatch(1);
            Thread.startVirtualThread(other::countDown);
            assertThat(other.await(20, TimeUnit.SECONDS)).isTrue();

            pipe.write(ByteBuffer.allocate(readers.size()));
            for (Thread reader : readers) {
                reader.join();
            }
        }
    }

    private static void read(PageCache cache, TestObject object) {
        ByteBuffer to = ByteBuffer.allocate(65_536);
        try (CachedObject open = object.open(cache)) {
            assertThat(open.read(0, to, null, FromDisk.REQUESTED)).isEqualTo(to.capacity());
            assertThat(to.flip()).isEqualTo(object.content(0, to.capacity()));
        } catch (FillFailedException | InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private Path makePipe() throws IOException, InterruptedException {
        Path pipe = directory.resolve("pipe");
        assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor())
                .isZero();
        return pipe;
    }

    private static FileChannel open(Path pipe) throws IOException {
        return FileChannel.open(pipe, StandardOpenOption.READ, StandardOpenOption.WRITE);
    }

    /** Blocks the carrier, as a disk read does. */
    private void waitForByte() {
        try (FileChannel pipe = open(directory.resolve("pipe"))) {
            pipe.read(ByteBuffer.allocateDirect(1));
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private static void read(CachedObject open, long position) {
        try {
            assertThat(OBJECT.readAndCheck(open, position, 4096)).isEqualTo(4096);
        } catch (FillFailedException | InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}

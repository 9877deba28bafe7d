package io.penstock.writeback;

import static io.penstock.writeback.content.Block.BLOCK_SIZE;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.core.ObjectVersion;
import io.penstock.testing.InMemoryObjectStore;
import io.penstock.testing.Seeded;
import io.penstock.writeback.bytes.BaseContent;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** One file under many threads with little memory, so that everything happens at the same time. */
@Timeout(120)
final class WrittenFileConcurrencyTest {
    private static final int WRITERS = 4;
    private static final int STEPS = 60;

    /** Not a multiple of a block, so that two writers share one. */
    private static final int SHARE = BLOCK_SIZE + 300_000;

    private final InMemoryObjectStore store = new InMemoryObjectStore();
    private final CrashingFiles files = new CrashingFiles();

    /** Writes its share of the file, and always finds there what it wrote. */
    private static byte[] writeShare(WrittenFile file, int writer) throws Exception {
        RandomGenerator random = Seeded.random(writer);
        byte[] mine = new byte[SHARE];
        long start = (long) writer * SHARE;
        ByteBuffer check = ByteBuffer.allocate(SHARE);
        for (int step = 0; step < STEPS; step++) {
            int at = random.nextInt(SHARE);
            int length = Math.min(SHARE - at, 1 + random.nextInt(step % 8 == 0 ? SHARE : 9000));
            if (step % 7 == 3) {
                file.zero(start + at, length);
                Arrays.fill(mine, at, at + length, (byte) 0);
            } else {
                byte[] bytes = new byte[length];
                random.nextBytes(bytes);
                file.write(start + at, ByteBuffer.wrap(bytes));
                System.arraycopy(bytes, 0, mine, at, length);
            }
            switch (random.nextInt(12)) {
                case 0 -> file.fsync();
                case 1 -> file.commit();
                default -> {}
            }
            assertThat(file.read(start, check.clear())).isEqualTo(SHARE);
            assertThat(Arrays.mismatch(check.array(), mine))
                    .as("writer %s, step %s", writer, step)
                    .isEqualTo(-1);
        }
        return mine;
    }

    @Test
    void write_byManyWithCommitsBetween_losesNothing() throws Exception {
        try (TestMount mount = new TestMount(store, files, TestConfig.withMemory(4)).start()) {
            WrittenFile file = mount.writeback.create("a", null);
            file.truncate((long) WRITERS * SHARE);
            byte[] expected = new byte[WRITERS * SHARE];
            List<byte[]> shares = inParallel(WRITERS, writer -> writeShare(file, writer));
            for (int writer = 0; writer < WRITERS; writer++) {
                System.arraycopy(shares.get(writer), 0, expected, writer * SHARE, SHARE);
            }
            file.commit();
            assertThat(file.isDirty()).isFalse();
            ObjectVersion version = store.head("a").version();
            ByteBuffer stored = ByteBuffer.allocate(expected.length);
            try (BaseContent.Reader reader = mount.base.open(version)) {
                reader.read(0, stored);
            }
            assertThat(Arrays.mismatch(stored.array(), expected)).isEqualTo(-1);
            file.release();
            mount.assertNothingLeaks();
        }
        assertThat(files.names()).isEmpty();
        assertThat(files.opened()).isZero();
    }

    @Test
    void append_byMany_interleavesWholeRecords() throws Exception {
        try (TestMount mount = new TestMount(store, files, TestConfig.withMemory(2)).start()) {
            WrittenFile file = mount.writeback.create("log", null);
            int records = 300;
            int length = 70_001;
            inParallel(WRITERS, writer -> {
                byte[] line = new byte[length];
                Arrays.fill(line, (byte) (writer + 1));
                for (int i = 0; i < records / WRITERS; i++) {
                    assertThat(file.append(ByteBuffer.wrap(line))).isEqualTo(length);
                }
                return line;
            });
            ByteBuffer record = ByteBuffer.allocate(length);
            int[] counts = new int[WRITERS + 1];
            for (int i = 0; i < records; i++) {
                assertThat(file.read((long) i * length, record.clear())).isEqualTo(length);
                byte[] line = new byte[length];
                Arrays.fill(line, record.get(0));
                assertThat(record.array()).isEqualTo(line);
                counts[record.get(0)]++;
            }
            assertThat(counts).containsExactly(0, 75, 75, 75, 75);
            file.release();
            mount.assertNothingLeaks();
        }
    }

    @Test
    void write_toManyFiles_withLessMemoryThanFiles_finishes() throws Exception {
        try (TestMount mount = new TestMount(store, files, TestConfig.withMemory(3)).start()) {
            int each = 3 * BLOCK_SIZE + 77;
            inParallel(8, number -> {
                byte[] bytes = new byte[each];
                Arrays.fill(bytes, (byte) (number + 1));
                WrittenFile file = mount.writeback.create("file " + number, null);
                for (int at = 0; at < each; at += 100_000) {
                    file.write(at, ByteBuffer.wrap(bytes, at, Math.min(100_000, each - at)));
                }
                ByteBuffer check = ByteBuffer.allocate(each);
                file.read(0, check);
                assertThat(Arrays.mismatch(check.array(), bytes)).isEqualTo(-1);
                file.commit();
                file.release();
                return bytes;
            });
            mount.assertNothingLeaks();
        }
    }

    private interface Work {
        byte[] of(int number) throws Exception;
    }

    private static List<byte[]> inParallel(int threads, Work work) throws Exception {
        List<byte[]> results = new ArrayList<>();
        try (ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<byte[]>> running = new ArrayList<>();
            for (int number = 0; number < threads; number++) {
                int its = number;
                running.add(executor.submit(() -> work.of(its)));
            }
            for (Future<byte[]> one : running) {
                results.add(one.get());
            }
        } catch (ExecutionException e) {
            throw new AssertionError(e.getCause());
        }
        return results;
    }
}

package io.penstock.writeback;

import static io.penstock.writeback.content.Block.BLOCK_SIZE;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.testing.InMemoryObjectStore;
import io.penstock.testing.Seeded;
import io.penstock.writeback.CrashingFiles.Fault;
import io.penstock.writeback.bytes.BaseContent;
import io.penstock.writeback.content.Run;
import io.penstock.writeback.survivors.CopiedMemory;
import io.penstock.writeback.survivors.Outliving;
import io.penstock.writeback.survivors.SurvivorMemory;
import java.nio.ByteBuffer;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.IntSummaryStatistics;
import java.util.List;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** One written file compared with an array of bytes, over random changes, failures of its disk, and power cuts. */
@Timeout(300)
final class WrittenFileModelTest {
    private static final int RUNS = Integer.getInteger("penstock.model.runs", 25);
    private static final int STEPS = 60;
    private static final String KEY = "file";

    @Test
    void file_afterRandomSteps_isAsTheModel() {
        Seeded.check(RUNS, random -> {
            try (Run run = new Run(random)) {
                for (int step = 0; step < STEPS; step++) {
                    run.step();
                }
                run.end();
            }
        });
    }

    private static final class Run implements AutoCloseable {
        private final RandomGenerator random;
        private final InMemoryObjectStore store = new InMemoryObjectStore();
        private final int maxSize;
        private CrashingFiles files = new CrashingFiles();

        /** Null if the file ends with its process. */
        private @Nullable Outliving outliving;

        private TestMount mount;
        private WrittenFile file;
        private byte[] now = {};
        private int sources;

        /** Contents since the last durable one, which is first: after a crash, each byte is from one of them. */
        private final List<byte[]> since = new ArrayList<>();

        private final List<String> trace = new ArrayList<>();

        Run(RandomGenerator random) throws Exception {
            this.random = random;
            int[] sizes = {3000, 100_000, BLOCK_SIZE + 5000, 2 * BLOCK_SIZE + 70_000};
            this.maxSize = sizes[random.nextInt(sizes.length)];
            this.outliving = random.nextBoolean() ? begin() : null;
            this.mount = mount();
            mount.start();
            this.file = mount.writeback.create(KEY, null);
            since.add(now);
        }

        private static Outliving begin() throws Exception {
            return Outliving.begin(SurvivorMemory.create(), () -> {});
        }

        private TestMount mount() throws Exception {
            return new TestMount(
                    store,
                    files,
                    TestConfig.withMemory(2),
                    (_, _) -> {},
                    Clock.systemUTC(),
                    CommitTiming.DEFAULT,
                    outliving);
        }

        void step() throws Exception {
            try {
                int choice = random.nextInt(100);
                if (choice < 40) {
                    write();
                } else if (choice < 50) {
                    append();
                } else if (choice < 60) {
                    truncate();
                } else if (choice < 68) {
                    zero();
                } else if (choice < 76) {
                    fsync();
                } else if (choice < 82) {
                    commit();
                } else if (choice < 84) {
                    copy();
                } else if (choice < 88) {
                    releaseAndReopen();
                } else if (choice < 92) {
                    fault();
                } else if (choice < 96) {
                    kill();
                } else {
                    crash();
                }
                check();
                file.checkInvariants();
            } catch (Exception | AssertionError e) {
                throw new AssertionError(e.getMessage() + "\n after " + String.join("\n  ", trace), e);
            }
        }

        private void note(String what, Object... values) {
            trace.add(what + Arrays.toString(values));
        }

        private int position() {
            int near = random.nextInt(6) * BLOCK_SIZE / 2;
            int position = random.nextBoolean() ? near + random.nextInt(9000) - 4500 : random.nextInt(maxSize);
            return Math.clamp(position, 0, maxSize - 1);
        }

        private int length(int position) {
            int length = switch (random.nextInt(4)) {
                case 0 -> 1 + random.nextInt(20);
                case 1 -> 1 + random.nextInt(5000);
                case 2 -> 4096;
                default -> 1 + random.nextInt(maxSize);
            };
            return Math.min(length, maxSize - position);
        }

        private byte[] bytes(int length) {
            byte[] bytes = new byte[length];
            Arrays.fill(bytes, (byte) (1 + random.nextInt(255)));
            return bytes;
        }

        private void put(int position, byte[] bytes) {
            now = Arrays.copyOf(now, Math.max(now.length, position + bytes.length));
            System.arraycopy(bytes, 0, now, position, bytes.length);
            since.add(now);
        }

        private void write() throws Exception {
            int position = position();
            byte[] bytes = bytes(length(position));
            note("write ", position, bytes.length, bytes[0]);
            file.write(position, ByteBuffer.wrap(bytes));
            put(position, bytes);
        }

        private void append() throws Exception {
            byte[] bytes = bytes(Math.min(1 + random.nextInt(5000), maxSize - now.length + 1));
            note("append ", bytes.length);
            assertThat(file.append(ByteBuffer.wrap(bytes))).isEqualTo(bytes.length);
            put(now.length, bytes);
        }

        private void truncate() throws Exception {
            int size = random.nextInt(8) == 0 ? 0 : position();
            note("truncate ", size);
            file.truncate(size);
            now = Arrays.copyOf(now, size);
            since.add(now);
        }

        private void zero() throws Exception {
            int position = position();
            int length = length(position);
            note("zero ", position, length);
            file.zero(position, length);
            now = now.clone();
            if (position < now.length) {
                Arrays.fill(now, position, Math.min(now.length, position + length), (byte) 0);
            }
            since.add(now);
        }

        /** The store copies only whole objects: smaller ranges are not worth it. */
        private void copy() throws Exception {
            byte[] bytes = bytes(1 + random.nextInt(maxSize));
            for (int i = 0; i < bytes.length; i += 4096) {
                bytes[i] = (byte) (i >> 12);
            }
            boolean more = random.nextBoolean();
            note("copy ", bytes.length, bytes[bytes.length - 1], more);
            ObjectVersion source = store.put("source " + sources++, bytes);
            file.truncate(0);
            now = new byte[0];
            since.add(now);
            assertThat(file.copyFrom(source, new ByteRange(0, bytes.length), more))
                    .isTrue();
            put(0, bytes);
        }

        private void durable() {
            since.clear();
            since.add(now);
        }

        private void fsync() throws Exception {
            note("fsync");
            file.fsync();
            durable();
        }

        private void commit() throws Exception {
            note("commit");
            file.commit();
            assertThat(stored()).isEqualTo(now);
            durable();
        }

        private void releaseAndReopen() throws Exception {
            note("release");
            file.release();
            mount.writeback.drain();
            durable();
            reopen();
        }

        private void reopen() throws Exception {
            ObjectVersion there = head();
            if (there == null) {
                now = new byte[0];
                file = mount.writeback.create(KEY, null);
                since.clear();
                since.add(now);
            } else {
                file = mount.writeback.open(there);
            }
        }

        private void fault() {
            Fault[] faults = {Fault.NONE, Fault.NONE, Fault.NONE, Fault.DEAD, Fault.READ_ONLY, Fault.FULL};
            Fault fault = faults[random.nextInt(faults.length)];
            if (fault != Fault.NONE && !files.names().isEmpty()) {
                fault = Fault.FULL; // a dead disk loses its staged data, and a read-only one cannot forget it
            }
            note("fault ", fault);
            files.set(fault);
        }

        /** The next process continues with all that was written. */
        private void kill() throws Exception {
            Outliving before = outliving;
            if (before == null) {
                return;
            }
            note("kill");
            CrashingFiles[] left = new CrashingFiles[1];
            file.bytes().locked(() -> {
                outliving = CopiedMemory.of(before);
                left[0] = files.kill();
            });
            mount.close();
            files = left[0];
            mount = mount();
            assertThat(mount.writeback.recovered()).isEmpty();
            assertThat(mount.writeback.survivors()).hasSize(1);
            long number = file.number();
            file = mount.writeback.survivors().getFirst();
            assertThat(file.number()).isEqualTo(number);
            assertThat(file.retain()).isTrue();
            mount.start();
        }

        private void crash() throws Exception {
            note("crash");
            files.set(Fault.NONE);
            files = files.crash(random);
            mount.close();
            byte @Nullable [] committed = head() == null ? null : stored();
            outliving = outliving == null ? null : begin();
            mount = mount();
            List<WrittenFile> found = mount.writeback.recovered();
            assertThat(mount.writeback.failed()).isEmpty();
            byte[] actual;
            if (found.isEmpty()) {
                actual = committed == null ? new byte[0] : committed;
            } else {
                assertThat(found).hasSize(1);
                actual = read(found.getFirst());
            }
            assertPossible(actual);
            mount.start();
            mount.writeback.drain();
            now = actual;
            if (!found.isEmpty()) {
                assertThat(stored()).isEqualTo(now);
            }
            durable();
            reopen();
        }

        private void assertPossible(byte[] actual) {
            IntSummaryStatistics sizes =
                    since.stream().mapToInt(content -> content.length).summaryStatistics();
            // In between: for lack of memory, a file is committed during a write.
            assertThat(actual.length).isBetween(sizes.getMin(), sizes.getMax());
            for (int i = 0; i < actual.length; i++) {
                boolean possible = false;
                for (byte[] content : since) {
                    possible |= (i < content.length ? content[i] : 0) == actual[i];
                }
                if (!possible) {
                    throw new AssertionError("byte " + i + " is " + actual[i] + " after the crash");
                }
            }
        }

        private @Nullable ObjectVersion head() throws Exception {
            try {
                return store.head(KEY).version();
            } catch (ObjectStoreException.NotFound e) {
                return null;
            }
        }

        private byte[] stored() throws Exception {
            ObjectVersion version = store.head(KEY).version();
            ByteBuffer to = ByteBuffer.allocate(Math.toIntExact(version.size()));
            try (BaseContent.Reader reader = mount.base.open(version)) {
                reader.read(0, to);
            }
            return to.array();
        }

        private static byte[] read(WrittenFile from) throws Exception {
            ByteBuffer to = ByteBuffer.allocate(Math.toIntExact(from.size()));
            assertThat(from.read(0, to)).isEqualTo(to.capacity());
            return to.array();
        }

        private void check() throws Exception {
            assertThat(file.size()).isEqualTo(now.length);
            int different = Arrays.mismatch(read(file), now);
            if (different >= 0) {
                throw new AssertionError("byte " + different + " differs");
            }
        }

        void end() throws Exception {
            files.set(Fault.NONE);
            file.release();
            mount.assertNothingLeaks();
            assertThat(stored()).isEqualTo(now);
        }

        @Override
        public void close() {
            mount.close();
            assertThat(files.opened()).as("open staging files").isZero();
        }
    }
}

package io.penstock.writeback;

import static io.penstock.writeback.content.Block.BLOCK_SIZE;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.core.ObjectVersion;
import io.penstock.testing.InMemoryObjectStore;
import io.penstock.testing.Seeded;
import io.penstock.writeback.WatchedFiles.Operation;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Requests for a written file from readers of /dev/fuse neither touch a disk nor wait for one. */
@Timeout(60)
final class DiskOutOfTheWayTest {
    private final InMemoryObjectStore store = new InMemoryObjectStore();
    private final CrashingFiles files = new CrashingFiles();
    private final CountDownLatch reached = new CountDownLatch(1);
    private final CountDownLatch opened = new CountDownLatch(1);

    /** Holds removals of files until the gate is open. */
    private WatchedFiles slowToRemove() {
        return new WatchedFiles(files, (operation, _) -> {
            if (operation == Operation.REMOVE) {
                reached.countDown();
                opened.await();
            }
        });
    }

    /** All requests of a reader. */
    private static void ask(WrittenFile file) throws Exception {
        assertThat(file.size()).isNotNegative();
        assertThat(file.modified()).isNotNull();
        assertThat(file.key()).isNotEmpty();
        ObjectVersion _ = file.committed();
        ObjectVersion _ = file.version();
        boolean _ = file.isDirty();
        boolean _ = file.writeNow(0, ByteBuffer.wrap(new byte[] {1}));
    }

    private static void inTime(FutureTask<?> task) throws Exception {
        Thread.ofPlatform().daemon().start(task);
        task.get(30, TimeUnit.SECONDS);
    }

    @Test
    void size_whileACommitRemovesWhatWasStaged_isTold() throws Exception {
        try (TestMount mount = new TestMount(store, slowToRemove(), TestConfig.withMemory(4)).start()) {
            WrittenFile file = mount.writeback.create("a", null);
            file.write(0, ByteBuffer.wrap(new byte[BLOCK_SIZE]));
            file.fsync();
            FutureTask<Boolean> commit = new FutureTask<>(() -> {
                file.commit();
                return true;
            });
            Thread.startVirtualThread(commit);
            reached.await();
            inTime(new FutureTask<>(() -> {
                ask(file);
                return true;
            }));
            assertThat(commit.isDone()).isFalse();
            opened.countDown();
            commit.get();
            file.release();
            mount.assertNothingLeaks();
        }
    }

    @Test
    void release_ofARemovedFile_leavesItsRemovalToOthers() throws Exception {
        try (TestMount mount = new TestMount(store, slowToRemove(), TestConfig.withMemory(4)).start()) {
            WrittenFile file = mount.writeback.create("a", null);
            file.unlink();
            file.write(0, ByteBuffer.wrap(new byte[BLOCK_SIZE]));
            assertThat(file.bytes().staging().stageAll(null)).isTrue();
            inTime(new FutureTask<>(() -> {
                file.release();
                return true;
            }));
            reached.await();
            opened.countDown();
            mount.assertNothingLeaks();
        }
    }

    /** Whatever else happens to the file. */
    @Test
    void readers_whateverGoesOn_reachNoDisk() throws Exception {
        RandomGenerator random = Seeded.random(15);
        List<String> disk = new CopyOnWriteArrayList<>();
        WatchedFiles watched = new WatchedFiles(files, (operation, name) -> {
            if (Thread.currentThread().getName().equals("reader")) {
                disk.add(operation + " " + name);
            }
        });
        try (TestMount mount = new TestMount(store, watched, TestConfig.withMemory(6)).start()) {
            for (int round = 0; round < 20; round++) {
                WrittenFile file = mount.writeback.create("a" + round, null);
                FutureTask<Boolean> reader = new FutureTask<>(() -> {
                    for (int i = 0; i < 200; i++) {
                        ask(file);
                        assertThat(file.retain()).isTrue();
                        file.release();
                    }
                    return true;
                });
                Thread.ofPlatform().daemon().name("reader").start(reader);
                while (!reader.isDone()) {
                    file.write(random.nextInt(2 * BLOCK_SIZE), ByteBuffer.wrap(new byte[random.nextInt(BLOCK_SIZE)]));
                    if (random.nextBoolean()) {
                        file.fsync();
                    }
                    if (random.nextInt(4) == 0) {
                        file.commit();
                    }
                }
                reader.get();
                FutureTask<Boolean> last = new FutureTask<>(() -> {
                    file.release();
                    return true;
                });
                Thread.ofPlatform().daemon().name("reader").start(last);
                last.get();
            }
            mount.assertNothingLeaks();
        }
        assertThat(disk).isEmpty();
    }
}

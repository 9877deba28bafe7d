package io.penstock.fuse;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.penstock.filesystem.FileSystem;
import io.penstock.fuse.kernel.KernelBinding;
import io.penstock.testing.Seeded;
import io.penstock.testing.TestData;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class KernelMountIT extends MountContract {
    private static final Path DROP_CACHES = Path.of("/proc/sys/vm/drop_caches");

    @Override
    Mount mount(FileSystem fileSystem, MountOptions options) throws MountException {
        return KernelBinding.mount(fileSystem, options);
    }

    @Test
    void inodes_afterTheKernelForgets_areFewAgain() throws Exception {
        assumeTrue(Files.isWritable(DROP_CACHES), "only root may make the kernel forget");
        int files = 20_000;
        for (int i = 0; i < files; i++) {
            bucket.put("dir" + i % 7 + "/file" + i, 1, 0);
        }

        run("find", mountPoint.toString(), "-size", "+5k"); // asks for the attributes of each
        assertThat(bucket.fileSystem().inodesInUse()).isGreaterThan(files / 2); // some may be forgotten already

        for (int i = 0; i < 100 && bucket.fileSystem().inodesInUse() > 0; i++) {
            Files.writeString(DROP_CACHES, "2");
            Thread.sleep(50); // FORGET comes when the kernel finds the time
        }
        assertThat(bucket.fileSystem().inodesInUse()).isZero();
    }

    @Test
    void anything_by64ThreadsOnAFailingStore_isAnsweredAndLeavesNothing() throws Exception {
        List<TestData> objects = IntStream.range(0, 32)
                .mapToObj(i -> bucket.put("dir" + i % 4 + "/object" + i, i * 50_000L, 0))
                .toList();
        AtomicInteger succeeded = new AtomicInteger();
        AtomicInteger failed = new AtomicInteger();
        long deadline = System.nanoTime() + Duration.ofSeconds(3).toNanos();
        List<Future<?>> ends = new ArrayList<>();
        try (ExecutorService threads = Executors.newFixedThreadPool(64)) {
            for (int i = 0; i < 64; i++) {
                RandomGenerator random = Seeded.random(i);
                ends.add(threads.submit(() -> {
                    while (System.nanoTime() < deadline) {
                        try {
                            useOne(objects.get(random.nextInt(objects.size())), random);
                            succeeded.incrementAndGet();
                        } catch (IOException e) {
                            failed.incrementAndGet();
                        }
                    }
                }));
            }
            RandomGenerator random = Seeded.random(64);
            while (System.nanoTime() < deadline) {
                bucket.breakStore();
                Thread.sleep(random.nextInt(5));
                bucket.mendStore();
                Thread.sleep(random.nextInt(20));
            }
        }
        for (Future<?> end : ends) {
            end.get(); // what was read is what was stored
        }
        assertThat(succeeded).hasPositiveValue();
        assertThat(failed).hasPositiveValue();
        bucket.mount().unmount(Duration.ofSeconds(20));
        assertThat(bucket.fileSystem().openHandles()).isZero();
    }

    private void useOne(TestData object, RandomGenerator random) throws IOException {
        Path path = bucket.path(object.name());
        switch (random.nextInt(3)) {
            case 0 -> assertThat(Files.size(path)).isEqualTo(object.size());
            case 1 -> {
                try (Stream<Path> entries = Files.list(path.getParent())) {
                    assertThat(entries).isNotEmpty();
                } catch (java.io.UncheckedIOException e) {
                    throw e.getCause();
                }
            }
            default -> {
                try (FileChannel file = FileChannel.open(path)) {
                    long at = random.nextLong(object.size() + 1);
                    ByteBuffer bytes = ByteBuffer.allocate(10_000);
                    if (file.read(bytes, at) > 0) {
                        object.verify(at, bytes.flip());
                    }
                }
            }
        }
    }
}

package io.penstock.fuse;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.penstock.filesystem.FileSystem;
import io.penstock.fuse.calls.CallObserver;
import io.penstock.fuse.kernel.KernelBinding;
import io.penstock.testing.Seeded;
import io.penstock.testing.TestData;
import io.penstock.testing.TestTier;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Tag("alone")
class KernelMountIT extends MountContract {
    private static final int FILES = TestTier.choose(20_000, 1_000_000);
    private static final Duration STRESS = Duration.ofSeconds(TestTier.choose(3, 60));

    private static final int MIB = 1 << 20;

    private static final Path DROP_CACHES = Path.of("/proc/sys/vm/drop_caches");

    @Override
    Mount mount(FileSystem fileSystem, MountOptions options) throws MountException {
        return KernelBinding.mount(fileSystem, options, CallObserver.NONE);
    }

    @Test
    @Timeout(900)
    void inodes_afterTheKernelForgets_areFewAgain() throws Exception {
        assumeTrue(Files.isWritable(DROP_CACHES), "only root may make the kernel forget");
        int files = FILES;
        for (int i = 0; i < files; i++) {
            bucket.put("dir" + i % 7 + "/file" + i, 1, 0);
        }

        run("find", mountPoint.toString(), "-size", "+5k"); // needs the attributes of each file
        assertThat(bucket.fileSystem().inodesInUse())
                .isGreaterThan(Math.min(files, InProcessMount.MOST_NAMES) / 2); // some may already be forgotten

        awaitAllForgotten();
    }

    @Test
    @Timeout(300)
    void inodes_ofMoreNamesThanTheKernelIsToKnow_areForgottenWithoutBeingShortOfMemory() throws Exception {
        int files = 2 * InProcessMount.MOST_NAMES;
        for (int i = 0; i < files; i++) {
            bucket.put("dir" + i % 7 + "/file" + i, 1, 0);
        }

        run("find", mountPoint.toString(), "-size", "+5k");

        // Each batch of names over the bound causes two batches to be forgotten.
        awaitTrue(() -> bucket.fileSystem().inodesInUse() < InProcessMount.MOST_NAMES + 4_000);
        assertThat(run("find", mountPoint.toString(), "-type", "f").lines()).hasSize(files);
    }

    @Test
    @Timeout(300)
    void inodes_ofMoreDirectoriesThanTheKernelIsToKnow_areForgottenButThoseThatSomebodyStandsIn() throws Exception {
        assumeTrue(bucket.mount().description().matches(".*protocol 7\\.(4[5-9]|[5-9]\\d).*"), "not before Linux 6.18");
        int directories = 2 * InProcessMount.MOST_NAMES;
        for (int i = 0; i < directories; i++) {
            bucket.put("samples/%05d/file".formatted(i), 1, 0);
        }
        Process standing = new ProcessBuilder("sh", "-c", "echo; read line; pwd -P; cat file | wc -c")
                .directory(bucket.path("samples/00000").toFile())
                .start();
        try {
            assertThat(standing.getInputStream().read()).isEqualTo('\n');

            assertThat(run("find", mountPoint.toString(), "-type", "f").lines()).hasSize(directories);

            awaitTrue(() -> bucket.fileSystem().inodesInUse() < InProcessMount.MOST_NAMES + 4_000);
            standing.getOutputStream().write('\n');
            standing.getOutputStream().close();
            assertThat(new String(standing.getInputStream().readAllBytes(), UTF_8))
                    .isEqualTo(bucket.path("samples/00000") + "\n1\n");
        } finally {
            standing.destroyForcibly().waitFor();
        }
    }

    private void awaitAllForgotten() throws Exception {
        awaitTrue(() -> {
            Files.writeString(DROP_CACHES, "2");
            return bucket.fileSystem().inodesInUse() == 0; // the kernel sends FORGET when it has time
        });
    }

    @Test
    void stat_ofAnObjectSeenChangedInAListing_showsTheNewOneBeforeItsTime() throws Exception {
        bucket.put("dir/object", 1, 0);
        try (Mount believing = mountBelieving()) {
            Path object = believing.mountPoint().resolve("dir/object");
            assertThat(Files.size(object)).isEqualTo(1);
            bucket.put("dir/object", 22, 1);
            assertThat(Files.size(object)).as("what the kernel believes").isEqualTo(1);

            list(bucket.path("dir")); // through the other mount: this one's kernel sends nothing

            awaitTrue(() -> Files.size(object) == 22);
            believing.unmount(Duration.ofSeconds(20));
        }
    }

    @Test
    void stat_ofAnObjectThatAReadFoundGone_doesNotExistBeforeItsTime() throws Exception {
        bucket.put("dir/object", 1, 0);
        try (Mount believing = mountBelieving()) {
            Path object = believing.mountPoint().resolve("dir/object");
            assertThat(Files.size(object)).isEqualTo(1);
            bucket.delete("dir/object");

            assertThatThrownBy(() -> Files.readAllBytes(object)).isInstanceOf(IOException.class);

            awaitTrue(() -> Files.notExists(object));
            believing.unmount(Duration.ofSeconds(20));
        }
    }

    @Test
    void read_ofAnObjectReplacedByAShorterOne_goesOnWithItsVersion() throws Exception {
        TestData old = bucket.put("object", 3 * MIB, 0);
        try (FileChannel reader = FileChannel.open(bucket.path("object"))) {
            reader.read(ByteBuffer.allocate(3 * MIB));
            TestData replaced = bucket.put("object", 10_000, 1);

            assertThat(Files.size(bucket.path("object"))).isEqualTo(10_000);
            try (FileChannel other = FileChannel.open(bucket.path("object"));
                    Arena mapping = Arena.ofConfined()) {
                replaced.verify(
                        0,
                        other.map(FileChannel.MapMode.READ_ONLY, 0, 10_000, mapping)
                                .asByteBuffer());
            }
            ByteBuffer rest = ByteBuffer.allocate(MIB);
            assertThat(reader.read(rest, 2 * MIB)).isEqualTo(MIB);
            old.verify(2 * MIB, rest.flip());
            assertThat(reader.size()).isEqualTo(3 * MIB);
        }
    }

    @Test
    void list_again_comesFromTheKernelUntilItIsListedAnew() throws Exception {
        for (int i = 0; i < 2_000; i++) {
            bucket.put("dir/" + i, 1, 0);
        }
        run("ls", bucket.path("dir").toString());
        long before = bucket.mount().requests();

        String again = run("ls", bucket.path("dir").toString());

        assertThat(again.lines()).hasSize(2_000);
        assertThat(bucket.mount().requests() - before).isLessThan(20);
        bucket.put("dir/new", 1, 0);
        assertThat(run("ls", bucket.path("dir").toString()).lines())
                .hasSize(2_001)
                .contains("new");
    }

    private Mount mountBelieving() throws Exception {
        Path folder = Files.createDirectories(mountPoint.resolveSibling("believing"));
        return bucket.mountAt(this::mount, folder, Duration.ofMinutes(1));
    }

    private static void list(Path directory) throws IOException {
        try (Stream<Path> entries = Files.list(directory)) {
            assertThat(entries).isNotEmpty();
        }
    }

    /** A separate thread notifies the kernel, so a change becomes visible after a moment. */
    private static void awaitTrue(Callable<Boolean> condition) throws Exception {
        long deadline = System.nanoTime()
                + Duration.ofSeconds(TestTier.isAll() ? 120 : 20).toNanos();
        while (!condition.call()) {
            assertThat(System.nanoTime()).isLessThan(deadline);
            Thread.sleep(5);
        }
    }

    @Test
    @Timeout(300)
    void anything_by64ThreadsOnAFailingStore_isAnsweredAndLeavesNothing() throws Exception {
        List<TestData> objects = IntStream.range(0, 32)
                .mapToObj(i -> bucket.put("dir" + i % 4 + "/object" + i, i * 50_000L, 0))
                .toList();
        AtomicInteger succeeded = new AtomicInteger();
        AtomicInteger failed = new AtomicInteger();
        long deadline = System.nanoTime() + STRESS.toNanos();
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
            end.get(); // the bytes read equal the stored ones
        }
        assertThat(succeeded).hasPositiveValue();
        assertThat(failed).hasPositiveValue();
        awaitTrue(() -> bucket.fileSystem().openHandles() == 0); // the kernel sends RELEASE after close(2) has returned
        if (Files.isWritable(DROP_CACHES)) {
            awaitAllForgotten();
        }
        bucket.mount().unmount(Duration.ofSeconds(20));
        assertThat(bucket.mount().requests()).isGreaterThan(succeeded.get());
        assertThat(bucket.mount().unanswered()).isZero();
        awaitTrue(() -> servingThreads() == 0); // the last thread reports its end shortly before it exits
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

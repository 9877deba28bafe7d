package io.penstock.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.penstock.testing.TestData;
import io.penstock.testing.TestTier;
import java.io.IOException;
import java.io.InputStream;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The state that a mount leaves when it ends, normally or not, and how the next mount handles it. */
final class LifecycleIT {
    private static final int MIB = 1 << 20;
    private static final S3Server SERVER = S3Server.shared();

    @TempDir
    private Path scratch;

    private TestBucket bucket;
    private final List<TestData> objects = IntStream.range(0, 8)
            .mapToObj(i -> TestData.of("data/%d.bin".formatted(i), 6L * MIB + i * 12_345L))
            .toList();

    @BeforeEach
    void fillBucket() throws Exception {
        bucket = new TestBucket(SERVER);
        bucket.putAll(objects);
    }

    @AfterEach
    void deleteBucket() {
        bucket.close();
    }

    private void verifyAll(MountedBucket mount) throws Exception {
        for (TestData data : objects) {
            try (InputStream in = Files.newInputStream(mount.path().resolve(data.name()))) {
                TestBucket.verify(data, in);
            }
        }
    }

    @Test
    void restart_withAWarmCache_makesNoGet() throws Exception {
        try (WireTap tap = new WireTap(SERVER)) {
            try (MountedBucket mount = MountedBucket.mount(tap.tapped(), bucket.name(), scratch)) {
                verifyAll(mount);
                assertThat(tap.drainObjectGets(bucket.name())).isNotEmpty();
                mount.terminate();
            }
            try (MountedBucket mount = MountedBucket.mount(tap.tapped(), bucket.name(), scratch)) {
                verifyAll(mount);
                assertThat(tap.drainObjectGets(bucket.name())).isEmpty();
            }
        }
    }

    @Tag("long")
    @Test
    void mounts_ofAMountThatNamesNoBinding_saysWhichAndWhy() throws Exception {
        try (MountedBucket mount = MountedBucket.mount(SERVER, bucket.name(), scratch, "--binding", "auto")) {
            List<String> command = new ArrayList<>(MountedBucket.penstock());
            command.add("mounts");

            String mounts = Program.run(scratch, command).orThrow();
            assertThat(mounts.substring(mounts.indexOf(mount.path() + " ")))
                    .contains("kernel (the fastest that works here)", "protocol 7.");
            mount.awaitLog("kernel (the fastest that works here)");
        }
    }

    @Test
    @Timeout(300)
    void stats_ofALivingMount_areThereAlsoWhileTheStoreIsAway() throws Exception {
        try (S3Front front = new S3Front(SERVER);
                MountedBucket mount = MountedBucket.mount(front.fronted(), bucket.name(), scratch)) {
            TestData first = objects.getFirst();
            try (InputStream in = Files.newInputStream(mount.path().resolve(first.name()))) {
                TestBucket.verify(first, in);
            }
            assertThat(stats(mount, "--once", "--json")).contains("\"bytesFetched\":" + first.size() + ",");
            CountDownLatch refused = new CountDownLatch(1);
            front.treat(_ -> {
                refused.countDown();
                return S3Front.Treatment.answer(503, "SlowDown");
            });
            Process reader = new ProcessBuilder(
                            "cat",
                            mount.path().resolve(objects.getLast().name()).toString())
                    .redirectOutput(scratch.resolve("read").toFile())
                    .start();
            try {
                refused.await();
                assertThat(stats(mount, "--once")).contains(mount.path() + ":", "s3://" + bucket.name(), " GETs, ");
                assertThat(stats(mount, "--once", "--json"))
                        .containsPattern("\"requests\":\\{\"gets\":[1-9]")
                        .containsPattern("\"throttled\":[1-9]");
            } finally {
                front.passAll();
                assertThat(reader.waitFor()).isZero();
            }
            assertThat(Program.shell(
                                    scratch,
                                    "\"$1\" stats \"$2\" --json --interval 100ms | head -n 2",
                                    MountedBucket.penstock().getFirst(),
                                    mount.path())
                            .orThrow()
                            .lines())
                    .filteredOn(line -> line.startsWith("{")) // the JVM's note of its options comes first
                    .hasSize(2);
        }
    }

    private String stats(MountedBucket mount, String... options) throws Exception {
        List<String> command = new ArrayList<>(MountedBucket.penstock());
        command.addAll(List.of("stats", mount.path().toString()));
        command.addAll(List.of(options));
        return Program.run(scratch, command).orThrow();
    }

    @Tag("binding")
    @ParameterizedTest
    @ValueSource(strings = {"umount", "fusermount3 -uz"})
    @Timeout(300)
    void umount_byTheSystemsCommand_endsTheProcessAndLeavesNothing(String command) throws Exception {
        assertEndsAndLeavesNothing(command);
    }

    @Tag("long")
    @ParameterizedTest
    @ValueSource(strings = {"umount -l", "fusermount3 -u"})
    @Timeout(300)
    void umount_byAnotherOfTheSystemsCommands_endsTheProcessAndLeavesNothing(String command) throws Exception {
        assertEndsAndLeavesNothing(command);
    }

    private void assertEndsAndLeavesNothing(String command) throws Exception {
        try (MountedBucket mount = MountedBucket.mount(SERVER, bucket.name(), scratch)) {
            Program.shell(scratch, "cat \"$1\"/data/* >/dev/null", mount.path()).orThrow();
            Program.shell(scratch, command + " \"$1\"", mount.path()).orThrow();
            assertThat(mount.awaitEnd()).isTrue();
            assertThat(mount.process().exitValue()).isZero();
            assertNothingLeft(mount);
        }
    }

    @Tag("long")
    @Tag("binding")
    @Test
    @Timeout(300)
    void lazyUmount_ofABusyMount_endsTheProcessWithItsLastUser() throws Exception {
        try (MountedBucket mount = MountedBucket.mount(SERVER, bucket.name(), scratch)) {
            TestData first = objects.getFirst();
            try (FileChannel open = FileChannel.open(mount.path().resolve(first.name()))) {
                Program.shell(scratch, "umount -l \"$1\"", mount.path()).orThrow();
                assertThat(MountedBucket.isMounted(mount.path())).isFalse();
                ByteBuffer bytes = ByteBuffer.allocate(100_000);
                open.read(bytes, MIB);
                first.verify(MIB, bytes.flip());
            }
            assertThat(mount.awaitEnd()).isTrue();
            assertThat(mount.process().exitValue()).isZero();
        }
    }

    @Tag("long")
    @Test
    @Timeout(300)
    void penstockUmount_ofALivingMountOfAnUnknownProcess_isRefusedWhileBusyAndThenSaysSo() throws Exception {
        assumeTrue("root".equals(System.getProperty("user.name")), "the state file is known to be root's");
        try (MountedBucket mount = MountedBucket.mount(SERVER, bucket.name(), scratch)) {
            List<String> command = new ArrayList<>(MountedBucket.penstock());
            command.addAll(List.of("umount", mount.path().toString()));
            Path state = Path.of("/run/penstock", mount.process().pid() + ".properties");
            Files.delete(state);
            try (FileChannel open =
                    FileChannel.open(mount.path().resolve(objects.getFirst().name()))) {
                assertThat(open.isOpen()).isTrue();
                Program.Result busy = Program.run(scratch, command);
                assertThat(busy.exit()).isEqualTo(1);
                assertThat(busy.out()).contains("is busy");
                assertThat(MountedBucket.isMounted(mount.path())).isTrue();
            }
            assertThat(Program.run(scratch, command).orThrow()).contains("unknown", "did not wait for uploads");
            assertThat(MountedBucket.isMounted(mount.path())).isFalse();
            assertThat(mount.awaitEnd()).isTrue();
        }
    }

    @Tag("long")
    @Test
    @Timeout(300)
    void penstockUmount_ofAStoppedProcess_saysSo() throws Exception {
        try (MountedBucket mount = MountedBucket.mount(SERVER, bucket.name(), scratch)) {
            List<String> command = new ArrayList<>(MountedBucket.penstock());
            command.addAll(List.of("umount", mount.path().toString()));
            long pid = mount.process().pid();
            Program.shell(scratch, "kill -STOP $1", pid).orThrow();
            try {
                Program.Result refused = Program.run(scratch, command);
                assertThat(refused.exit()).isEqualTo(1);
                assertThat(refused.out()).contains("is stopped").contains("kill -CONT " + pid);
                assertThat(MountedBucket.isMounted(mount.path())).isTrue();
            } finally {
                Program.shell(scratch, "kill -CONT $1", pid).orThrow();
            }
            Program.run(scratch, command).orThrow();
            assertThat(mount.awaitEnd()).isTrue();
        }
    }

    /** A command that looked up a name there would wait as long as the mount is stopped. */
    @Tag("long")
    @Test
    @Timeout(300)
    void commands_givenALinkIntoAStoppedMount_lookNothingUpThere() throws Exception {
        try (MountedBucket mount = MountedBucket.mount(SERVER, bucket.name(), scratch)) {
            Path link = Files.createSymbolicLink(
                    scratch.resolve("link"), mount.path().resolve("data/0.bin"));
            long pid = mount.process().pid();
            Program.shell(scratch, "kill -STOP $1", pid).orThrow();
            try {
                assertThat(penstock("why", link).out()).contains("is stopped");
                assertThat(penstock("stats", link, "--once").out()).contains("nothing is mounted on " + link);
                assertThat(penstock("umount", link).out()).contains("nothing is mounted on " + link);
                assertThat(penstock("doctor", link).out())
                        .contains("nothing is mounted on " + link + ": it is inside the mount ");
                assertThat(penstock("warm", mount.path(), "--manifest", link).out())
                        .contains("is stopped");
                assertThat(penstock("bench", "--against", link).out()).contains("is stopped");
            } finally {
                Program.shell(scratch, "kill -CONT $1", pid).orThrow();
            }
        }
    }

    private Program.Result penstock(Object... arguments) throws Exception {
        List<String> command = new ArrayList<>(MountedBucket.penstock());
        Stream.of(arguments).map(Object::toString).forEach(command::add);
        return Program.run(scratch, command);
    }

    @Tag("binding")
    @ParameterizedTest
    @ValueSource(strings = {"TERM", "INT", "HUP"})
    @Timeout(300)
    void signal_whileReading_unmountsAndLeavesNothing(String signal) throws Exception {
        try (MountedBucket mount = MountedBucket.mount(SERVER, bucket.name(), scratch)) {
            try (ExecutorService reader = Executors.newSingleThreadExecutor()) {
                reader.execute(() -> Program.shell(scratch, "cat \"$1\"/data/* >/dev/null", mount.path()));
                Program.shell(scratch, "kill -$1 $2", signal, mount.process().pid())
                        .orThrow();
                assertThat(mount.awaitEnd()).as(mount.log()).isTrue();
            }
            assertNothingLeft(mount);
        }
    }

    @Tag("binding")
    @Test
    @Timeout(300)
    void abort_byTheKernel_endsTheProcessAndLeavesNothing() throws Exception {
        assumeTrue("root".equals(System.getProperty("user.name")), "only root may abort a mount");
        try (MountedBucket mount = MountedBucket.mount(SERVER, bucket.name(), scratch)) {
            Program.shell(
                            scratch,
                            "c=/sys/fs/fuse/connections; mountpoint -q $c || mount -t fusectl none $c;"
                                    + " minor=$(stat -c %d \"$1\"); echo 1 > $c/$minor/abort",
                            mount.path())
                    .orThrow();
            assertThat(mount.awaitEnd()).as(mount.log()).isTrue();
            assertNothingLeft(mount);
        }
    }

    @Tag("binding")
    @Test
    @Timeout(300)
    void mount_overWhatAKilledProcessLeft_saysSoAndTakesItAway() throws Exception {
        try (MountedBucket killed = MountedBucket.mount(SERVER, bucket.name(), scratch)) {
            killed.killAndLeave();
            assertThat(Program.shell(scratch, "ls \"$1\"", killed.path()).out())
                    .contains("Transport endpoint is not connected");
            try (MountedBucket mount = MountedBucket.mount(SERVER, bucket.name(), scratch)) {
                verifyAll(mount);
                assertThat(mount.log())
                        .contains(
                                "had the dead mount of an ended Penstock process", "s3://" + bucket.name(), "removed");
                assertThat(Path.of("/run/penstock", killed.process().pid() + ".properties"))
                        .as("its state, where it is root's")
                        .doesNotExist();
                mount.terminate();
                assertNothingLeft(mount);
            }
        }
    }

    @Tag("long")
    @Tag("binding")
    @Test
    void sigterm_whileStarting_leavesNothing() throws Exception {
        for (int millis = 100; millis <= 1_500; millis += TestTier.choose(400, 100)) {
            try (MountedBucket mount = MountedBucket.start(SERVER, bucket.name(), scratch)) {
                Thread.sleep(millis);
                mount.terminate();
                assertNothingLeft(mount);
            }
        }
    }

    private static void assertNothingLeft(MountedBucket mount) throws IOException {
        assertThat(MountedBucket.isMounted(mount.path())).isFalse();
        try (Stream<Path> left = Files.list(mount.path())) {
            assertThat(left).isEmpty();
        }
        assertThat(mount.process().descendants()).isEmpty();
    }

    @Tag("long")
    @Test
    void killMinus9_while16ThreadsRead_servesTheRightBytesAfterwards() throws Exception {
        Random random = new Random(9);
        for (int round = 0; round < 4; round++) {
            try (MountedBucket mount = MountedBucket.mount(SERVER, bucket.name(), scratch)) {
                try (ExecutorService readers = Executors.newFixedThreadPool(16)) {
                    for (int i = 0; i < 16; i++) {
                        Random mine = new Random(random.nextLong());
                        readers.execute(() -> readUntilItEnds(mount, mine));
                    }
                    Thread.sleep(random.nextInt(50, 400));
                    mount.kill();
                }
            }
        }
        try (MountedBucket mount = MountedBucket.mount(SERVER, bucket.name(), scratch)) {
            verifyAll(mount);
        }
    }

    /** Reads at random until the mount dies; every byte returned before must be right. */
    private void readUntilItEnds(MountedBucket mount, Random random) {
        while (true) {
            TestData data = objects.get(random.nextInt(objects.size()));
            long position = random.nextLong(data.size());
            ByteBuffer buffer = ByteBuffer.allocate((int) Math.min(100_000, data.size() - position));
            try (FileChannel channel = FileChannel.open(mount.path().resolve(data.name()))) {
                while (buffer.hasRemaining() && channel.read(buffer, position + buffer.position()) > 0) {}
            } catch (IOException killed) {
                return;
            }
            data.verify(position, buffer.flip());
        }
    }

    @Tag("long")
    @Test
    void bitFlips_inTheCacheFolder_areFoundAndFetchedAgain() throws Exception {
        try (MountedBucket mount = MountedBucket.mount(SERVER, bucket.name(), scratch)) {
            verifyAll(mount);
            mount.terminate();
        }
        assertThat(flipOneByteInEveryDataFile()).isPositive();
        try (MountedBucket mount = MountedBucket.mount(SERVER, bucket.name(), scratch)) {
            verifyAll(mount);
        }
    }

    private int flipOneByteInEveryDataFile() throws IOException {
        List<Path> files;
        try (Stream<Path> all = Files.walk(scratch.resolve("cache"))) {
            files = all.filter(Files::isRegularFile)
                    .filter(file -> file.toFile().length() > MIB)
                    .toList();
        }
        for (Path file : files) {
            try (RandomAccessFile data = new RandomAccessFile(file.toFile(), "rw")) {
                long middle = data.length() / 2;
                data.seek(middle);
                int value = data.read();
                data.seek(middle);
                data.write(value ^ 0x40);
            }
        }
        return files.size();
    }

    @Test
    void secondMount_onTheSameCacheFolder_isRefusedNamingTheFirst() throws Exception {
        try (MountedBucket mount = MountedBucket.mount(SERVER, bucket.name(), scratch)) {
            Path other = Files.createDirectories(scratch.resolve("other"));
            assertThat(Program.shell(mount.path(), "true").exit()).isZero();
            AssertionError refused = org.assertj.core.api.Assertions.catchThrowableOfType(
                    AssertionError.class,
                    () -> MountedBucket.mount(
                            SERVER,
                            bucket.name(),
                            other,
                            "--cache",
                            scratch.resolve("cache").toString()));
            assertThat(refused)
                    .hasMessageContaining(Long.toString(mount.process().pid()))
                    .hasMessageContaining("--cache");
        }
    }
}

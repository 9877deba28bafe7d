package io.penstock.fuse;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import io.penstock.testing.TestData;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The behaviour of every binding, on real mounts. The mount is used as any program would use it, with java.nio and with
 * other processes. It is never mapped: a page fault would stop the JVM that has to serve it.
 */
@Timeout(60)
abstract class MountContract {
    /** No call in these tests takes longer; reaching it is a failure. */
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private static final int MIB = 1 << 20;

    @TempDir
    private Path folder;

    InProcessMount bucket;
    Path mountPoint;

    abstract Mount mount(io.penstock.filesystem.FileSystem fileSystem, MountOptions options)
            throws MountException, InterruptedException;

    @BeforeEach
    void mount() throws Exception {
        bucket = new InProcessMount(this::mount, folder);
        mountPoint = bucket.mount().mountPoint();
    }

    @AfterEach
    void detach() {
        if (bucket != null) {
            bucket.close();
        }
    }

    @Test
    void mount_emptyBucket_showsAnEmptyDirectoryAndItsSource() throws IOException {
        assertThat(names(mountPoint)).isEmpty();
        assertThat(MountTable.read().at(mountPoint))
                .map(entry -> entry.type() + " " + entry.source())
                .contains("fuse.penstock " + InProcessMount.SOURCE);
        assertThat(Files.getFileStore(mountPoint).getUsableSpace()).isGreaterThan(1L << 40);
    }

    @Test
    void mount_onItself_isRefused() {
        assertThatThrownBy(() -> bucket.mountAt(this::mount, mountPoint))
                .isInstanceOf(MountException.class)
                .hasMessageContaining("already mounted");
    }

    @Test
    void unmount_idle_leavesNothingAndMayBeRepeated() throws Exception {
        bucket.mount().unmount(Duration.ZERO);

        assertThat(MountTable.read().at(mountPoint)).isEmpty();
        assertThat(names(mountPoint)).isEmpty();
        bucket.mount().awaitUnmounted();
        bucket.mount().unmount(Duration.ZERO);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 4095, MIB - 1, MIB, MIB + 1, 5 * MIB})
    void read_anySize_givesTheBytes(int size) throws IOException {
        TestData data = bucket.put("object", size, 0);

        assertThat(Files.readAllBytes(bucket.path("object"))).isEqualTo(data.bytes());
    }

    @Test
    void read_atAnyPlace_givesTheBytesOfThatPlace() throws IOException {
        TestData data = bucket.put("object", 3 * MIB + 17, 0);

        try (FileChannel file = FileChannel.open(bucket.path("object"))) {
            for (long at : new long[] {3 * MIB + 16, 0, MIB - 1, 2 * MIB, 1, MIB + 4097}) {
                ByteBuffer bytes = ByteBuffer.allocate(10_000);
                file.read(bytes, at);
                data.verify(at, bytes.flip());
            }
        }
    }

    @Test
    void read_64AtOnce_eachGetsItsBytes() throws Exception {
        List<TestData> objects = IntStream.range(0, 8)
                .mapToObj(i -> bucket.put("dir/object" + i, MIB + i, 0))
                .toList();

        List<Future<byte[]>> reads = new ArrayList<>();
        try (ExecutorService readers = Executors.newFixedThreadPool(64)) {
            for (int i = 0; i < 64; i++) {
                Path path = bucket.path(objects.get(i % 8).name());
                reads.add(readers.submit(() -> Files.readAllBytes(path)));
            }
        }
        for (int i = 0; i < 64; i++) {
            assertThat(reads.get(i).get()).isEqualTo(objects.get(i % 8).bytes());
        }
    }

    @Test
    void list_tenThousand_givesEachNameOnce() throws IOException {
        List<String> expected =
                IntStream.range(0, 10_000).mapToObj(i -> "sample-" + i).toList();
        expected.forEach(name -> bucket.put("dir/" + name, 1, 0));

        assertThat(names(bucket.path("dir"))).containsExactlyInAnyOrderElementsOf(expected);
    }

    @Test
    void list_namesOfAnyScript_areWhatTheyWere() throws IOException {
        List<String> expected = List.of("a b", "größe", "日本", "50%+1", "x\ny");
        expected.forEach(name -> bucket.put(name, 1, 0));

        assertThat(names(mountPoint)).containsExactlyInAnyOrderElementsOf(expected);
        assertThat(Files.readAllBytes(bucket.path("日本"))).hasSize(1);
    }

    @Test
    void stat_fileAndDirectory_showSizeTimeAndKind() throws IOException {
        bucket.put("dir/object", 12_345, 0);

        BasicFileAttributes file = Files.readAttributes(bucket.path("dir/object"), BasicFileAttributes.class);
        assertThat(file.isRegularFile()).isTrue();
        assertThat(file.size()).isEqualTo(12_345);
        assertThat(file.lastModifiedTime().toInstant()).isAfter(Instant.EPOCH);
        assertThat(Files.isDirectory(bucket.path("dir"))).isTrue();
    }

    @Test
    void stat_again_sameInodeNumber() throws IOException {
        bucket.put("dir/object", 1, 0);
        Object first = Files.getAttribute(bucket.path("dir/object"), "unix:ino");
        Files.exists(bucket.path("dir/absent"));

        assertThat(Files.getAttribute(bucket.path("dir/object"), "unix:ino")).isEqualTo(first);
    }

    @Test
    void stat_absent_doesNotExist() {
        assertThatThrownBy(() -> Files.size(bucket.path("absent"))).isInstanceOf(NoSuchFileException.class);
    }

    @Test
    void stat_nameThatIsNotUtf8_isRefusedAndNothingBreaks() throws Exception {
        bucket.put("object", 1, 0);

        String said =
                run("sh", "-c", "LC_ALL=C ls \"$(printf '%s/\\377\\376' \"$1\")\" 2>&1", "sh", mountPoint.toString());

        assertThat(said).contains("Invalid or incomplete multibyte");
        assertThat(Files.size(bucket.path("object"))).isEqualTo(1);
    }

    @Test
    void xattr_ofAnObject_isShown() throws Exception {
        bucket.put("object", 1, 0);

        assertThat(Files.getFileStore(bucket.path("object")).supportsFileAttributeView("user"))
                .isTrue();
        var view = Files.getFileAttributeView(
                bucket.path("object"), java.nio.file.attribute.UserDefinedFileAttributeView.class);
        assertThat(view.list()).as("programs that copy attributes would fail").isEmpty();
        assertThat(view.size("penstock.key")).isEqualTo("object".length());
    }

    @Test
    void change_anything_readOnlyFileSystem() {
        bucket.put("object", 1, 0);
        Path object = bucket.path("object");

        assertReadOnly(() -> Files.createFile(bucket.path("new")));
        assertReadOnly(() -> Files.createDirectory(bucket.path("new")));
        assertReadOnly(() -> Files.createSymbolicLink(bucket.path("new"), Path.of("object")));
        assertReadOnly(() -> Files.createLink(bucket.path("new"), object));
        assertReadOnly(() -> Files.delete(object));
        assertReadOnly(() -> Files.move(object, bucket.path("new")));
        assertReadOnly(() -> Files.setLastModifiedTime(object, FileTime.from(Instant.EPOCH)));
        assertReadOnly(() -> Files.setAttribute(object, "unix:mode", 0600));
        assertReadOnly(() -> Files.setAttribute(object, "unix:uid", 1));
        assertReadOnly(() -> Files.newByteChannel(object, StandardOpenOption.WRITE));
        assertReadOnly(() -> Files.setAttribute(object, "user:a", new byte[1]));
    }

    @Test
    void fsyncAndSeek_openToRead_succeed() throws Exception {
        bucket.put("dir/object", 1_000, 0);

        String said = run("python3", "-c", """
            import os, sys
            directory = os.open(sys.argv[1], os.O_RDONLY)
            os.fsync(directory)
            file = os.open("object", os.O_RDONLY, dir_fd=directory)
            os.fsync(file)
            os.fdatasync(file)
            print(os.lseek(file, 10, os.SEEK_DATA), os.lseek(file, 10, os.SEEK_HOLE), os.fstat(file).st_size)
            os.close(file)
            """, bucket.path("dir").toString());

        assertThat(said.strip()).isEqualTo("10 1000 1000");
    }

    @Test
    void store_failingAsNoneShould_isAnInputOutputErrorAndPasses() throws IOException {
        bucket.put("object", MIB, 0);
        Files.size(bucket.path("object"));
        bucket.breakStore();

        assertThatThrownBy(() -> Files.readAllBytes(bucket.path("object")))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("Input/output error");

        bucket.mendStore();
        assertThat(Files.readAllBytes(bucket.path("object"))).hasSize(MIB);
    }

    @Test
    void reopen_sameVersion_isReadFromTheKernelsCache() throws IOException {
        TestData data = bucket.put("object", 32 * MIB, 0);
        Files.readAllBytes(bucket.path("object"));
        long before = bucket.mount().requests();

        assertThat(Files.readAllBytes(bucket.path("object"))).isEqualTo(data.bytes());

        // Reading takes 256 requests of 128 KiB, or 32 of 1 MiB; opening, getting attributes and closing take a few;
        // and a kernel that is short of memory may have dropped some pages.
        assertThat(bucket.mount().requests() - before).isLessThan(24);
    }

    @Test
    void reopen_newVersion_isReadAnew() throws IOException {
        bucket.put("object", MIB, 0);
        Files.readAllBytes(bucket.path("object"));
        TestData changed = bucket.put("object", MIB, 1);

        assertThat(Files.readAllBytes(bucket.path("object"))).isEqualTo(changed.bytes());
    }

    @Test
    void requests_tenThousand_startNoThreads() throws IOException {
        bucket.put("object", 1, 0);
        Files.size(bucket.path("object"));
        long requests = bucket.mount().requests();
        long threads = threadsStarted();

        for (int i = 0; i < 10_000; i++) {
            Files.size(bucket.path("object"));
        }

        assertThat(bucket.mount().requests() - requests).isGreaterThanOrEqualTo(10_000);
        // Each callback on a thread of libfuse would count as one; the JVM itself may start a few.
        assertThat(threadsStarted() - threads).isLessThan(100);
    }

    @Test
    void unmount_busy_saysWhoHoldsItAndStaysMounted() throws Exception {
        bucket.put("dir/object", 1, 0);
        Process holder = new ProcessBuilder("sleep", "60")
                .directory(bucket.path("dir").toFile())
                .start();
        try {
            assertThatThrownBy(() -> bucket.mount().unmount(Duration.ofMillis(100)))
                    .isInstanceOf(MountException.class)
                    .hasMessageContaining("sleep (pid " + holder.pid() + ") has its working directory there")
                    .hasMessageContaining(bucket.path("dir").toString());
            assertThat(names(mountPoint)).containsExactly("dir");
        } finally {
            holder.destroyForcibly().waitFor();
        }
        bucket.mount().unmount(PATIENCE);
        assertThat(MountTable.read().at(mountPoint)).isEmpty();
    }

    @Test
    void unmount_busyForAWhile_isPatient() throws Exception {
        bucket.put("object", 1, 0);
        FileChannel held = FileChannel.open(bucket.path("object"));
        Thread unmounting = Thread.ofVirtual().unstarted(() -> {
            try {
                bucket.mount().unmount(PATIENCE);
            } catch (MountException | InterruptedException e) {
                throw new AssertionError(e);
            }
        });
        unmounting.start();
        assertThat(unmounting.join(Duration.ofMillis(200))).isFalse();

        held.close();

        assertThat(unmounting.join(PATIENCE)).isTrue();
        assertThat(MountTable.read().at(mountPoint)).isEmpty();
    }

    @Test
    void unmountedByOthers_endsTheLoop() throws Exception {
        run("umount", mountPoint.toString());

        assertTimeoutPreemptively(PATIENCE, () -> bucket.mount().awaitUnmounted());
        bucket.mount().unmount(Duration.ZERO);
    }

    @Test
    void close_busy_isGoneAtOnceAndServesItsLastUser() throws Exception {
        TestData data = bucket.put("object", 2 * MIB, 0);
        try (FileChannel file = FileChannel.open(bucket.path("object"))) {
            bucket.mount().close();

            assertThat(MountTable.read().at(mountPoint)).isEmpty();
            ByteBuffer bytes = ByteBuffer.allocate(100_000);
            file.read(bytes, MIB);
            data.verify(MIB, bytes.flip());
        }
        assertTimeoutPreemptively(PATIENCE, () -> bucket.mount().awaitUnmounted());
    }

    @Test
    void mountAndUnmount_twentyTimes_leavesNoThreadAndNoDescriptor() throws Exception {
        bucket.put("object", 100, 0);
        mountReadUnmount(); // loads everything that stays loaded
        int descriptors = openDescriptors();
        long threads = servingThreads();

        int rounds = 20;
        for (int i = 0; i < rounds; i++) {
            mountReadUnmount();
        }

        // The JVM opens a jar or a selector at any time; a leak of a mount would occur in each round.
        assertThat(openDescriptors()).isLessThan(descriptors + rounds / 2);
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (servingThreads() > threads && System.nanoTime() < deadline) {
            Thread.onSpinWait(); // the last thread reports its end shortly before it exits
        }
        assertThat(servingThreads())
                .as("the first mount's last may have been counted")
                .isLessThanOrEqualTo(threads);
    }

    private void mountReadUnmount() throws Exception {
        try (Mount again = bucket.mountAt(this::mount, Files.createDirectories(folder.resolve("again")))) {
            assertThat(Files.readAllBytes(again.mountPoint().resolve("object"))).hasSize(100);
            again.unmount(PATIENCE);
        }
    }

    static long servingThreads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("fuse "))
                .count();
    }

    private static int openDescriptors() throws IOException {
        try (Stream<Path> descriptors = Files.list(Path.of("/proc/self/fd"))) {
            return (int) descriptors.count();
        }
    }

    private static long threadsStarted() {
        return ManagementFactory.getThreadMXBean().getTotalStartedThreadCount();
    }

    private static List<String> names(Path directory) throws IOException {
        try (Stream<Path> entries = Files.list(directory)) {
            return entries.map(entry -> entry.getFileName().toString()).toList();
        }
    }

    private static void assertReadOnly(ThrowingCallable change) {
        assertThatThrownBy(change)
                .isInstanceOf(FileSystemException.class)
                .hasMessageContaining("Read-only file system");
    }

    static String run(String... command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        try (var output = process.getInputStream()) {
            return new String(output.readAllBytes(), java.nio.charset.StandardCharsets.UTF_8);
        } finally {
            process.waitFor();
        }
    }
}

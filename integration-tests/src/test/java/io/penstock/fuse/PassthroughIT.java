package io.penstock.fuse;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.penstock.cache.CacheStatistics;
import io.penstock.filesystem.Passthrough;
import io.penstock.fuse.calls.CallObserver;
import io.penstock.fuse.kernel.KernelBinding;
import io.penstock.testing.TestData;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.stream.Stream;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Files of the cache that the kernel reads directly, on real mounts. Skipped, with the reason, where it cannot. */
@Timeout(60)
class PassthroughIT {
    private static final int MIB = 1 << 20;

    /** Not a multiple of the page size: the file must end where the object does. */
    private static final long SIZE = 8 * MIB + 12_345;

    /** The maximum for opening, getting attributes and closing; reading SIZE takes at least 9. */
    private static final int FEW_REQUESTS = 6;

    @TempDir
    private Path folder;

    private @Nullable InProcessMount mounted;

    /** A mount that a test created for its cache folder. */
    private @Nullable Path cacheMount;

    @AfterEach
    void nothingIsLeft() throws Exception {
        end();
        if (cacheMount != null) {
            assertThat(MountContract.run("umount", cacheMount.toString()))
                    .as("something in the cache folder is still open")
                    .isEmpty();
        }
    }

    private void end() {
        if (mounted != null) {
            mounted.close();
            assertThat(mounted.fileSystem().openHandles()).isZero();
            assertThat(mounted.fileSystem().backingFiles()).isZero();
            mounted = null;
        }
    }

    private InProcessMount start(Passthrough passthrough) throws Exception {
        return start(passthrough, folder.resolve("cache"));
    }

    private InProcessMount start(Passthrough passthrough, Path cacheFolder) throws Exception {
        end();
        InProcessMount bucket = new InProcessMount(
                (files, options) -> KernelBinding.mount(files, options, CallObserver.NONE),
                folder,
                cacheFolder,
                passthrough);
        mounted = bucket;
        String description = bucket.mount().description();
        assumeTrue(
                passthrough == Passthrough.OFF || !description.contains("no passthrough"),
                () -> "the kernel passes nothing through: " + description);
        return bucket;
    }

    /** Puts an object and reads it, so that the next open is passed through. */
    private static TestData cached(InProcessMount bucket, String key, long size, int generation) throws Exception {
        long before = bucket.cacheStatistics().diskBytes();
        TestData data = bucket.put(key, size, generation);
        assertThat(Files.readAllBytes(bucket.path(key))).isEqualTo(data.bytes());
        bucket.awaitStored(before + (size + 4095) / 4096 * 4096);
        return data;
    }

    private static void assertPassesThrough(InProcessMount bucket, TestData data) throws Exception {
        for (int i = 0; ; i++) {
            long before = bucket.mount().requests();
            assertThat(Files.readAllBytes(bucket.path(data.name()))).isEqualTo(data.bytes());
            if (bucket.mount().requests() - before <= FEW_REQUESTS) {
                return;
            }
            assertThat(i).as("reads that were not passed through").isLessThan(1_000);
            Thread.sleep(1); // the previous release, or the last page, was still in progress
        }
    }

    private static byte[] read(FileChannel file, long size) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(Math.toIntExact(size));
        while (bytes.hasRemaining() && file.read(bytes, bytes.position()) > 0) {
            // continues
        }
        return bytes.array();
    }

    @Test
    void open_wholeFile_isReadWithoutAskingAndAsLongAsTheObject() throws Exception {
        InProcessMount bucket = start(Passthrough.VERIFIED);
        TestData data = cached(bucket, "object", SIZE, 0);

        assertPassesThrough(bucket, data);

        assertThat(Files.size(bucket.path("object"))).isEqualTo(SIZE);
        assertThat(bucket.mount().description()).contains(", passthrough");
    }

    @Test
    void mmap_wholeFile_isTheContent() throws Exception {
        InProcessMount bucket = start(Passthrough.VERIFIED);
        TestData data = cached(bucket, "object", SIZE, 0);
        assertPassesThrough(bucket, data);
        CacheStatistics before = bucket.cacheStatistics();

        // In another process: in this one a page fault could stop the JVM that has to serve it.
        String output = MountContract.run(mappedChecksum(bucket.path("object").toString()));

        assertThat(output.strip()).isEqualTo(checksum(data));
        assertThat(bucket.cacheStatistics()).as("pages that were asked for").isEqualTo(before);
    }

    /** Prints the checksum of a file that it maps and closes; with a second argument, only after a line of input. */
    static final class MappedChecksum {
        private MappedChecksum() {}

        public static void main(String[] arguments) throws IOException {
            MappedByteBuffer mapping;
            try (FileChannel file = FileChannel.open(Path.of(arguments[0]))) {
                mapping = file.map(FileChannel.MapMode.READ_ONLY, 0, file.size());
            }
            if (arguments.length > 1) {
                System.out.println("mapped");
                System.in.read();
            }
            CRC32C checksum = new CRC32C();
            checksum.update(mapping);
            System.out.println(checksum.getValue());
        }
    }

    /** The command that runs {@link MappedChecksum}. */
    private static String[] mappedChecksum(String... arguments) {
        return Stream.concat(
                        Stream.of(
                                "env",
                                "--unset=JDK_JAVA_OPTIONS", // java reports that it uses them
                                Path.of(System.getProperty("java.home"), "bin", "java")
                                        .toString(),
                                "-cp",
                                System.getProperty("java.class.path"),
                                MappedChecksum.class.getName()),
                        Stream.of(arguments))
                .toArray(String[]::new);
    }

    private static String checksum(TestData data) {
        CRC32C checksum = new CRC32C();
        checksum.update(data.bytes());
        return Long.toString(checksum.getValue());
    }

    @Test
    void evict_moreThanFitsWhilePassedThrough_leavesItsBytes() throws Exception {
        InProcessMount bucket = start(Passthrough.VERIFIED);
        TestData data = cached(bucket, "object", SIZE, 0);
        assertPassesThrough(bucket, data);
        try (FileChannel file = FileChannel.open(bucket.path("object"))) {
            readMoreThanFits(bucket);
            assertThat(read(file, SIZE)).isEqualTo(data.bytes());
        }
        assertPassesThrough(bucket, data);
    }

    @Test
    void evict_moreThanFitsWhileMappedButClosed_leavesTheMappingItsBytes() throws Exception {
        InProcessMount bucket = start(Passthrough.VERIFIED);
        TestData data = cached(bucket, "object", SIZE, 0);
        assertPassesThrough(bucket, data);
        Process program =
                new ProcessBuilder(mappedChecksum(bucket.path("object").toString(), "when told")).start();
        try (BufferedReader output = program.inputReader();
                Writer input = program.outputWriter()) {
            assertThat(output.readLine()).isEqualTo("mapped");
            awaitNoBackingFiles(bucket);
            for (int i = 0; i < 5; i++) { // more often than the mapped object was read
                readMoreThanFits(bucket);
            }
            input.write('\n');
            input.flush();
            assertThat(output.readLine()).isEqualTo(checksum(data));
        } finally {
            program.destroyForcibly().waitFor();
        }
    }

    private static void readMoreThanFits(InProcessMount bucket) throws Exception {
        long before = bucket.cacheStatistics().evictedPages();
        // Pages that arrive faster than the disk writes them are not stored: then more are needed.
        for (int i = 0; i < 12 || bucket.cacheStatistics().evictedPages() == before; i++) {
            TestData other = bucket.put("other" + i, 16 * MIB, 0);
            assertThat(Files.readAllBytes(bucket.path("other" + i))).isEqualTo(other.bytes());
        }
    }

    private static void awaitNoBackingFiles(InProcessMount bucket) throws InterruptedException {
        while (bucket.fileSystem().backingFiles() > 0) {
            Thread.sleep(1); // the kernel may send a release at any time
        }
    }

    @Test
    void open_objectReplacedWhilePassedThrough_seesTheNewOneAndTheOldKeepsItsOwn() throws Exception {
        InProcessMount bucket = start(Passthrough.VERIFIED);
        TestData old = cached(bucket, "object", SIZE, 0);
        assertPassesThrough(bucket, old);
        try (FileChannel file = FileChannel.open(bucket.path("object"))) {
            TestData replaced = bucket.put("object", SIZE + MIB, 1);

            assertThat(Files.readAllBytes(bucket.path("object"))).isEqualTo(replaced.bytes());
            assertThat(Files.size(bucket.path("object"))).isEqualTo(SIZE + MIB);
            assertPassesThrough(bucket, replaced);
            assertThat(read(file, SIZE)).isEqualTo(old.bytes());
            assertThat(file.size()).isEqualTo(SIZE);
        }
    }

    @Test
    void open_objectDeletedWhilePassedThrough_keepsItsBytes() throws Exception {
        InProcessMount bucket = start(Passthrough.VERIFIED);
        TestData data = cached(bucket, "object", SIZE, 0);
        assertPassesThrough(bucket, data);
        try (FileChannel file = FileChannel.open(bucket.path("object"))) {
            bucket.delete("object");

            assertThat(bucket.path("object")).doesNotExist();
            assertThat(read(file, SIZE)).isEqualTo(data.bytes());
        }
    }

    @Test
    void open_becameWholeWhileOpen_staysCachedUntilTheLastClose() throws Exception {
        InProcessMount bucket = start(Passthrough.VERIFIED);
        TestData data = bucket.put("object", SIZE, 0);
        try (FileChannel cached = FileChannel.open(bucket.path("object"))) {
            assertThat(read(cached, SIZE)).isEqualTo(data.bytes());
            bucket.awaitStored(SIZE);
            try (FileChannel second = FileChannel.open(bucket.path("object"))) {
                assertThat(bucket.fileSystem().backingFiles()).isZero();
                assertThat(read(second, SIZE)).isEqualTo(data.bytes());
            }
        }
        assertPassesThrough(bucket, data);
    }

    @Test
    void open_twiceWhilePassedThrough_sharesOneBackingFile() throws Exception {
        InProcessMount bucket = start(Passthrough.VERIFIED);
        TestData data = cached(bucket, "object", SIZE, 0);
        assertPassesThrough(bucket, data);
        try (FileChannel first = FileChannel.open(bucket.path("object"));
                FileChannel second = FileChannel.open(bucket.path("object"))) {
            assertThat(bucket.fileSystem().backingFiles()).isOne();
            assertThat(read(first, SIZE)).isEqualTo(data.bytes());
            assertThat(read(second, SIZE)).isEqualTo(data.bytes());
        }
        awaitNoBackingFiles(bucket);
    }

    @Test
    void restart_verified_passesThroughOnceThePagesAreChecked() throws Exception {
        cached(start(Passthrough.VERIFIED), "object", SIZE, 0);
        InProcessMount again = start(Passthrough.VERIFIED);
        TestData data = again.put("object", SIZE, 0);

        try (FileChannel first = FileChannel.open(again.path("object"))) {
            assertThat(again.fileSystem().backingFiles()).isZero();
            assertThat(read(first, SIZE)).isEqualTo(data.bytes());
        }
        assertPassesThrough(again, data);
        assertThat(again.cacheStatistics().filledPages()).as("fetched again").isZero();
    }

    @Test
    void restart_trusting_passesThroughAtOnce() throws Exception {
        cached(start(Passthrough.VERIFIED), "object", SIZE, 0);
        InProcessMount again = start(Passthrough.TRUSTING);
        TestData data = again.put("object", SIZE, 0);

        try (FileChannel first = FileChannel.open(again.path("object"))) {
            assertThat(again.fileSystem().backingFiles()).isOne();
            assertThat(read(first, SIZE)).isEqualTo(data.bytes());
        }
    }

    @Test
    void restart_pageDamagedMeanwhile_isNeverShown() throws Exception {
        cached(start(Passthrough.VERIFIED), "object", SIZE, 0);
        end();
        damageDataFile(3 * MIB + 77);
        InProcessMount again = start(Passthrough.VERIFIED);
        TestData data = again.put("object", SIZE, 0);

        assertPassesThrough(again, data); // compares the bytes each time until it is passed through

        assertThat(again.cacheStatistics().corruptPages()).isOne();
        assertThat(again.cacheStatistics().filledPages()).isOne();
    }

    private void damageDataFile(long position) throws IOException {
        try (FileChannel file = FileChannel.open(dataFile(), StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            ByteBuffer one = ByteBuffer.allocate(1);
            file.read(one, position);
            file.write(ByteBuffer.wrap(new byte[] {(byte) ~one.get(0)}), position);
        }
    }

    /** The cache's file of the only object. */
    private Path dataFile() throws IOException {
        try (Stream<Path> all = Files.walk(folder.resolve("cache").resolve("objects"))) {
            return all.filter(Files::isRegularFile).findFirst().orElseThrow();
        }
    }

    @ParameterizedTest
    @CsvSource({"4096, 4096", "512, 512", "100, 512", "512, 100", "1, 1"})
    void openDirect_ofAnyAlignment_isReadOrRefusedAsTheCachesFileIs(int offset, int length) throws Exception {
        InProcessMount bucket = start(Passthrough.VERIFIED);
        TestData data = cached(bucket, "object", SIZE, 0);
        assertPassesThrough(bucket, data);

        assertThat(readDirect(bucket.path("object"), offset, length)).isEqualTo(readDirect(dataFile(), offset, length));
    }

    @Test
    void off_openDirectOfAnyAlignment_isServed() throws Exception {
        InProcessMount bucket = start(Passthrough.OFF);
        cached(bucket, "object", SIZE, 0);

        assertThat(readDirect(bucket.path("object"), 1, 100)).doesNotContain("Invalid argument");
    }

    /** One read with O_DIRECT: the checksum of its bytes, or the error. */
    private static String readDirect(Path file, int offset, int length) throws Exception {
        String dd = "dd if=\"$1\" iflag=direct,skip_bytes skip=$2 bs=$3 count=1 status=none | cksum";
        return MountContract.run("sh", "-c", dd, "sh", file.toString(), "" + offset, "" + length)
                .replace(file.toString(), "FILE");
    }

    @Test
    void off_wholeFile_isServed() throws Exception {
        InProcessMount bucket = start(Passthrough.OFF);
        TestData data = cached(bucket, "object", SIZE, 0);

        try (FileChannel file = FileChannel.open(bucket.path("object"))) {
            assertThat(bucket.fileSystem().backingFiles()).isZero();
            assertThat(read(file, SIZE)).isEqualTo(data.bytes());
        }
        assertThat(bucket.mount().description()).contains("no passthrough (switched off)");
    }

    @Test
    void cacheOnTmpfs_passesThrough() throws Exception {
        Path cache = Files.createDirectories(folder.resolve("tmpfs"));
        mountForCache(cache, "-t", "tmpfs", "-o", "size=100m", "penstock-test");

        InProcessMount bucket = start(Passthrough.VERIFIED, cache.resolve("cache"));
        assertPassesThrough(bucket, cached(bucket, "object", SIZE, 0));
    }

    @Test
    void cacheOnOverlayfs_passesThrough() throws Exception {
        Path cache = Files.createDirectories(folder.resolve("overlay"));
        String layers = "lowerdir=" + Files.createDirectories(folder.resolve("lower"))
                + ",upperdir=" + Files.createDirectories(folder.resolve("upper"))
                + ",workdir=" + Files.createDirectories(folder.resolve("work"));
        mountForCache(cache, "-t", "overlay", "-o", layers, "penstock-test");

        InProcessMount bucket = start(Passthrough.VERIFIED, cache.resolve("cache"));
        assertPassesThrough(bucket, cached(bucket, "object", SIZE, 0));
    }

    @Test
    void cacheOnExt4_passesThrough() throws Exception {
        onDisk("mkfs.ext4", "-q", "-F");
    }

    @Test
    void cacheOnXfs_passesThrough() throws Exception {
        onDisk("mkfs.xfs", "-q");
    }

    private void onDisk(String... format) throws Exception {
        Path image = folder.resolve("image");
        try (FileChannel file = FileChannel.open(image, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
            file.write(ByteBuffer.allocate(1), 400L * MIB); // xfs needs at least 300 MiB
        }
        String command = String.join(" ", format) + " " + image;
        assumeTrue(run(command) == 0, () -> "no such file system here: " + command);
        Path cache = Files.createDirectories(folder.resolve("disk"));
        mountForCache(cache, "-o", "loop", image.toString());

        InProcessMount bucket = start(Passthrough.VERIFIED, cache.resolve("cache"));
        assertPassesThrough(bucket, cached(bucket, "object", SIZE, 0));
    }

    private void mountForCache(Path at, String... what) throws Exception {
        assumeTrue(
                run("mount " + String.join(" ", what) + " " + at) == 0,
                () -> "cannot be mounted here: " + String.join(" ", what));
        cacheMount = at;
    }

    private static int run(String command) throws IOException, InterruptedException {
        return new ProcessBuilder("sh", "-c", command + " >/dev/null 2>&1")
                .start()
                .waitFor();
    }
}

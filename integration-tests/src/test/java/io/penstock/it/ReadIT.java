package io.penstock.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.penstock.testing.TestData;
import io.penstock.testing.TestTier;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Programs read the stored bytes through a mount, with any program, size and access pattern. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class ReadIT {
    private static final int MIB = 1 << 20;
    private static final boolean FULL = TestTier.isAll();
    private static final long[] SIZES = {0, 1, 4095, MIB - 1, MIB, MIB + 1, 100L * MIB};

    /** The period is not a power of two, so an offset that lost its upper bits would give wrong bytes. */
    private static final RepeatedData HUGE = new RepeatedData("sizes/5GiB.bin", 5L << 30, 63 << 20);

    private static final boolean HAS_HUGE = FULL || !MountedBucket.BINDING.equals("jnr");

    /** More than two pages of a listing of S3, or one for the second binding. */
    private static final int MANY = FULL ? 10_000 : HAS_HUGE ? 2_100 : 1_100;

    private static final List<String> NAMES =
            List.of("with space.txt", "größe-日本語-😀.txt", "100%.txt", "a+b=c&d.txt", "q?#[x]'\"$`.txt", "%2F");

    @TempDir
    private static Path scratch;

    private TestBucket bucket;
    private MountedBucket mount;
    private final TestData large = TestData.of("large/100MiB.bin", 100L * MIB);
    private final List<TestData> samples = IntStream.range(0, 300)
            .mapToObj(i -> TestData.of("tree/class-%d/sample %03d.bin".formatted(i % 5, i), 1 + i * 997L))
            .toList();

    private final List<TestData> many = IntStream.range(0, MANY)
            .mapToObj(i -> TestData.of("many/%05d".formatted(i), 3))
            .toList();

    /** Every object exists before the mount, which may cache a listing for a minute. */
    @BeforeAll
    void mountBucket() throws Exception {
        S3Server server = S3Server.shared();
        bucket = new TestBucket(server);
        bucket.put(large);
        bucket.putAll(samples);
        bucket.putAll(many);
        bucket.put("words/a/one.txt", "reservoir\npenstock\n".getBytes(StandardCharsets.UTF_8));
        bucket.put("words/b/two.txt", "turbine\n".getBytes(StandardCharsets.UTF_8));
        for (long size : SIZES) {
            bucket.put(sized(size));
        }
        for (String name : NAMES) {
            bucket.put(named(name));
        }
        if (HAS_HUGE) {
            bucket.put(HUGE);
        }
        mount = MountedBucket.mount(server, bucket.name(), scratch, "--read-only");
    }

    @AfterAll
    void unmount() throws Exception {
        try {
            mount.close();
        } finally {
            bucket.close();
        }
    }

    private Path path(TestData data) {
        return mount.path().resolve(data.name());
    }

    static LongStream sizes() {
        return LongStream.of(SIZES);
    }

    private static TestData sized(long size) {
        return TestData.of("sizes/" + size + ".bin", size);
    }

    @ParameterizedTest
    @MethodSource("sizes")
    void read_ofEverySize_givesTheStoredBytes(long size) throws Exception {
        TestData data = sized(size);
        MessageDigest stored = MessageDigest.getInstance("SHA-256");
        for (long at = 0; at < size; at += MIB) {
            stored.update(data.bytes(at, (int) Math.min(MIB, size - at)));
        }
        assertThat(Files.size(path(data))).isEqualTo(size);
        assertThat(Program.shell(mount.path(), "sha256sum < \"$1\"", path(data)).orThrow())
                .startsWith(HexFormat.of().formatHex(stored.digest()));
    }

    /** Its offsets need more than 32 bits. All of it is read where the full tests run. */
    @Test
    void read_ofAnObjectOf5GiB_givesTheStoredBytes() throws Exception {
        assumeTrue(HAS_HUGE, "the first binding reads it");
        RepeatedData data = HUGE;
        long size = data.size();
        Path file = mount.path().resolve(data.name());
        assertThat(Files.size(file)).isEqualTo(size);
        try (FileChannel channel = FileChannel.open(file)) {
            for (long at : List.of(0L, (1L << 31) - MIB, (1L << 32) - MIB, size - 2 * MIB)) {
                ByteBuffer bytes = ByteBuffer.allocate(2 * MIB);
                for (int n = 1; n > 0 && bytes.hasRemaining(); ) {
                    n = channel.read(bytes, at + bytes.position());
                }
                assertThat(bytes.array()).as("at %d", at).isEqualTo(data.bytes(at, 2 * MIB));
            }
            assertThat(channel.read(ByteBuffer.allocate(1), size)).isEqualTo(-1);
        }
        if (FULL) {
            MessageDigest stored = MessageDigest.getInstance("SHA-256");
            for (long at = 0; at < size; at += MIB) {
                stored.update(data.bytes(at, MIB));
            }
            assertThat(Program.shell(mount.path(), "sha256sum < \"$1\"", file).orThrow())
                    .startsWith(HexFormat.of().formatHex(stored.digest()));
        }
    }

    @Test
    void pread_by16ThreadsAtRandom_givesTheStoredBytes() throws Exception {
        List<Callable<Void>> readers = new ArrayList<>();
        for (int i = 0; i < 16; i++) {
            Random random = new Random(i);
            readers.add(() -> readAtRandom(random));
        }
        try (ExecutorService threads = Executors.newFixedThreadPool(readers.size())) {
            for (Future<Void> reader : threads.invokeAll(readers)) {
                reader.get();
            }
        }
    }

    private Void readAtRandom(Random random) throws Exception {
        try (FileChannel channel = FileChannel.open(path(large))) {
            for (int i = 0; i < 100; i++) {
                ByteBuffer buffer = ByteBuffer.allocate(1 + random.nextInt(300_000));
                long position = random.nextLong(large.size());
                int expected = (int) Math.min(buffer.capacity(), large.size() - position);
                while (buffer.position() < expected) {
                    assertThat(channel.read(buffer, position + buffer.position()))
                            .isPositive();
                }
                large.verify(position, buffer.flip());
            }
        }
        return null;
    }

    @Test
    void mmap_byPython_givesTheStoredBytes() throws Exception {
        MessageDigest stored = MessageDigest.getInstance("SHA-256");
        stored.update(large.bytes(99L * MIB + 17, 4096));
        stored.update(large.bytes(1, 3 * MIB));
        String script = """
            import hashlib, mmap, sys
            with open(sys.argv[1], 'rb') as f, mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ) as m:
                h = hashlib.sha256()
                h.update(m[99 * 2**20 + 17:99 * 2**20 + 17 + 4096])
                h.update(m[1:1 + 3 * 2**20])
                print(h.hexdigest())
            """;
        assertThat(Program.shell(mount.path(), "python3 -c \"$1\" \"$2\"", script, path(large))
                        .orThrow())
                .startsWith(HexFormat.of().formatHex(stored.digest()));
    }

    @Test
    void cpRecursive_ofATree_copiesEveryFile() throws Exception {
        Path copy = scratch.resolve("cp");
        Program.shell(mount.path(), "cp -r tree \"$1\"", copy).orThrow();
        verifySamplesUnder(copy);
    }

    @Test
    void tar_ofATree_holdsEveryFile() throws Exception {
        Path copy = Files.createDirectory(scratch.resolve("tar"));
        Program.shell(mount.path(), "set -o pipefail; tar -cf - -C tree . | tar -xf - -C \"$1\"", copy)
                .orThrow();
        verifySamplesUnder(copy);
    }

    @Test
    void rsyncChecksum_againstACopy_findsNoDifference() throws Exception {
        Path copy = Files.createDirectory(scratch.resolve("rsync"));
        Program.shell(mount.path(), "rsync -a --checksum tree/ \"$1\"/", copy).orThrow();
        verifySamplesUnder(copy);
        assertThat(Program.shell(mount.path(), "rsync -rn --checksum --itemize-changes tree/ \"$1\"/", copy)
                        .orThrow())
                .isEmpty();
    }

    @Test
    void find_overTheTree_seesEveryFileWithItsSize() {
        String found = Program.shell(mount.path(), "find tree -type f -printf '%s %p\\n' | sort")
                .orThrow();
        assertThat(found.lines())
                .containsExactlyInAnyOrderElementsOf(samples.stream()
                        .map(sample -> sample.size() + " " + sample.name())
                        .toList());
    }

    @Test
    void grepRecursive_forAWord_findsItsFile() {
        assertThat(Program.shell(mount.path(), "grep -r turbine words").orThrow())
                .isEqualTo("words/b/two.txt:turbine\n");
    }

    @Test
    void python_walkingTheTree_readsEveryFile() {
        String script = """
            import os, sys
            print(sum(len(open(os.path.join(d, f), 'rb').read()) for d, _, fs in os.walk('tree') for f in fs))
            """;
        long bytes = samples.stream().mapToLong(TestData::size).sum();
        assertThat(Program.shell(mount.path(), "python3 -c \"$1\"", script).orThrow())
                .isEqualTo(bytes + "\n");
    }

    static List<String> names() {
        return NAMES;
    }

    private static TestData named(String name) {
        return TestData.of("names/" + name, 1234);
    }

    @ParameterizedTest
    @MethodSource("names")
    void names_withUnusualCharacters_areReadByThatName(String name) throws Exception {
        TestData data = named(name);
        Program.shell(mount.path(), "test -f \"$1\"", path(data)).orThrow();
        Path copy = Files.createDirectories(scratch.resolve("names")).resolve("copy");
        Program.shell(mount.path(), "cat \"$1\" > \"$2\"", path(data), copy).orThrow();
        assertThat(Files.readAllBytes(copy)).isEqualTo(data.bytes());
    }

    @Test
    void list_ofAFolderOfManyPages_showsEachOnce() {
        assertThat(Program.shell(mount.path(), "ls many").orThrow().lines())
                .containsExactlyElementsOf(
                        many.stream().map(data -> data.name().substring(5)).toList());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "touch new",
                "mkdir new",
                "rm large/100MiB.bin",
                "mv large other",
                "echo x >> large/100MiB.bin",
                "truncate -s 0 large/100MiB.bin",
                "ln -s large new",
                "rmdir tree"
            })
    void write_ofAnyKind_isRefusedAsReadOnly(String command) {
        Program.Result result = Program.shell(mount.path(), command);
        assertThat(result.exit()).isNotZero();
        assertThat(result.out()).contains("Read-only file system");
    }

    @Test
    void everySystemCall_thatChangesSomething_isErofs() {
        String script = """
            import errno, os
            changes = {
                'open to write': lambda: os.open('a/one.txt', os.O_WRONLY),
                'open to read and write': lambda: os.open('a/one.txt', os.O_RDWR),
                'open to append': lambda: os.open('a/one.txt', os.O_WRONLY | os.O_APPEND),
                'open truncating': lambda: os.open('a/one.txt', os.O_WRONLY | os.O_TRUNC),
                'create': lambda: os.open('new', os.O_CREAT | os.O_WRONLY),
                'create exclusively': lambda: os.open('new', os.O_CREAT | os.O_EXCL | os.O_WRONLY),
                'temporary': lambda: os.open('.', os.O_TMPFILE | os.O_WRONLY),
                'truncate': lambda: os.truncate('a/one.txt', 0),
                'truncate up': lambda: os.truncate('a/one.txt', 100),
                'unlink': lambda: os.unlink('a/one.txt'),
                'mkdir': lambda: os.mkdir('new'),
                'rmdir': lambda: os.rmdir('b'),
                'rename': lambda: os.rename('a/one.txt', 'new'),
                'rename a directory': lambda: os.rename('b', 'new'),
                'link': lambda: os.link('a/one.txt', 'new'),
                'symlink': lambda: os.symlink('a/one.txt', 'new'),
                'mknod': lambda: os.mknod('new'),
                'mkfifo': lambda: os.mkfifo('new'),
                'chmod': lambda: os.chmod('a/one.txt', 0o600),
                'chown': lambda: os.chown('a/one.txt', 1, 1),
                'utime': lambda: os.utime('a/one.txt', (1, 1)),
                'setxattr': lambda: os.setxattr('a/one.txt', 'user.a', b'b'),
                'removexattr': lambda: os.removexattr('a/one.txt', 'user.a'),
            }
            for name, change in changes.items():
                try:
                    change()
                    assert False, name
                except OSError as e:
                    assert e.errno == errno.EROFS, (name, e)
            assert not os.access('a/one.txt', os.W_OK) and os.access('a/one.txt', os.R_OK)
            assert sorted(os.listdir('.')) == ['a', 'b']
            """;
        Program.shell(mount.path().resolve("words"), "python3 -c \"$1\"", script)
                .orThrow();
    }

    @Test
    void getfattr_ofAFile_showsItsObject() {
        assertThat(Program.shell(
                                mount.path(),
                                "python3 -c \"import os; print(os.getxattr('large/100MiB.bin',"
                                        + " 'user.penstock.key').decode())\"")
                        .orThrow())
                .isEqualTo("large/100MiB.bin\n");
        assertThat(Program.shell(
                                mount.path(),
                                "python3 -c \"import json, os;"
                                        + " o = json.loads(os.getxattr('large/100MiB.bin', 'user.penstock.object'));"
                                        + " print(o['key'], o['state'], o['size'], o['etag'] =="
                                        + " os.getxattr('large/100MiB.bin', 'user.penstock.etag').decode())\"")
                        .orThrow())
                .isEqualTo("large/100MiB.bin visible 104857600 True\n");
    }

    private void verifySamplesUnder(Path copy) throws Exception {
        for (TestData sample : samples) {
            Path file = copy.resolve(sample.name().substring("tree/".length()));
            try (InputStream in = Files.newInputStream(file)) {
                TestBucket.verify(sample, in);
            }
        }
    }
}

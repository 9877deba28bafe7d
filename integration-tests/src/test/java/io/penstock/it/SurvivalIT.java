package io.penstock.it;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.penstock.it.S3Front.Treatment;
import io.penstock.testing.TestData;
import io.penstock.testing.TestTier;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Mounts that survive their server, the process that serves them: penstock-supervisor starts another one.
 * Programs that must not hang are processes, not threads of this one.
 */
@Timeout(600)
final class SurvivalIT {
    private static final int MIB = 1 << 20;
    private static final S3Server SERVER = S3Server.shared();
    private static final boolean ROOT = "root".equals(System.getProperty("user.name"));

    /** Long names, so that a listing takes several calls. */
    private static final String PADDING = "-".repeat(180);

    /** Names and attributes are soon asked for again. */
    private static final String OPTIONS = "ro,metadata.ttl=500ms";

    private static final String WRITABLE = "metadata.ttl=500ms";

    /** In a night. */
    private static final int UPGRADES = 1_000;

    private static final Duration LONG = Duration.ofHours(4);
    private static final Duration LIMIT = Duration.ofMinutes(5);

    /** Before Linux 6.9, a kernel does not send requests again. */
    private static final int FIRST_KERNEL = 6 * 1000 + 9;

    /** More than a page of memory that the first kills may still need. */
    private static final int SPARE_KIB = 64;

    private static final TestData BIG = TestData.of("big", 40L * MIB + 1_234);

    @TempDir
    private static Path programs;

    @TempDir
    private Path scratch;

    private TestBucket bucket;

    /** How many deaths follow each other does not matter here: a mount would be given up after eight. */
    @BeforeAll
    static void compileSupervisor() {
        String[] kernel = System.getProperty("os.version").split("\\D", 3);
        if (Integer.parseInt(kernel[0]) * 1000 + Integer.parseInt(kernel[1]) < FIRST_KERNEL) {
            skip("this kernel is older than Linux 6.9");
        }
        Path here = Path.of("").toAbsolutePath();
        if (Program.shell(here, "type -P cc").exit() != 0) {
            skip("cc not found");
        }
        Program.shell(
                        here,
                        SupervisorIT.COMPILE + "-DSTEADY_MILLIS=0 -DSTANDBY_MILLIS=100 -o \"$1\"/supervisor",
                        programs)
                .orThrow();
    }

    /** Prints a line for bin/test. */
    private static void skip(String why) {
        System.out.println("test: no tests of mounts that survive their process: " + why);
        assumeTrue(false, why);
    }

    @BeforeEach
    void createBucket() {
        bucket = new TestBucket(SERVER);
    }

    @AfterEach
    void deleteBucket() {
        if (bucket != null) {
            bucket.close();
        }
    }

    /** As in the background: the supervisor gives its output only to the first process, so all write a log. */
    private Map<String, String> environment() {
        Map<String, String> environment = new HashMap<>(Map.of("PENSTOCK_JAVA_OPTS", "-Dpenstock.background=true"));
        if (!ROOT) {
            environment.put("XDG_RUNTIME_DIR", scratch.toString());
        }
        return environment;
    }

    private MountedBucket mount() throws Exception {
        return mount(SERVER, OPTIONS);
    }

    private MountedBucket mount(S3Server server, String options) throws Exception {
        MountedBucket mount = MountedBucket.mount(
                new MountedBucket.Launch(List.of(programs.resolve("supervisor").toString()), environment()),
                server,
                bucket.name(),
                scratch,
                "-o",
                options,
                "--log-file",
                scratch.resolve("mount.log").toString());
        assertThat(table(mount)).as(mount.log()).exists();
        return mount;
    }

    /** What a successor must know: named after the mount's device. */
    private Path table(MountedBucket mount) throws IOException {
        String device = Files.readAllLines(Path.of("/proc/self/mountinfo")).stream()
                .filter(line -> line.contains(" " + mount.path() + " "))
                .findFirst()
                .orElseThrow()
                .split(" ", -1)[2];
        return (ROOT ? Path.of("/run") : scratch).resolve("penstock").resolve(device.replace(':', '-') + ".table");
    }

    /** The process that serves the mount now; its parent is the supervisor. */
    private static ProcessHandle serving(MountedBucket mount) throws Exception {
        return successor(mount, 0);
    }

    /** The process that serves the mount now, and is not the former one. */
    private static ProcessHandle successor(MountedBucket mount, long former) throws Exception {
        List<ProcessHandle> found = new ArrayList<>();
        Await.until("there is a server", () -> {
            mount.process().children().filter(child -> child.pid() != former).forEach(found::add);
            return !found.isEmpty();
        });
        return found.getFirst();
    }

    /** Returns when a successor serves the mount. */
    private static void killServer(MountedBucket mount) throws Exception {
        ProcessHandle former = serving(mount);
        former.destroyForcibly();
        ProcessHandle _ = successor(mount, former.pid());
        Program.shell(Path.of("/"), "stat -f \"$1\"", mount.path()).orThrow();
    }

    /** Whether it has ended; whether its parent knows that does not matter. */
    private static boolean hasEnded(ProcessHandle process) throws IOException {
        Path stat = Path.of("/proc", Long.toString(process.pid()), "stat");
        try {
            return Files.readString(stat).contains(") Z ");
        } catch (IOException e) {
            return true;
        }
    }

    /** @param folder receives the same files */
    private void fill(Path folder) throws Exception {
        List<TestData> small = IntStream.range(0, 100)
                .mapToObj(i -> TestData.of("small/%d".formatted(i), i * 269L))
                .toList();
        List<TestData> listed = IntStream.range(0, 400)
                .mapToObj(i -> TestData.of("listed/%04d%s".formatted(i, PADDING), 0))
                .toList();
        List<TestData> large = List.of(BIG, TestData.of("mapped", 12L * MIB + 77), TestData.of("through", 6L * MIB));
        Files.createDirectories(folder.resolve("small"));
        Files.createDirectories(folder.resolve("listed"));
        for (List<TestData> some : List.of(small, listed, large)) {
            for (TestData data : some) {
                Files.write(folder.resolve(data.name()), data.bytes());
            }
            bucket.putAll(some);
        }
    }

    /**
     * Runs the programs of survival.py.
     *
     * @param writes {@code writes} for those of survival_writes.py, too, or nothing
     */
    private void load(MountedBucket mount, Path expected, int kills, String how, String... writes) throws Exception {
        Path script = programs.resolve("survival.py");
        if (Files.notExists(script)) {
            Resources.copy("survival.py", programs);
            Resources.copy("survival_writes.py", programs);
        }
        List<String> command = new ArrayList<>(List.of(
                "python3",
                script.toString(),
                mount.path().toString(),
                expected.toString(),
                Long.toString(mount.process().pid()),
                Integer.toString(kills),
                how,
                Boolean.toString(!mount.log().contains("no passthrough"))));
        command.addAll(List.of(writes));
        if (!ROOT) {
            command.addAll(0, List.of("env", "XDG_RUNTIME_DIR=" + scratch));
        }
        Program.Result result = Program.run(scratch, LONG, command);
        assertThat(result.out()).as(mount.log()).startsWith("ok: ");
        System.out.print(result.out());
    }

    private void assertEnded(MountedBucket mount, ProcessHandle server) throws Exception {
        assertThat(mount.awaitEnd()).as(mount.log()).isTrue();
        Await.until("the server has ended", () -> hasEnded(server));
        assertThat(MountedBucket.isMounted(mount.path())).isFalse();
    }

    @Test
    void kills_underLoad_areNotNoticed() throws Exception {
        Path expected = scratch.resolve("expected");
        fill(expected);
        try (MountedBucket mount = mount()) {
            load(mount, expected, TestTier.choose("penstock.crash.rounds", 8, 20), "once");
        }
    }

    @Test
    void kills_underWriters_areNotNoticed() throws Exception {
        Path expected = scratch.resolve("expected");
        fill(expected);
        try (MountedBucket mount = mount(SERVER, WRITABLE)) {
            load(mount, expected, TestTier.choose("penstock.crash.rounds", 8, 60), "once", "writes");
        }
    }

    @Test
    void killsAndStandby_underWriters_areNotNoticed() throws Exception {
        Path expected = scratch.resolve("expected");
        fill(expected);
        try (MountedBucket mount = mount(SERVER, WRITABLE + ",fuse.standby=true")) {
            load(mount, expected, TestTier.choose("penstock.crash.rounds", 1, 20), "standby", "writes");
        }
    }

    /** Each takes some seconds, most of them of the new process. */
    @Test
    @Timeout(4 * 3600)
    void upgrades_underWriters_areNotNoticed() throws Exception {
        Path expected = scratch.resolve("expected");
        fill(expected);
        String penstock = MountedBucket.penstock().getFirst();
        try (MountedBucket mount = mount(SERVER, WRITABLE)) {
            load(mount, expected, TestTier.choose(1, 20), "upgrade=" + penstock);
            assertThat(mount.log()).contains("has ended (upgrade)");
            int files = descriptors(mount.process().pid());
            int memory = residentKib(mount.process().pid());
            load(mount, expected, TestTier.choose(1, UPGRADES), "upgrade=" + penstock, "writes");
            assertThat(descriptors(mount.process().pid())).isEqualTo(files);
            assertThat(residentKib(mount.process().pid())).isLessThanOrEqualTo(memory + SPARE_KIB);
        }
    }

    @Tag("long")
    @Test
    void kills_underWritersBeforeTheSuccessorIsReady_areNotNoticed() throws Exception {
        Path expected = scratch.resolve("expected");
        fill(expected);
        try (MountedBucket mount = mount(SERVER, WRITABLE)) {
            load(mount, expected, TestTier.choose(2, 20), "again", "writes");
        }
    }

    @Tag("long")
    @Test
    void kills_beforeTheSuccessorIsReady_areNotNoticed() throws Exception {
        Path expected = scratch.resolve("expected");
        fill(expected);
        try (MountedBucket mount = mount()) {
            load(mount, expected, TestTier.choose(2, 20), "again");
        }
    }

    @Tag("long")
    @Test
    @Timeout(3600)
    void kills_twoHundredUnderLoad_leaveNothingBehind() throws Exception {
        Path expected = scratch.resolve("expected");
        fill(expected);
        try (MountedBucket mount = mount()) {
            load(mount, expected, 20, "once");
            int files = descriptors(mount.process().pid());
            int memory = residentKib(mount.process().pid());
            load(mount, expected, 180, "once");
            assertThat(descriptors(mount.process().pid())).isEqualTo(files);
            assertThat(residentKib(mount.process().pid())).isLessThanOrEqualTo(memory + SPARE_KIB);
            assertThat(Files.size(table(mount))).isLessThanOrEqualTo(64L * MIB);
        }
    }

    private static int descriptors(long pid) throws IOException {
        try (Stream<Path> open = Files.list(Path.of("/proc", Long.toString(pid), "fd"))) {
            return (int) open.count();
        }
    }

    private static int residentKib(long pid) throws IOException {
        return Files.readAllLines(Path.of("/proc", Long.toString(pid), "status")).stream()
                .filter(line -> line.startsWith("VmRSS:"))
                .mapToInt(line -> Integer.parseInt(line.replaceAll("\\D", "")))
                .sum();
    }

    /** The old version is cached in part: the rest of it is gone from the store. */
    @Tag("long")
    @ParameterizedTest
    @ValueSource(longs = {8L * MIB, 5L * MIB + 3})
    void kill_openFileWasReplaced_isOfOneVersion(long newSize) throws Exception {
        TestData old = bucket.put(TestData.of("file", 8L * MIB));
        TestData replacement = new TestData(old.name(), newSize, 1);
        try (MountedBucket mount = mount();
                FileChannel first = FileChannel.open(mount.path().resolve(old.name()))) {
            assertThat(countRead(first, old, 64 << 10)).isEqualTo(1);
            bucket.put(replacement);
            killServer(mount);
            int known = countRead(first, old, old.size());

            Await.until("the new version is shown", () -> isNow(mount, replacement));
            try (FileChannel second = FileChannel.open(mount.path().resolve(old.name()))) {
                assertThat(countRead(second, replacement, newSize)).isEqualTo(pieces(newSize));
                killServer(mount);
                assertThat(countRead(second, replacement, newSize)).isEqualTo(pieces(newSize));
                assertThat(countRead(first, old, old.size())).isLessThanOrEqualTo(known);
            }
        }
    }

    private static boolean isNow(MountedBucket mount, TestData data) throws IOException {
        Path file = mount.path().resolve(data.name());
        return Files.size(file) == data.size() && Arrays.equals(Files.readAllBytes(file), data.bytes());
    }

    private static int pieces(long size) {
        return Math.toIntExact(Math.ceilDiv(size, 64 << 10));
    }

    /** Counts the pieces of this version; reading each of the others fails, because the version is gone. */
    private static int countRead(FileChannel file, TestData data, long until) {
        int read = 0;
        for (long offset = 0; offset < until; offset += 64 << 10) {
            ByteBuffer piece = ByteBuffer.allocate((int) Math.min(64 << 10, data.size() - offset));
            try {
                while (piece.hasRemaining() && file.read(piece, offset + piece.position()) > 0) {}
                assertThat(piece.hasRemaining()).as("short at " + offset).isFalse();
                data.verify(offset, piece.flip());
                read++;
            } catch (IOException e) {
                assertThat(e).hasMessageContaining("Stale file handle");
            }
        }
        return read;
    }

    /** As in a container: the file has no name there that could be looked up again. */
    @Test
    void kill_fileIsAMountPoint_canBeOpened() throws Exception {
        assumeTrue(ROOT, "only root mounts files");
        TestData data = bucket.put(TestData.of("file", MIB));
        Path bound = Files.createFile(scratch.resolve("bound"));
        try (MountedBucket mount = mount(SERVER, "ro")) {
            Program.shell(mount.path(), "mount --bind file \"$1\"", bound).orThrow();
            try {
                killServer(mount);
                assertThat(Files.readAllBytes(bound)).isEqualTo(data.bytes());
            } finally {
                Program.shell(scratch, "umount \"$1\"", bound).orThrow();
            }
        }
    }

    @Test
    void kill_whileTheStoreIsAway_readsWaitForIt() throws Exception {
        TestData cached = bucket.put(TestData.of("cached", 3L * MIB));
        TestData other = bucket.put(TestData.of("other", 3L * MIB));
        try (S3Front front = new S3Front(SERVER);
                MountedBucket mount = mount(front.fronted(), OPTIONS + ",s3.retry-deadline=3s")) {
            assertThat(Program.shell(mount.path(), "cat cached | cksum; stat other")
                            .exit())
                    .isZero();
            front.treat(_ -> Treatment.answer(503, "SlowDown"));
            serving(mount).destroyForcibly();
            List<Process> readers = new ArrayList<>();
            for (TestData data : List.of(cached, other)) {
                readers.add(new ProcessBuilder(
                                "cat", mount.path().resolve(data.name()).toString())
                        .redirectErrorStream(true)
                        .redirectOutput(scratch.resolve(data.name()).toFile())
                        .start());
            }
            mount.awaitLog("The mount continues once the store responds");
            front.passAll();
            for (Process reader : readers) {
                assertThat(reader.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS))
                        .as(mount.log())
                        .isTrue();
            }
            for (TestData data : List.of(cached, other)) {
                assertThat(scratch.resolve(data.name())).hasBinaryContent(data.bytes());
            }
        }
    }

    /** As if the request were what each process dies of. */
    @Tag("long")
    @Test
    void kills_whileOneRequestIsServed_failOnlyThat() throws Exception {
        TestData stuck = bucket.put(TestData.of("stuck", 3L * MIB));
        TestData other = bucket.put(TestData.of("other", 3L * MIB));
        try (S3Front front = new S3Front(SERVER);
                MountedBucket mount = mount(front.fronted(), OPTIONS)) {
            front.treat(request -> request.isRead() && request.isOf(bucket.name(), stuck.name())
                    ? Treatment.KEEP_SILENT
                    : Treatment.PASS);
            Process reader = new ProcessBuilder(
                            "cat", mount.path().resolve(stuck.name()).toString())
                    .redirectErrorStream(true)
                    .start();
            for (int kills = 0; reader.isAlive() && kills < 20; kills++) {
                ProcessHandle server = serving(mount);
                Await.until("it is ready", () -> isServing(mount, other));
                server.destroyForcibly();
            }
            assertThat(reader.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
            assertThat(new String(reader.getInputStream().readAllBytes(), UTF_8))
                    .contains("Input/output error");
            assertThat(isServing(mount, other)).isTrue();
        }
    }

    private boolean isServing(MountedBucket mount, TestData data) throws Exception {
        return Program.shell(mount.path(), "timeout 60 cat \"$1\" | cksum", data.name())
                        .exit()
                == 0;
    }

    @Test
    void penstockUmount_afterAKill_leavesNothing() throws Exception {
        bucket.put(BIG);
        try (MountedBucket mount = mount()) {
            killServer(mount);
            Path table = table(mount);
            ProcessHandle server = serving(mount);
            List<String> umount = new ArrayList<>(List.of("env"));
            if (!ROOT) {
                umount.add("XDG_RUNTIME_DIR=" + scratch);
            }
            umount.addAll(MountedBucket.penstock());
            umount.addAll(List.of("umount", mount.path().toString()));
            Program.run(scratch, LIMIT, umount).orThrow();

            assertEnded(mount, server);
            assertThat(table).doesNotExist();
            assertThat(mount.process().exitValue()).isZero();
        }
    }

    @Tag("long")
    @Test
    void sigterm_toTheSupervisor_unmounts() throws Exception {
        try (MountedBucket mount = mount()) {
            killServer(mount);
            Path table = table(mount);
            ProcessHandle server = serving(mount);
            mount.terminate();

            assertEnded(mount, server);
            assertThat(table).doesNotExist();
            assertThat(mount.process().exitValue()).isIn(0, 143);
        }
    }

    /** Reads from a file that stays open until a read fails, and then looks it up. */
    private Process reader(MountedBucket mount) throws Exception {
        Path started = scratch.resolve("started");
        Process reader = new ProcessBuilder(
                        "python3",
                        Resources.copy("held.py", scratch).toString(),
                        mount.path().resolve(BIG.name()).toString(),
                        started.toString())
                .start();
        Await.until("it reads", () -> Files.exists(started));
        return reader;
    }

    private static void assertFails(Process reader) throws Exception {
        assertThat(reader.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
        assertThat(new String(reader.getErrorStream().readAllBytes(), UTF_8)).isEmpty();
    }

    @Test
    void killedSupervisor_theServerUnmountsAndEnds() throws Exception {
        bucket.put(BIG);
        try (MountedBucket mount = mount()) {
            Process reader = reader(mount);
            ProcessHandle server = serving(mount);
            mount.process().destroyForcibly();

            assertFails(reader);
            assertEnded(mount, server);
        }
    }

    @Tag("long")
    @Test
    void killedBoth_deadMountIsRemovedByTheNextOne() throws Exception {
        bucket.put(BIG);
        try (MountedBucket mount = mount()) {
            Process reader = reader(mount);
            ProcessHandle server = serving(mount);
            Program.shell(scratch, "kill -KILL $1 $2", mount.process().pid(), server.pid())
                    .orThrow();

            assertFails(reader);
            assertThat(mount.awaitEnd()).isTrue();
            Await.until("the server has ended", () -> hasEnded(server));
            assertThat(Program.shell(scratch, "ls \"$1\"", mount.path()).out())
                    .contains("Transport endpoint is not connected");
            try (MountedBucket next = mount()) {
                assertThat(next.log()).contains("had the dead mount of an ended Penstock process");
                next.terminate();
            }
        }
    }

    @Test
    void kill_damagedTable_unmountsWithAMessage() throws Exception {
        bucket.put(BIG);
        try (MountedBucket mount = mount()) {
            Process reader = reader(mount);
            Path table = table(mount);
            damage(table);
            ProcessHandle server = serving(mount);
            server.destroyForcibly();

            assertFails(reader);
            assertEnded(mount, server);
            assertThat(mount.log()).contains("cannot be continued", table + " is damaged: ", "Mount it again.");
            assertThat(mount.process().exitValue()).isPositive();
        }
    }

    /** Changes bytes in the middle of its records. */
    private static void damage(Path table) throws IOException {
        byte[] records = Files.readAllBytes(table);
        int end = records.length;
        while (records[end - 1] == 0) {
            end--;
        }
        try (RandomAccessFile file = new RandomAccessFile(table.toFile(), "rw")) {
            file.seek(end / 2);
            for (int i = 0; i < 64; i++) {
                file.write(records[end / 2 + i] ^ 0x5a);
            }
        }
    }
}

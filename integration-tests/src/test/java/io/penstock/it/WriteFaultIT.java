package io.penstock.it;

import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.WRITE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import eu.rekawek.toxiproxy.model.ToxicDirection;
import io.penstock.it.S3Front.Treatment;
import io.penstock.testing.TestData;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.DisabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/**
 * A server and a network that misbehave while files are written. Writes wait for temporary faults to end; close and
 * fsync report permanent ones in time; no written byte is lost.
 */
@Timeout(240)
final class WriteFaultIT {
    private static final int MIB = 1 << 20;
    private static final S3Server SERVER = S3Server.shared();

    /** For tests with a silent wire: in others a loaded server may be slow. */
    private static final String TIMEOUTS = ",s3.connect-timeout=1s,s3.read-timeout=2s";

    @TempDir
    private Path scratch;

    private TestBucket bucket;
    private S3Front front;

    @BeforeEach
    void makeBucket() throws Exception {
        bucket = new TestBucket(SERVER);
        front = new S3Front(SERVER);
    }

    @AfterEach
    void deleteBucket() throws Exception {
        front.close();
        bucket.close();
    }

    private MountedBucket mount(S3Server server, String options) throws Exception {
        return MountedBucket.mount(server, bucket.name(), scratch, "-o", "write.retry-deadline=2m" + options);
    }

    private static void write(MountedBucket mount, TestData data) throws IOException {
        try (FileChannel channel = FileChannel.open(mount.path().resolve(data.name()), CREATE, READ, WRITE)) {
            write(channel, data);
        }
    }

    private static void write(FileChannel channel, TestData data) throws IOException {
        write(channel, data, 0, data.size());
    }

    private static void write(FileChannel channel, TestData data, long from, long to) throws IOException {
        for (long at = from; at < to; at += MIB) {
            channel.write(ByteBuffer.wrap(data.bytes(at, (int) Math.min(MIB, to - at))));
        }
    }

    private void assertStored(TestData data) {
        data.verify(0, ByteBuffer.wrap(bucket.get(data.name())));
    }

    /** Treats the first of these requests this way. */
    private AtomicInteger treatFirst(int count, Predicate<S3Front.Request> which, Treatment how) {
        AtomicInteger left = new AtomicInteger(count);
        front.treat(request ->
                which.test(request) && left.getAndUpdate(n -> Math.max(0, n - 1)) > 0 ? how : Treatment.PASS);
        return left;
    }

    // ---- faults that end

    @Test
    void serverFaults_thatPass_areWaitedFor() throws Exception {
        record Fault(String name, int times, Predicate<S3Front.Request> which, Treatment how) {}
        List<Fault> faults = List.of(
                new Fault("throttled", 12, S3Front.Request::isUpload, Treatment.answer(503, "SlowDown")),
                new Fault("cut", 3, S3Front.Request::isPart, Treatment.CUT),
                new Fault("part-answer-lost", 2, S3Front.Request::isPart, Treatment.LOSE_ANSWER),
                new Fault("error-in-200", 2, S3Front.Request::isComplete, Treatment.answer(200, "InternalError")),
                new Fault("commit-answer-lost", 1, S3Front.Request::isComplete, Treatment.LOSE_ANSWER));
        try (MountedBucket mount = mount(front.fronted(), "")) {
            for (Fault fault : faults) {
                TestData data = TestData.of(fault.name(), 20L * MIB + 7);
                AtomicInteger left = treatFirst(fault.times(), fault.which(), fault.how());

                write(mount, data);

                assertThat(left).as(fault.name()).hasValue(0);
                assertStored(data);
            }
            front.passAll();
            mount.terminate();
        }
        assertThat(bucket.unfinishedUploads()).isEmpty();
    }

    // ---- faults that do not end

    @Test
    void refusals_byTheServer_areToldByCloseAndTheContentIsKept() throws Exception {
        record Refusal(int status, String code, String told) {}
        List<Refusal> refusals = List.of(
                new Refusal(403, "AccessDenied", "Permission denied"),
                new Refusal(400, "ExpiredToken", "Permission denied"),
                new Refusal(507, "XMinioStorageFull", "No space left on device"),
                new Refusal(400, "XMinioAdminBucketQuotaExceeded", "Disk quota exceeded"));
        List<TestData> written = new ArrayList<>();
        try (MountedBucket mount = mount(front.fronted(), "")) {
            for (Refusal refusal : refusals) {
                for (long size : new long[] {1000, 20L * MIB}) {
                    TestData data = TestData.of(refusal.code() + "-" + size, size);
                    written.add(data);
                    AtomicInteger puts = new AtomicInteger();
                    front.treat(request -> request.isUpload() && (size < MIB || puts.incrementAndGet() > 1)
                            ? Treatment.answer(refusal.status(), refusal.code())
                            : Treatment.PASS);

                    assertThatThrownBy(() -> write(mount, data))
                            .isInstanceOf(IOException.class)
                            .hasMessageContaining(refusal.told());

                    mount.awaitLog("'" + data.name() + "' could not be committed");
                    assertThat(mount.log()).contains(refusal.code(), "is kept in");
                }
            }
            front.passAll();
            mount.terminate();
            assertThat(mount.log()).contains("could not be uploaded: " + written.size() + "; see penstock recover");
        }
        new Recover(front.fronted(), bucket.name(), scratch).run("--commit").orThrow();
        written.forEach(this::assertStored);
    }

    /** A shell redirects with dup2(2), which drops the error of the implied close. */
    @Test
    @DisabledIfSystemProperty(
            named = "penstock.test.binding",
            matches = "jnr",
            disabledReason = "only the kernel's protocol tells whose descriptors are left")
    void refusal_thatAShellCannotSee_isToldByTheNextOpenOnce() throws Exception {
        Predicate<S3Front.Request> isWrite =
                request -> request.method().equals("PUT") && request.target().contains("/f-");
        bucket.put(TestData.of("f-old", 1000));
        bucket.put(TestData.of("f-log", 1000));
        record Writing(String line, boolean tells) {}
        List<Writing> writings = List.of(
                new Writing(": > f-1", true),
                new Writing(": > f-old", true),
                new Writing("echo x > f-2", true),
                new Writing("echo x >> f-log", true),
                new Writing("cp /etc/passwd f-3", false),
                new Writing("python3 -c 'open(\"f-4\", \"w\").close()'", false));
        try (MountedBucket mount = mount(front.fronted(), "")) {
            for (Writing writing : writings) {
                String name = writing.line().replaceAll(".*(f-[a-z0-9]+).*", "$1");
                front.treat(request -> isWrite.test(request) ? Treatment.answer(403, "AccessDenied") : Treatment.PASS);
                Program.Result written = Program.shell(mount.path(), writing.line());
                assertThat(written.exit() == 0).as(writing + written.out()).isEqualTo(writing.tells());
                mount.awaitLog("'" + name + "' could not be committed");
                front.passAll();

                Program.Result next = Program.shell(mount.path(), "echo y > " + name);

                assertThat(next.exit() != 0).as(writing + next.out()).isEqualTo(writing.tells());
                if (writing.tells()) {
                    assertThat(next.out()).contains(name + ": Permission denied");
                    mount.awaitLog("'" + name + "' cannot be opened for writing this once");
                    Program.shell(mount.path(), "echo y > " + name).orThrow();
                }
                assertThat(bucket.get(name)).asString().isEqualTo("y\n");
            }
            mount.terminate();
        }
    }

    /** Child processes of a program with a small open log, and the program's end, while the store does not respond. */
    @Test
    @DisabledIfSystemProperty(
            named = "penstock.test.binding",
            matches = "jnr",
            disabledReason = "only the kernel's protocol tells which process closes")
    void program_withAnOpenLogWhileTheStoreIsSilent_startsChildrenAndCanBeKilled() throws Exception {
        String script = """
            import subprocess
            logs = [open(f"log-{i}", "w") for i in range(20)]
            print("opened", flush=True)
            input()
            for log in logs:
                log.write("begun")
                log.flush()
            subprocess.run(["ps"], stdout=subprocess.DEVNULL, check=True)
            subprocess.run(["true"], pass_fds=[log.fileno() for log in logs], check=True)
            print("ran", flush=True)
            input()
            """;
        try (MountedBucket mount = mount(front.fronted(), TIMEOUTS)) {
            Process program = new ProcessBuilder("python3", "-c", script)
                    .directory(mount.path().toFile())
                    .redirectErrorStream(true)
                    .start();
            try {
                assertThat(program.inputReader().readLine()).isEqualTo("opened");
                front.treat(_ -> Treatment.KEEP_SILENT);
                program.outputWriter().append("go on\n").flush();
                assertThat(program.inputReader().readLine()).isEqualTo("ran");
                program.destroyForcibly();
                assertThat(program.waitFor(10, TimeUnit.SECONDS))
                        .as("ended by SIGKILL")
                        .isTrue();
            } finally {
                program.destroyForcibly();
                front.passAll();
            }
            mount.terminate();
        }
        for (int log = 0; log < 20; log++) {
            assertThat(bucket.get("log-" + log)).asString().isEqualTo("begun");
        }
    }

    @Tag("long")
    @Test
    void access_withdrawnWhileFilesAreWritten_isToldByCloseAndTheContentIsKept() throws Exception {
        assumeTrue(SERVER.hasPolicies(), SERVER + " minds no bucket policies");
        TestData before = TestData.of("before", 20L * MIB);
        TestData data = TestData.of("file", 40L * MIB);
        bucket.open();
        try (MountedBucket mount = mount(SERVER, ",s3.anonymous=true")) {
            write(mount, before);
            assertStored(before);
            try (FileChannel channel = FileChannel.open(mount.path().resolve(data.name()), CREATE, WRITE)) {
                write(channel, data, 0, 20L * MIB);
                bucket.shut();
                write(channel, data, 20L * MIB, data.size());
                assertThatThrownBy(channel::close).hasMessageContaining("Permission denied");
            }
            mount.awaitLog("'file' could not be committed");
            assertThat(mount.log()).contains("AccessDenied", "is kept in");
            mount.terminate();
        }
        new Recover(SERVER, bucket.name(), scratch).run("--commit").orThrow();
        assertStored(data);
    }

    @Test
    void failure_thatMayPass_isToldByCloseAndGoesUpBehindOnceItHas() throws Exception {
        TestData data = TestData.of("file", 1000);
        try (MountedBucket mount =
                MountedBucket.mount(front.fronted(), bucket.name(), scratch, "-o", "write.retry-deadline=1s")) {
            front.treat(request -> request.isUpload() ? Treatment.answer(503, "ServiceUnavailable") : Treatment.PASS);
            assertThatThrownBy(() -> write(mount, data)).hasMessageContaining("Input/output error");
            mount.awaitLog("'file' cannot be committed now");
            front.passAll();
            Program.shell(scratch, "umount \"$1\"", mount.path()).orThrow();
            assertThat(mount.awaitEnd()).as(mount.log()).isTrue();
        }
        assertStored(data);
    }

    @Test
    void failure_thatDoesNotPass_isToldByCloseAndKeptAndUnmountingEnds() throws Exception {
        TestData data = TestData.of("file", 1000);
        Recover recover = new Recover(SERVER, bucket.name(), scratch);
        try (MountedBucket mount = mount(front.fronted(), "")) {
            front.treat(request -> request.isUpload() ? Treatment.answer(501, "NotImplemented") : Treatment.PASS);
            assertThatThrownBy(() -> write(mount, data)).hasMessageContaining("Input/output error");
            Program.shell(scratch, "umount \"$1\"", mount.path()).orThrow();
            assertThat(mount.awaitEnd()).as(mount.log()).isTrue();
        }
        assertThat(recover.waiting("--list")).contains("'file'");
    }

    @Test
    void fsync_waitsForVisibilityAndIsRefused_saysSoOnceAndSucceedsAfterwards() throws Exception {
        TestData data = TestData.of("file", 3L * MIB);
        try (MountedBucket mount = mount(front.fronted(), ",write.fsync=visible")) {
            try (FileChannel channel = FileChannel.open(mount.path().resolve(data.name()), CREATE, WRITE)) {
                write(channel, data);
                front.treat(request -> request.isUpload() ? Treatment.answer(403, "AccessDenied") : Treatment.PASS);
                assertThatThrownBy(() -> channel.force(true)).hasMessageContaining("Permission denied");
                front.passAll();
                channel.force(true);
                assertStored(data);
            }
            mount.terminate();
        }
    }

    @Tag("long")
    @Test
    void bucketDeleted_whileFilesAreWritten_isToldAndTheContentCanBeExported() throws Exception {
        TestData data = TestData.of("file", 20L * MIB);
        Recover recover = new Recover(SERVER, bucket.name(), scratch);
        try (MountedBucket mount = mount(SERVER, "")) {
            try (FileChannel channel = FileChannel.open(mount.path().resolve(data.name()), CREATE, WRITE)) {
                bucket.close();
                write(channel, data);
                assertThatThrownBy(channel::close).hasMessageContaining("Stale file handle");
            }
            mount.awaitLog("'file' could not be committed");
            mount.terminate();
        }
        assertThat(recover.waiting("--list"))
                .contains("'file' (20MiB)", bucket.name(), "continuing without the bucket");
        assertThat(recover.run("--commit").exit()).isEqualTo(1);
        recover.run("--export", scratch.resolve("out").toString()).orThrow();
        try (InputStream in = Files.newInputStream(scratch.resolve("out").resolve("file"))) {
            TestBucket.verify(data, in);
        }
        bucket = new TestBucket(SERVER);
    }

    // ---- the wire

    @Test
    void wire_slowStalledOrReset_isWaitedFor() throws Exception {
        try (ToxicWire wire = wire();
                MountedBucket mount = mount(wire.server(), TIMEOUTS)) {
            wire.proxy().toxics().latency("slow", ToxicDirection.UPSTREAM, 100).setJitter(50);
            TestData late = TestData.of("latency", 12L * MIB + 7);
            write(mount, late);
            assertStored(late);
            wire.heal();
            wire.proxy().toxics().resetPeer("reset", ToxicDirection.UPSTREAM, 300);
            writeAndVerify(mount, "reset", wire::heal);
            wire.proxy().toxics().timeout("stall", ToxicDirection.UPSTREAM, 0);
            writeAndVerify(mount, "stall", wire::heal);
            mount.terminate();
        }
    }

    private ToxicWire wire() throws Exception {
        Optional<Path> binary = ToxicWire.binary();
        assumeTrue(binary.isPresent(), "no toxiproxy-server: bin/test gets one where there is Go");
        return ToxicWire.to(SERVER, binary.get(), scratch);
    }

    private interface Healing {
        void run() throws Exception;
    }

    /** @param healing ends the fault, after it has lasted longer than the timeouts */
    private void writeAndVerify(MountedBucket mount, String name, Healing healing) throws Exception {
        TestData data = TestData.of(name, 12L * MIB + 7);
        try (ExecutorService threads = Executors.newSingleThreadExecutor()) {
            Future<?> writer = threads.submit(() -> {
                write(mount, data);
                return null;
            });
            Thread.sleep(3_000);
            healing.run();
            writer.get();
        }
        assertStored(data);
    }

    @Tag("long")
    @Test
    void outage_longerThanTheTimeouts_leavesTheMountUsableAndIsWaitedFor() throws Exception {
        TestData known = TestData.of("folder/known", 5L * MIB);
        bucket.put(known);
        try (ToxicWire wire = wire();
                MountedBucket mount = mount(wire.server(), TIMEOUTS)) {
            try (InputStream in = Files.newInputStream(mount.path().resolve(known.name()))) {
                TestBucket.verify(known, in);
            }
            Program.shell(mount.path(), "ls -l . folder").orThrow();
            wire.proxy().disable();
            writeAndVerify(mount, "folder/new", () -> {
                assertThat(Program.shell(mount.path(), "timeout 60 ls -l folder")
                                .orThrow())
                        .contains("known", "new");
                try (InputStream in = Files.newInputStream(mount.path().resolve(known.name()))) {
                    TestBucket.verify(known, in);
                }
                wire.heal();
            });
            mount.terminate();
        }
    }
}

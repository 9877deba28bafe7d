package io.penstock.fuse.kernel;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.fuse.DeadMount;
import io.penstock.fuse.InheritedDevice;
import io.penstock.fuse.KernelMount;
import io.penstock.fuse.MountException;
import io.penstock.fuse.MountOptions;
import io.penstock.fuse.MountTable;
import io.penstock.fuse.Native;
import io.penstock.fuse.Preflight;
import io.penstock.fuse.calls.CallObserver;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIf;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A mount on this machine's kernel, ended in every possible way. Other programs use it, not this process: a process
 * that waits for its own mount in a system call would stop the garbage collection that serving the mount may need.
 */
@Timeout(60)
@EnabledIf("mayMount")
class RealMountTest {
    private static final Path CONNECTIONS = Path.of("/sys/fs/fuse/connections");
    private static final long SIZE = 64 << 20;
    private static final long STALLED_FROM = 32 << 20;

    @TempDir
    private Path folder;

    private Path mountPoint = Path.of("");
    private final List<Process> readers = new ArrayList<>();

    static boolean mayMount() {
        return Native.C.geteuid() == 0 && Files.isWritable(Path.of("/dev/fuse"));
    }

    @BeforeEach
    void makeMountPoint() throws IOException {
        mountPoint = Files.createDirectory(folder.toRealPath().resolve("mnt"));
    }

    @AfterEach
    void nothingIsLeft() throws Exception {
        readers.forEach(Process::destroyForcibly);
        if (MountTable.read().at(mountPoint).isPresent()) {
            run("umount", "-l", mountPoint.toString());
        }
        for (int i = 0; i < 100 && !leaks().isEmpty(); i++) {
            Thread.sleep(50); // a thread ends slightly after it has reported its end
        }
        assertThat(leaks()).isEmpty();
    }

    private List<String> leaks() throws IOException {
        List<String> leaks = new ArrayList<>();
        try (Stream<Path> descriptors = Files.list(Path.of("/proc/self/fd"))) {
            descriptors
                    .filter(fd -> {
                        try {
                            return Files.readSymbolicLink(fd).endsWith("dev/fuse");
                        } catch (IOException e) {
                            return false; // closed since
                        }
                    })
                    .forEach(fd -> leaks.add("descriptor " + fd));
        }
        Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("fuse "))
                .forEach(thread -> leaks.add("thread " + thread.getName()));
        MountTable.read().at(mountPoint).ifPresent(mount -> leaks.add(mount.toString()));
        return leaks;
    }

    @Test
    void read_ofServedFile_isItsContent() throws Exception {
        try (DeviceMount mount = mount()) {
            Path copy = folder.resolve("copy");
            assertThat(run("dd", "if=" + file(), "of=" + copy, "bs=1M", "count=3"))
                    .contains("3+0 records in");

            byte[] bytes = Files.readAllBytes(copy);
            for (int i = 0; i < bytes.length; i++) {
                assertThat(bytes[i]).isEqualTo(MemoryOperations.byteAt(i));
            }
            assertThat(run("stat", "-c", "%s %F", file())).isEqualTo(SIZE + " regular file");
            assertThat(run("stat", file() + "x")).contains("No such file");
            assertThat(mount.description()).contains("7.", "requests up to 1024 KiB");
        }
    }

    @Test
    void unmount_idle_endsIt() throws Exception {
        DeviceMount mount = mount();

        mount.unmount(Duration.ofSeconds(10));

        mount.awaitUnmounted();
        mount.unmount(Duration.ofSeconds(10)); // unmounting again does nothing
    }

    /** The kernel gives the later mount the same device number. */
    @Test
    void end_ofAnEarlierMount_leavesALaterOneAtItsPoint() throws Exception {
        DeviceMount earlier = mount();
        earlier.unmount(Duration.ofSeconds(10));
        try (DeviceMount _ = mount()) {
            earlier.awaitUnmounted();
            earlier.close();
            assertThat(MountTable.read().at(mountPoint)).isPresent();
        }
    }

    @Test
    void unmount_busy_saysWhoHoldsIt() throws Exception {
        try (DeviceMount mount = mount()) {
            Process reader = stalledReader(mount);
            try {
                assertThatThrownBy(() -> mount.unmount(Duration.ofMillis(200)))
                        .isInstanceOf(MountException.class)
                        .hasMessageContaining("busy")
                        .hasMessageContaining("pid " + reader.pid());
            } finally {
                reader.destroyForcibly().waitFor();
            }
            mount.unmount(Duration.ofSeconds(10));
        }
    }

    @Test
    void umount_byAnother_endsIt() throws Exception {
        DeviceMount mount = mount();

        assertThat(run("umount", mountPoint.toString())).isEmpty();

        mount.awaitUnmounted();
    }

    @Test
    void fusermount_byAnother_endsIt() throws Exception {
        DeviceMount mount = mount();

        assertThat(run("fusermount3", "-u", mountPoint.toString())).isEmpty();

        mount.awaitUnmounted();
    }

    @Test
    void close_busy_detachesAndEndsWithTheLastUser() throws Exception {
        DeviceMount mount = mount();
        Process reader = stalledReader(mount);

        mount.close();

        assertThat(MountTable.read().at(mountPoint)).isEmpty();
        assertThat(mount.session().ended().getCount()).isOne();
        reader.destroy();
        assertThat(reader.waitFor(10, TimeUnit.SECONDS)).isTrue();
        mount.awaitUnmounted();
    }

    @Test
    void abort_withRequestsWaiting_endsItAndItsUsers() throws Exception {
        DeviceMount mount = mount();
        Process reader = stalledReader(mount);
        String minor = MountTable.read().at(mountPoint).orElseThrow().device().replaceFirst(".*:", "");
        if (!Files.exists(CONNECTIONS.resolve(minor))) {
            run("mount", "-t", "fusectl", "none", CONNECTIONS.toString()); // like systemd
        }

        Files.writeString(CONNECTIONS.resolve(minor, "abort"), "1");

        assertThat(reader.waitFor(10, TimeUnit.SECONDS)).isTrue();
        mount.awaitUnmounted();
        assertThat(MountTable.read().at(mountPoint)).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"INT", "TERM", "KILL"})
    void signal_toStalledReader_endsItAtOnce(String signal) throws Exception {
        try (DeviceMount mount = mount()) {
            Process reader = stalledReader(mount);

            run("kill", "-" + signal, Long.toString(reader.pid()));

            assertThat(reader.waitFor(10, TimeUnit.SECONDS)).isTrue();
            mount.unmount(Duration.ofSeconds(10)); // does not wait for running readahead
        }
    }

    @Test
    void signal_toStalledLookup_interruptsTheRequest() throws Exception {
        try (DeviceMount mount = mount()) {
            Process stat = start("stat", mountPoint.resolve("stalled").toString());
            awaitWaiting(mount, 1);

            stat.destroy();

            assertThat(stat.waitFor(10, TimeUnit.SECONDS)).isTrue();
            awaitWaiting(mount, 0);
            mount.unmount(Duration.ofSeconds(10));
        }
    }

    @Test
    void lookup_stalled_endsByASignalButNotByATimer() throws Exception {
        try (DeviceMount mount = mount()) {
            // The program handles the signal without SA_RESTART: an EINTR would end it.
            Process program = start(
                    "bash",
                    "-c",
                    "trap 'echo timer' USR1; [[ -e $1 ]]; echo ended",
                    "x",
                    mountPoint.resolve("stalled").toString());
            awaitWaiting(mount, 1);

            long requests = mount.session().requests();
            run("kill", "-USR1", Long.toString(program.pid()));
            while (mount.session().requests() == requests) { // until the kernel has reported the signal
                Thread.sleep(5);
            }
            assertThat(program.waitFor(200, TimeUnit.MILLISECONDS)).isFalse();
            assertThat(mount.session().waiting()).isOne();

            program.destroyForcibly();
            assertThat(program.waitFor(10, TimeUnit.SECONDS)).isTrue();
            awaitWaiting(mount, 0);
            mount.unmount(Duration.ofSeconds(10));
        }
    }

    @Test
    void fusermount_asTheMounter_servesTheSame() throws Exception {
        Device device = Fusermount.mount(options(), mountPoint);
        try (DeviceMount mount = KernelBinding.serve(
                device,
                connection -> operations(),
                options(),
                CallObserver.NONE,
                KernelMount.at(mountPoint),
                Survival.Start.ALONE)) {
            assertThat(run("stat", "-c", "%s", file())).isEqualTo(Long.toString(SIZE));
            mount.unmount(Duration.ofSeconds(10));
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void mount_noExec_isOfTheKernelsMount(boolean noExec) throws Exception {
        try (DeviceMount mount = KernelBinding.mount(
                connection -> operations(), options(noExec), CallObserver.NONE, Survival.Start.ALONE)) {
            assertThat(isMountedNoExec()).isEqualTo(noExec);
            mount.unmount(Duration.ofSeconds(10));
        }
        Device device = Fusermount.mount(options(noExec), mountPoint);
        try (DeviceMount mount = KernelBinding.serve(
                device,
                connection -> operations(),
                options(noExec),
                CallObserver.NONE,
                KernelMount.at(mountPoint),
                Survival.Start.ALONE)) {
            assertThat(isMountedNoExec()).as("by fusermount").isEqualTo(noExec);
            mount.unmount(Duration.ofSeconds(10));
        }
    }

    private boolean isMountedNoExec() throws Exception {
        String line = run("grep", " " + mountPoint + " ", "/proc/self/mountinfo");
        assertThat(line).contains("nosuid");
        return line.contains("noexec");
    }

    @Test
    void mount_ofAnOpenDevice_servesWhereItIsMounted() throws Exception {
        Device device = DeviceOpener.mount(options(), mountPoint);
        Path name = Path.of("/dev/fd/" + device.fd());
        MountOptions handedOver =
                new MountOptions(name, "", true, false, false, Duration.ofSeconds(1), 0, 1, null, false);
        try (DeviceMount mount =
                KernelBinding.mount(connection -> operations(), handedOver, CallObserver.NONE, Survival.Start.ALONE)) {
            assertThat(mount.mountPoint()).isEqualTo(mountPoint);
            assertThat(run("stat", "-c", "%s", file())).isEqualTo(Long.toString(SIZE));
            mount.unmount(Duration.ofSeconds(10));
        }
    }

    @Test
    void isDead_serverDoesNotAnswer_isFalseUntilItEnds() throws Exception {
        try (Device _ = DeviceOpener.mount(options(), mountPoint)) {
            assertThat(Preflight.isDead(mountPoint)).isFalse();
        }
        assertThat(Preflight.isDead(mountPoint)).isTrue();
        KernelMount.at(mountPoint).detachOrFail();
    }

    @Test
    void detach_hiddenByAnotherMount_leavesThatMount() throws Exception {
        try (Device device = DeviceOpener.mount(options(), mountPoint)) {
            run("mount", "-t", "tmpfs", "other", mountPoint.toString());
            KernelMount hidden = InheritedDevice.mount(device.fd());

            hidden.detach();
            KernelMount other = KernelMount.at(mountPoint);
            assertThat(hidden.device()).isNotEqualTo(other.device());
            other.detachOrFail();
            assertThat(KernelMount.at(mountPoint)).isEqualTo(hidden);
            hidden.detachOrFail();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"/dev/fd/0", "/dev/fd/987654"})
    void mount_ofWhatIsNoDevice_isRefused(String name) {
        MountOptions options =
                new MountOptions(Path.of(name), "", true, false, false, Duration.ofSeconds(1), 0, 1, null, false);

        assertThatThrownBy(() -> KernelBinding.mount(
                        connection -> operations(), options, CallObserver.NONE, Survival.Start.ALONE))
                .isInstanceOf(MountException.class)
                .hasMessageContaining(name);
    }

    @Test
    void mount_overADeadMount_isRefusedWithWhatToDo() throws Exception {
        Device device = DeviceOpener.mount(options(), mountPoint);
        device.close(); // like the kernel's close for a killed process

        assertThatThrownBy(this::mount)
                .isInstanceOf(MountException.class)
                .hasMessageContaining("Transport endpoint is not connected")
                .hasMessageContaining("penstock umount " + mountPoint + ", or umount -l " + mountPoint);
    }

    @ParameterizedTest
    @ValueSource(strings = {"mnt", "parent/mnt", "link"})
    void remove_aDeadMount_takesItAwayByLinksToo(String path) throws Exception {
        Files.createSymbolicLink(folder.resolve("parent"), folder);
        Files.createSymbolicLink(folder.resolve("link"), mountPoint);
        DeviceOpener.mount(options(), mountPoint).close();

        assertThat(DeadMount.remove(folder.resolve(path)))
                .get()
                .asString()
                .startsWith(mountPoint + " had the dead mount");

        assertThat(MountTable.read().at(mountPoint)).isEmpty();
        assertThat(DeadMount.remove(folder.resolve(path))).isEmpty();
    }

    @Test
    void descriptor_ofThisProcess_isNotInheritedByPrograms() throws Exception {
        try (DeviceMount mount = mount()) {
            assertThat(run("sh", "-c", "ls -l /proc/self/fd")).doesNotContain("/dev/fuse");
            mount.unmount(Duration.ofSeconds(10));
        }
    }

    /** Not dd(1), which handles signals: only a signal that ends the process ends the kernel's wait for a page. */
    private Process stalledReader(DeviceMount mount) throws Exception {
        Process reader = start("env", "--default-signal=INT", "tail", "-c", Long.toString(SIZE - STALLED_FROM), file());
        for (int i = 0; mount.session().waiting() == 0 && reader.isAlive() && i < 500; i++) {
            Thread.sleep(20);
        }
        assertThat(mount.session().waiting()).isPositive();
        return reader;
    }

    private static void awaitWaiting(DeviceMount mount, int expected) throws InterruptedException {
        for (int i = 0; mount.session().waiting() != expected && i < 500; i++) {
            Thread.sleep(20);
        }
        assertThat(mount.session().waiting()).isEqualTo(expected);
    }

    private Process start(String... command) throws IOException {
        Process process = new ProcessBuilder(command)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        readers.add(process);
        return process;
    }

    private DeviceMount mount() throws MountException {
        return KernelBinding.mount(connection -> operations(), options(), CallObserver.NONE, Survival.Start.ALONE);
    }

    private static Operations operations() {
        return new MemoryOperations(SIZE, STALLED_FROM);
    }

    private MountOptions options() {
        return options(false);
    }

    private MountOptions options(boolean noExec) {
        return new MountOptions(
                mountPoint, "s3://bucket/a,b", true, noExec, false, Duration.ofSeconds(1), 1 << 20, 1, null, false);
    }

    private String file() {
        return mountPoint.resolve("f").toString();
    }

    private static String run(String... command) throws Exception {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        try (var output = process.getInputStream()) {
            return new String(output.readAllBytes(), UTF_8).strip();
        } finally {
            process.waitFor();
        }
    }
}

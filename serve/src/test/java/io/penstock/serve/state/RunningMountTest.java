package io.penstock.serve.state;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.fuse.MountTable;
import io.penstock.settings.Host;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

class RunningMountTest {
    /** Larger than the kernel's largest PID: proc_sys_kernel(5), pid_max. */
    private static final long NO_PROCESS = 1L << 30;

    /** No bucket has such a short name: root's mounts on this machine are listed as well. */
    private static final String SOURCE = "s3://a";

    @TempDir
    private Path folder;

    private Host host;

    @BeforeEach
    void makeHost() {
        host = new Host(Map.of("XDG_RUNTIME_DIR", folder.toString()), folder, 1000, 1000, 1L << 30, 4);
    }

    @Test
    void list_whatWasSaved_theSame() throws IOException {
        RunningMount saved =
                mount("/mnt/with blank = ü", ProcessHandle.current().pid(), Instant.now());
        saved.save(host);
        assertThat(ours()).containsExactly(saved);
        saved.delete(host);
        assertThat(ours()).isEmpty();
    }

    @Test
    void now_backlogSavedMeanwhile_isIt() throws IOException {
        RunningMount saved = mount("/mnt/a", ProcessHandle.current().pid(), Instant.now());
        saved.save(host);
        RunningMount busy = saved.withBacklog("2 files, 36MiB", 3, true);
        busy.save(host);
        assertThat(saved.now(host)).contains(busy);
        assertThat(ours()).containsExactly(busy);
        saved.delete(host);
        assertThat(saved.now(host)).isEmpty();
    }

    @Test
    void list_brokenFile_passedOver() throws IOException {
        Files.createDirectories(host.runtimeFolder());
        Files.writeString(host.runtimeFolder().resolve("17.properties"), "since=yesterday\n");
        Files.writeString(host.runtimeFolder().resolve("x.properties"), "");
        assertThat(ours()).isEmpty();
    }

    @Test
    void save_folderMissing_isMadeForThisUserAlone() throws IOException {
        mount("/mnt", ProcessHandle.current().pid(), Instant.now()).save(host);
        assertThat(Files.getPosixFilePermissions(host.runtimeFolder()))
                .isEqualTo(PosixFilePermissions.fromString("rwx------"));
    }

    @Test
    void save_folderThatOthersMayWriteTo_isRefusedAndUnchanged() throws IOException {
        RunningMount running = mount("/mnt", ProcessHandle.current().pid(), Instant.now());
        Path precious = Files.writeString(folder.resolve("precious"), "text");
        Path open = Files.createDirectory(host.runtimeFolder());
        Path trap = Files.createSymbolicLink(open.resolve(running.pid() + ".properties.next"), precious);
        Files.setPosixFilePermissions(open, PosixFilePermissions.fromString("rwxrwxrwx"));
        assertThatThrownBy(() -> running.save(host))
                .isInstanceOf(IOException.class)
                .hasMessageContainingAll(open.toString(), "XDG_RUNTIME_DIR");
        assertThat(trap).isSymbolicLink();
        assertThat(precious).hasContent("text");
    }

    @Test
    void openSocket_folderThatOthersMayWriteTo_isRefused() throws IOException {
        RunningMount running = mount("/mnt", ProcessHandle.current().pid(), Instant.now());
        assertThat(running.openSocket(host)).isEqualTo(running.socket(host));
        Files.setPosixFilePermissions(host.runtimeFolder(), PosixFilePermissions.fromString("rwxrwxrwx"));
        assertThatThrownBy(() -> running.openSocket(host))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("XDG_RUNTIME_DIR");
    }

    @Test
    void save_folderIsALink_isRefused() throws IOException {
        Files.createSymbolicLink(host.runtimeFolder(), Files.createDirectory(folder.resolve("elsewhere")));
        RunningMount running = mount("/mnt", ProcessHandle.current().pid(), Instant.now());
        assertThatThrownBy(() -> running.save(host)).isInstanceOf(IOException.class);
        assertThat(folder.resolve("elsewhere")).isEmptyDirectory();
    }

    @Test
    void save_linkUnderTheNameOfTheNextFile_isNotFollowed() throws IOException {
        RunningMount running = mount("/mnt", ProcessHandle.current().pid(), Instant.now());
        running.save(host);
        Path precious = Files.writeString(folder.resolve("precious"), "text");
        Files.createSymbolicLink(host.runtimeFolder().resolve(running.pid() + ".properties.next"), precious);
        running.save(host);
        assertThat(precious).hasContent("text");
        assertThat(ours()).containsExactly(running);
    }

    @Test
    void list_folderThatOthersMayWriteTo_isNotRead() throws IOException {
        mount("/mnt", ProcessHandle.current().pid(), Instant.now()).save(host);
        Files.setPosixFilePermissions(host.runtimeFolder(), PosixFilePermissions.fromString("rwxrwx---"));
        assertThat(ours()).isEmpty();
    }

    @Test
    void isAlive_thisProcess_true() {
        long pid = ProcessHandle.current().pid();
        assertThat(mount("/mnt", pid, Instant.now().plusSeconds(1)).isAlive()).isTrue();
    }

    @Test
    void isAlive_clockSetBackSinceTheStart_true() throws IOException {
        mount("/mnt", ProcessHandle.current().pid(), Instant.EPOCH).save(host);
        assertThat(ours()).singleElement().matches(RunningMount::isAlive);
    }

    @Test
    void isAlive_noProcessOrAnotherOfItsNumber_false() throws IOException {
        assertThat(mount("/mnt", NO_PROCESS, Instant.now()).isAlive()).isFalse();
        mount("/mnt", ProcessHandle.current().pid(), Instant.now().plusSeconds(1))
                .save(host);
        rewrite("started=\\d+", "started=1");
        assertThat(ours()).singleElement().matches(running -> !running.isAlive());
    }

    private void rewrite(String pattern, String replacement) throws IOException {
        Path file = host.runtimeFolder().resolve(ProcessHandle.current().pid() + ".properties");
        String text = Files.readString(file);
        assertThat(text).containsPattern(pattern);
        Files.writeString(file, text.replaceAll(pattern, replacement));
    }

    @Test
    void isAlive_zombie_false() throws Exception {
        // The child ends once the shell has become sleep, which never waits for it; the shell itself might.
        String child = "while read -r comm </proc/$PPID/comm && [ \"$comm\" != sleep ]; do :; done";
        Process parent =
                new ProcessBuilder("/bin/sh", "-c", "/bin/sh -c '" + child + "' & echo $!; exec sleep 60").start();
        try (var out = parent.inputReader()) {
            long zombie = Long.parseLong(out.readLine());
            RunningMount running = mount("/mnt", zombie, Instant.now().plusSeconds(1));
            while (running.isAlive()) {
                Thread.sleep(5);
            }
            assertThat(ProcessHandle.of(zombie)).isPresent();
        } finally {
            parent.destroyForcibly();
        }
    }

    @Test
    void forgetEnded_deadProcess_removedUnlessStillMounted() throws IOException {
        mount("/mnt/a", NO_PROCESS, Instant.now()).save(host);
        MountTable.Entry entry = new MountTable.Entry("0:2", Path.of("/mnt/a"), "fuse.penstock", SOURCE);
        RunningMount.forgetEnded(host, List.of(entry));
        assertThat(ours()).hasSize(1);
        Files.createFile(host.runtimeFolder().resolve(NO_PROCESS + ".properties.next")); // killed while writing
        RunningMount.forgetEnded(host, List.of());
        assertThat(ours()).isEmpty();
        assertThat(host.runtimeFolder()).isEmptyDirectory();
    }

    /** Another mount may be there by then. */
    @Test
    void forgetEnded_unmountedProcess_removedAlsoWhereOneIsMounted() throws IOException {
        mount("/mnt/a", NO_PROCESS, Instant.now()).withBacklog("", 1, true).save(host);
        MountTable.Entry entry = new MountTable.Entry("0:2", Path.of("/mnt/a"), "fuse.penstock", SOURCE);
        RunningMount.forgetEnded(host, List.of(entry));
        assertThat(ours()).isEmpty();
    }

    @Test
    void close_afterFailedUploads_leavesTheStateFileForUmount() throws IOException {
        long pid = ProcessHandle.current().pid();
        new StateFile(mount("/mnt/a", pid, Instant.now()).withBacklog("", 0, true), host).close();
        assertThat(ours()).isEmpty();
        RunningMount failed = mount("/mnt/a", pid, Instant.now()).withBacklog("", 1, true);
        new StateFile(failed, host).close();
        assertThat(ours()).containsExactly(failed);
        failed.delete(host);
    }

    /** As systemd-tmpfiles does in /tmp. */
    @Test
    @Timeout(60)
    void stateFile_removedWhileItsProcessServes_isThereAgain() throws Exception {
        RunningMount mount = mount("/mnt/a", ProcessHandle.current().pid(), Instant.now());
        try (StateFile _ = new StateFile(mount, host, Duration.ofMillis(10))) {
            mount.delete(host);
            while (ours().isEmpty()) {
                Thread.sleep(5);
            }
            assertThat(ours()).containsExactly(mount);
        }
        assertThat(ours()).isEmpty();
    }

    @Test
    void newest_predecessorStillUploads_theOneThatServes() {
        long pid = ProcessHandle.current().pid();
        RunningMount uploading = mount("/mnt/a", pid, Instant.now()).withBacklog("1 file, 5MiB", 0, true);
        RunningMount first = mount("/mnt/a", pid, Instant.now().plusSeconds(1));
        RunningMount second = mount("/mnt/a", pid, Instant.now().plusSeconds(2));
        RunningMount dead = mount("/mnt/a", NO_PROCESS, Instant.now().plusSeconds(3));
        RunningMount other = mount("/mnt/b", pid, Instant.now().plusSeconds(4));
        List<RunningMount> all = List.of(uploading, second, first, dead, other);
        assertThat(RunningMount.newest(all, Path.of("/mnt/a"), false)).contains(second);
        assertThat(RunningMount.newest(all, Path.of("/mnt/a"), true)).contains(uploading);
        assertThat(RunningMount.newest(all, Path.of("/mnt/c"), false)).isEmpty();
    }

    private List<RunningMount> ours() throws IOException {
        return RunningMount.list(host).stream()
                .filter(each -> each.source().equals(SOURCE))
                .toList();
    }

    private static RunningMount mount(String mountPoint, long pid, Instant since) {
        return new RunningMount(
                SOURCE,
                Path.of(mountPoint),
                pid,
                "kernel (why)",
                "how",
                Path.of("/cache"),
                "penstock recover s3://a --cache /cache",
                Path.of("/log"),
                Path.of("/access"),
                since);
    }
}

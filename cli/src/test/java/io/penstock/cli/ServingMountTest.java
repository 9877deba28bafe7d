package io.penstock.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.penstock.fuse.MountTable;
import io.penstock.serve.state.RunningMount;
import io.penstock.settings.Configuration;
import io.penstock.settings.Host;
import io.penstock.settings.Origin;
import io.penstock.settings.Settings;
import io.penstock.settings.WriteSettings;
import io.penstock.settings.process.RefusedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(30)
class ServingMountTest {
    private static final String SOURCE = "s3://data";
    private static final Path MOUNT_POINT = Path.of("/mnt/a");
    private static final List<MountTable.Entry> TABLE =
            List.of(new MountTable.Entry("0:2", MOUNT_POINT, "fuse.penstock", SOURCE));

    private static RunningMount mount(long pid) {
        return mount(pid, MOUNT_POINT);
    }

    private static RunningMount mount(long pid, Path mountPoint) {
        return new RunningMount(
                SOURCE,
                mountPoint,
                pid,
                "kernel (why)",
                "how",
                Path.of("/cache"),
                "penstock recover s3://a --cache /cache",
                Path.of("/log"),
                Path.of(""),
                Instant.now());
    }

    @Test
    void newest_itsProcessWasKilled_saysThatItIsDeadAndWhatToDo() throws Exception {
        Process process = new ProcessBuilder("sleep", "60").start();
        RunningMount mount = mount(process.pid());
        process.destroyForcibly().waitFor();

        ServingMount.Mounts mounts = ServingMount.Mounts.of(List.of(mount), TABLE);

        assertThatThrownBy(() -> mounts.newest(_ -> true, "none"))
                .isInstanceOf(RefusedException.class)
                .hasMessageStartingWith("/mnt/a is dead: the process that served it has ended; mount it again");
        ServingMount.Mounts removed = ServingMount.Mounts.of(List.of(mount), List.of());
        assertThatThrownBy(() -> removed.newest(_ -> true, "none")).hasMessage("none");
    }

    @Test
    void newest_mountedByAnother_saysThatItsProcessIsNotKnown() {
        ServingMount.Mounts mounts = ServingMount.Mounts.of(List.of(), TABLE);

        assertThatThrownBy(() -> mounts.newest(MOUNT_POINT::equals, "none"))
                .isInstanceOf(RefusedException.class)
                .hasMessageStartingWith("/mnt/a is a Penstock mount, but its process is unknown to this user")
                .hasMessageContaining("XDG_RUNTIME_DIR");
        assertThatThrownBy(() -> mounts.newest(Path.of("/mnt/b")::equals, "none"))
                .hasMessage("none");
        assertThat(mounts.points()).containsExactly(MOUNT_POINT);
    }

    @Test
    void find_aLinkToTheMountPoint_isTheMount_notOneIntoTheMount(@TempDir Path temporary) throws Exception {
        Path folder = temporary.toRealPath();
        Path mountPoint = Files.createDirectory(folder.resolve("mnt"));
        Files.createSymbolicLink(mountPoint.resolve("back"), mountPoint);
        Path link = Files.createSymbolicLink(folder.resolve("link"), mountPoint);
        Path inner = Files.createSymbolicLink(folder.resolve("inner"), mountPoint.resolve("back"));
        RunningMount mount = mount(ProcessHandle.current().pid(), mountPoint);
        ServingMount.Mounts mounts = ServingMount.Mounts.of(List.of(mount), List.of());

        assertThat(ServingMount.find(mounts, mountPoint, "none").mount()).isEqualTo(mount);
        assertThat(ServingMount.find(mounts, link, "none").mount()).isEqualTo(mount);
        assertThatThrownBy(() -> ServingMount.find(mounts, inner, "none")).hasMessage("none");
    }

    @Test
    void notMounted_aLinkInAMount_saysThatItIsNotFollowedAndWhere(@TempDir Path temporary) throws Exception {
        Path folder = temporary.toRealPath();
        Path mountPoint = Files.createDirectory(folder.resolve("a"));
        Path other = Files.createDirectory(folder.resolve("b"));
        Path link = Files.createSymbolicLink(mountPoint.resolve("to-b"), other);
        Path outside = Files.createSymbolicLink(folder.resolve("link"), link);
        List<Path> mountPoints = List.of(mountPoint, other);

        assertThat(ServingMount.notMounted(link, mountPoints))
                .isEqualTo("nothing is mounted on " + link + ": it is inside the mount " + mountPoint
                        + ", where links are not followed; give the mount point");
        assertThat(ServingMount.notMounted(outside, mountPoints))
                .startsWith("nothing is mounted on " + outside + ": it is inside the mount " + mountPoint + ",");
        assertThat(ServingMount.notMounted(folder, mountPoints))
                .isEqualTo("nothing is mounted on " + folder + "; penstock mounts lists the mounts");
    }

    @Test
    void newest_mountedAgainAfterThat_isTheLiving() throws Exception {
        Process process = new ProcessBuilder("sleep", "60").start();
        RunningMount killed = mount(process.pid());
        process.destroyForcibly().waitFor();
        RunningMount living = mount(ProcessHandle.current().pid());

        assertThat(ServingMount.Mounts.of(List.of(killed, living), TABLE).newest(_ -> true, "none"))
                .isEqualTo(living);
    }

    @Test
    void silence_itsProcessIsStopped_saysSo() throws Exception {
        Process process = new ProcessBuilder("sleep", "60").start();
        try {
            RunningMount mount = mount(process.pid());
            assertThat(ServingMount.silence(mount, true, "it broke"))
                    .contains("does not respond (it broke): it belongs to another user");
            stop(process, mount);
            assertThat(ServingMount.silence(mount, true, "it broke")).contains("is stopped", "kill -CONT");
        } finally {
            process.destroyForcibly();
        }
    }

    @Test
    void refuseIfStopped_aLinkIntoAMountOfAStoppedProcess_isRefused(@TempDir Path temporary) throws Exception {
        Path folder = temporary.toRealPath();
        Path mountPoint = folder.resolve("mnt");
        Path link = Files.createSymbolicLink(folder.resolve("link"), mountPoint.resolve("data"));
        Process process = new ProcessBuilder("sleep", "60").start();
        try {
            RunningMount mount = mount(process.pid(), mountPoint);
            ServingMount.Mounts mounts = ServingMount.Mounts.of(List.of(mount), List.of());
            mounts.refuseIfStopped(link);
            stop(process, mount);

            assertThatThrownBy(() -> mounts.refuseIfStopped(link))
                    .isInstanceOf(RefusedException.class)
                    .hasMessageContaining("which serves " + mountPoint + ", is stopped");
            mounts.refuseIfStopped(folder);
        } finally {
            process.destroyForcibly();
        }
    }

    private static void stop(Process process, RunningMount mount) throws Exception {
        assertThat(new ProcessBuilder("kill", "-STOP", Long.toString(process.pid()))
                        .start()
                        .waitFor())
                .isZero();
        while (!mount.isStopped()) {
            Thread.onSpinWait();
        }
    }

    @Test
    void silence_ofWhatIsUnmountedMeanwhile_saysOnlyThat() {
        assertThat(ServingMount.silence(mount(ProcessHandle.current().pid()), false, "no such file"))
                .isEqualTo("/mnt/a is no longer served");
    }

    @Test
    void configuration_environmentSetsWhatTheMountDoesNot_isTheMounts() throws Exception {
        Host asking = new Host(
                Map.of("AWS_ENDPOINT_URL", "http://a/tenant", "AWS_CA_BUNDLE", "/ca.pem"),
                Path.of("/home/ann"),
                1000,
                1001,
                48L << 30,
                16);
        JsonNode told = new ObjectMapper().readTree("""
            [{"key": "s3.endpoint", "value": "(AWS)"}, {"key": "s3.region", "value": "eu-central-1"}]
            """);

        Configuration configuration = ServingMount.configuration(asking, "data", told);

        assertThat(configuration.find(Settings.ENDPOINT)).isEmpty();
        assertThat(configuration.find(Settings.CA_FILE)).isEmpty();
        assertThat(configuration.find(Settings.REGION)).hasValue("eu-central-1");
    }

    @Test
    void configuration_ofAMountWithOtherDefaults_isTheMounts() throws Exception {
        assertThat(told("""
            [{"key": "s3.endpoint", "value": "http://a:1"}, {"key": "s3.path-style", "value": "false"}]
            """)).satisfies(configuration -> {
            assertThat(configuration.get(Settings.PATH_STYLE)).isFalse();
            assertThat(configuration.origin(Settings.PATH_STYLE)).isNotInstanceOf(Origin.Default.class);
        });
        assertThat(told("""
            [{"key": "s3.connections", "value": "%d"}, {"key": "readahead.concurrency", "value": "1000"}]
            """.formatted(Configuration.defaults(Host.current(), "data")
                                .get(Settings.CONNECTIONS)))
                        .get(Settings.CONNECTIONS))
                .isEqualTo(Configuration.defaults(Host.current(), "data").get(Settings.CONNECTIONS));
    }

    /** Findings are only about settings that are set. */
    @Test
    void configuration_valuesThatAreTheDefaults_areNotSet() throws Exception {
        Configuration configuration = told("""
            [{"key": "s3.endpoint", "value": "http://a:1"}, {"key": "s3.path-style", "value": "true"},
             {"key": "read-only", "value": "true"}, {"key": "fuse.writeback-cache", "value": "false"}]
            """);

        assertThat(configuration.get(Settings.PATH_STYLE)).isTrue();
        assertThat(configuration.origin(Settings.PATH_STYLE)).isInstanceOf(Origin.Default.class);
        assertThat(configuration.origin(WriteSettings.WRITEBACK_CACHE)).isInstanceOf(Origin.Default.class);
        assertThat(configuration.origin(Settings.READ_ONLY)).isInstanceOf(Origin.Option.class);
    }

    @Test
    void configuration_ofAMountWithDefaultsOnly_setsNothing() throws Exception {
        Configuration defaults = Configuration.defaults(Host.current(), "data");
        String json = Settings.ALL.stream()
                .map(setting -> "{\"key\": \"" + setting + "\", \"value\": \"" + defaults.show(setting) + "\"}")
                .collect(Collectors.joining(",", "[", "]"));

        Configuration configuration = told(json);

        assertThat(Settings.ALL).allSatisfy(setting -> {
            assertThat(configuration.show(setting)).isEqualTo(defaults.show(setting));
            assertThat(configuration.origin(setting)).isInstanceOf(Origin.Default.class);
        });
    }

    private static Configuration told(String json) throws Exception {
        return ServingMount.configuration(Host.current(), "data", new ObjectMapper().readTree(json));
    }
}

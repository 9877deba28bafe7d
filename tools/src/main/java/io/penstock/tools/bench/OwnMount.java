package io.penstock.tools.bench;

import io.penstock.disk.PrivateFiles;
import io.penstock.fuse.KernelMount;
import io.penstock.fuse.MountException;
import io.penstock.fuse.MountTable;
import io.penstock.serve.control.Json;
import io.penstock.serve.mount.Target;
import io.penstock.serve.state.RunningMount;
import io.penstock.settings.Configuration;
import io.penstock.settings.Host;
import io.penstock.settings.MetricsSettings;
import io.penstock.settings.Origin;
import io.penstock.settings.Setting;
import io.penstock.settings.Settings;
import io.penstock.settings.ShareSettings;
import io.penstock.settings.WriteSettings;
import io.penstock.settings.process.Launcher;
import io.penstock.settings.process.RefusedException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A mount for the benchmark alone: {@code penstock mount} with the user's settings, except for the folders. A separate
 * process serves it, in a separate session: Ctrl-C ends only the benchmark, which then removes its files through the
 * mount. For a single use by one thread.
 */
final class OwnMount {
    /** The time its process may take to upload, as {@link io.penstock.serve.mount.StopSignal} allows. */
    private static final Duration PATIENCE = Duration.ofSeconds(25);

    private static final Duration LOOK = Duration.ofMillis(20);

    /** Ports, logs and cache group, which other mounts use, and settings for names outside the benchmark's folder. */
    private static final Set<Setting<?>> LEFT_OUT = Stream.concat(
                    Stream.of(
                            Settings.INDEX,
                            Settings.WARM_PATHS,
                            Settings.ACCESS_LOG,
                            MetricsSettings.PROMETHEUS,
                            MetricsSettings.OTLP),
                    ShareSettings.GROUP.settings().stream())
            .collect(Collectors.toUnmodifiableSet());

    private final Path folder;
    private final Path mountPoint;

    /** @param folder an empty folder on the disk for the cache, without symbolic links; the caller removes it */
    OwnMount(Path folder) {
        this.folder = folder;
        this.mountPoint = folder.resolve("mnt");
    }

    /**
     * Mounts, and returns once the mount serves.
     *
     * @throws RefusedException if it cannot be mounted; the message contains the output of {@code penstock mount}
     */
    RunningMount start(Target target, Configuration configuration)
            throws IOException, RefusedException, InterruptedException {
        Path settings = folder.resolve("settings.yaml");
        PrivateFiles.create(settings); // metrics.otlp.endpoint may contain a token
        Files.writeString(settings, Json.indented(Map.of("defaults", nested(texts(configuration))))); // JSON is YAML
        Path said = folder.resolve("mount.out");
        Path home = Launcher.home();
        Process process = new ProcessBuilder(
                        home == null ? "penstock" : home.resolve("bin/penstock").toString(),
                        "mount",
                        target.source(),
                        Files.createDirectory(mountPoint).toString(),
                        "--config",
                        settings.toString())
                .redirectErrorStream(true)
                .redirectOutput(said.toFile())
                .start();
        int status;
        try {
            status = process.waitFor();
        } catch (InterruptedException e) {
            process.destroy();
            process.waitFor();
            throw e;
        }
        if (status != 0) {
            throw new RefusedException("the bucket cannot be mounted: "
                    + Files.readString(said).strip().replaceAll("(?m)^penstock: ", ""));
        }
        return running()
                .orElseThrow(() -> new RefusedException("the benchmark's mount left no state file in "
                        + Host.current().runtimeFolder() + " that this user can read"));
    }

    private Optional<RunningMount> running() throws IOException {
        List<RunningMount> all = RunningMount.list(Host.current());
        return RunningMount.newest(all, mountPoint, false).or(() -> RunningMount.newest(all, mountPoint, true));
    }

    Map<String, String> texts(Configuration configuration) {
        Map<String, String> texts = new TreeMap<>();
        for (Setting<?> setting : Settings.ALL) {
            boolean isSet = !(configuration.origin(setting) instanceof Origin.Default);
            if (isSet && !LEFT_OUT.contains(setting)) {
                texts.put(setting.key(), configuration.written(setting));
            }
        }
        texts.put(Settings.CACHE_DIR.key(), folder.resolve("cache").toString());
        texts.put(WriteSettings.STAGING.key(), folder.resolve("staging").toString());
        texts.put(Settings.LOG_FILE.key(), folder.resolve("log").toString());
        return texts;
    }

    /** Turns {@code {cache.size=1GiB}} into {@code {cache={size=1GiB}}}. */
    static Map<String, Object> nested(Map<String, String> texts) {
        Map<String, Object> groups = new TreeMap<>();
        Map<String, Map<String, String>> inner = new TreeMap<>();
        texts.forEach((key, text) -> {
            int dot = key.indexOf('.');
            if (dot < 0) {
                groups.put(key, text);
            } else {
                inner.computeIfAbsent(key.substring(0, dot), _ -> new TreeMap<>())
                        .put(key.substring(dot + 1), text);
            }
        });
        groups.putAll(inner);
        return groups;
    }

    /** Unmounts it if it is mounted, in whatever state, and waits for its process to end. */
    void stop() throws IOException, MountException, InterruptedException {
        Optional<RunningMount> running = running();
        if (running.isPresent()) {
            RunningMount mount = running.get();
            Optional<ProcessHandle> process = ProcessHandle.of(mount.pid());
            process.ifPresent(ProcessHandle::destroy);
            long until = System.nanoTime() + PATIENCE.toNanos();
            while (mount.isAlive() && System.nanoTime() < until) {
                Thread.sleep(LOOK);
            }
            if (mount.isAlive()) {
                process.ifPresent(ProcessHandle::destroyForcibly);
            }
        }
        if (MountTable.read().at(mountPoint).isPresent()) {
            KernelMount.at(mountPoint).detachOrFail();
        }
    }
}

package io.penstock.serve.mount;

import com.fasterxml.jackson.databind.JsonNode;
import io.penstock.fuse.Supervisor;
import io.penstock.serve.control.ControlCommand;
import io.penstock.serve.control.ControlServer;
import io.penstock.serve.log.Logging;
import io.penstock.serve.state.RunningMount;
import io.penstock.serve.state.StateFile;
import io.penstock.settings.Configuration;
import io.penstock.settings.LogLevel;
import io.penstock.settings.Settings;
import io.penstock.settings.ShareSettings;
import io.penstock.settings.process.Reason;
import io.penstock.settings.process.RefusedException;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The interface of a mount that this process serves to other commands: its state file and its control socket. */
public final class MountControl implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(MountControl.class);

    private final MountPlan plan;
    private final BucketMount bucket;
    private final RunningMount running;
    private final LiveConfiguration configuration;
    private final LiveStatistics statistics;
    private final CacheCommands cache;
    private final StateFile state;
    private final Upgrade upgrade;

    /** For how long no process served the mount before this one; -1 if that is not known. */
    private final long pauseMillis =
            Supervisor.current().sinceDeath().map(Duration::toMillis).orElse(-1L);

    /** Null if it cannot listen; the mount serves anyway. */
    private final @Nullable ControlServer server;

    /**
     * @param mountPoint as the user names it
     * @param logFile empty if the log goes to the terminal
     * @param source reads the settings again for a reload
     */
    public MountControl(
            MountPlan plan,
            BucketMount bucket,
            Path mountPoint,
            Path logFile,
            Configuration configuration,
            LiveConfiguration.Source source) {
        this.plan = plan;
        this.bucket = bucket;
        this.running = new RunningMount(
                plan.target().source(),
                bucket.mount().mountPoint(),
                ProcessHandle.current().pid(),
                bucket.binding(),
                bucket.mount().description(),
                plan.cache().directory(),
                RecoveryAdvice.command(plan.target(), configuration),
                logFile,
                configuration
                        .find(Settings.ACCESS_LOG)
                        .map(file -> Serving.logFile(file, mountPoint))
                        .orElse(Path.of("")),
                Instant.now());
        this.configuration = new LiveConfiguration(configuration, source, this::adjust);
        this.statistics = new LiveStatistics(plan, running, bucket, this.configuration);
        this.cache = new CacheCommands(bucket.modules(), bucket.jobs(), running.mountPoint());
        this.state = new StateFile(running, configuration.host());
        this.upgrade = new Upgrade(running.mountPoint(), bucket.mount().description());
        this.server = listen(configuration);
    }

    private @Nullable ControlServer listen(Configuration mounted) {
        try {
            return new ControlServer(running.openSocket(mounted.host()), commands());
        } catch (IOException e) {
            log.warn("Other penstock commands cannot reach this process: {}", Reason.of(e));
            return null;
        }
    }

    private Map<String, ControlCommand> commands() {
        Map<String, ControlCommand> commands = new HashMap<>(Map.of(
                "stats",
                _ -> statistics.get(),
                "config",
                _ -> configuration.show(),
                "set",
                this::set,
                "reload",
                _ -> configuration.reload(),
                "sync",
                this::sync,
                "upgrade",
                arguments -> upgrade.run(arguments, pauseMillis)));
        commands.putAll(cache.byName());
        return commands;
    }

    private List<LiveConfiguration.Change> set(JsonNode arguments) throws RefusedException {
        List<String> assignments = new ArrayList<>();
        arguments.path("settings").forEach(each -> assignments.add(each.asText()));
        return configuration.set(assignments);
    }

    /** Starts a job that waits for the uploads of written files. */
    private Object sync(JsonNode arguments) throws RefusedException {
        JsonNode timeout = arguments.path("timeout");
        SyncJob job = new SyncJob(
                bucket.failed(),
                running.recovery(),
                bucket.awaited(),
                key -> FileSelection.shown(bucket.modules().tree(), key),
                timeout.canConvertToLong() ? Duration.ofMillis(timeout.asLong()) : null);
        return Map.of("job", bucket.jobs().start(job));
    }

    private void adjust(Configuration next) {
        bucket.adjust(MountPlan.of(plan.target(), plan.mount().mountPoint(), next), next.get(ShareSettings.BANDWIDTH));
        Logging.setLevel(next.get(Settings.LOG_LEVEL, LogLevel.class));
    }

    long pauseMillis() {
        return pauseMillis;
    }

    RunningMount running() {
        return running;
    }

    LiveStatistics statistics() {
        return statistics;
    }

    /** Where penstock mounts finds the mount's state. */
    StateFile state() {
        return state;
    }

    /** Reloads the settings on SIGHUP. Waits for a reload in progress, because nobody would see a refusal. */
    void reload() {
        try {
            var _ = configuration.reloadInTurn();
        } catch (RefusedException e) {
            log.warn("Configuration not reloaded: {}", e.getMessage());
        }
    }

    /** Starts to warm these paths. */
    void warm(List<String> paths, boolean pin) {
        try {
            cache.warm(paths, pin);
        } catch (RefusedException e) {
            log.warn("{}: {}", Settings.WARM_PATHS, e.getMessage());
        }
    }

    @Override
    public void close() {
        if (server != null) {
            server.close();
        }
        state.close();
    }
}

package io.penstock.cli.mount;

import com.fasterxml.jackson.databind.JsonNode;
import io.penstock.cli.control.ControlCommand;
import io.penstock.cli.process.RefusedException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The commands of a mount's control socket. Safe for use by any number of threads. */
final class MountCommands {
    private final LiveStatistics statistics;
    private final LiveConfiguration configuration;
    private final Profiler profiler;
    private final CacheCommands cache;
    private final ControlCommand sync;

    MountCommands(
            LiveStatistics statistics,
            LiveConfiguration configuration,
            Profiler profiler,
            CacheCommands cache,
            ControlCommand sync) {
        this.statistics = statistics;
        this.configuration = configuration;
        this.profiler = profiler;
        this.cache = cache;
        this.sync = sync;
    }

    Map<String, ControlCommand> byName() {
        Map<String, ControlCommand> commands = new HashMap<>(profiler.commands());
        commands.putAll(Map.of(
                "stats",
                _ -> statistics.get(),
                "config",
                _ -> configuration.show(),
                "set",
                this::set,
                "reload",
                _ -> configuration.reload(),
                "sync",
                sync));
        commands.putAll(cache.byName());
        return commands;
    }

    private List<LiveConfiguration.Change> set(JsonNode arguments) throws RefusedException {
        List<String> assignments = new ArrayList<>();
        arguments.path("settings").forEach(each -> assignments.add(each.asText()));
        return configuration.set(assignments);
    }
}

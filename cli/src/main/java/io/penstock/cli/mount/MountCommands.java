package io.penstock.cli.mount;

import com.fasterxml.jackson.databind.JsonNode;
import io.penstock.cli.control.ControlCommand;
import io.penstock.cli.control.MountStatistics;
import io.penstock.cli.process.RefusedException;
import io.penstock.cli.state.RunningMount;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The commands of a mount's control socket. Safe for use by any number of threads. */
final class MountCommands {
    private final MountPlan plan;
    private final RunningMount running;
    private final BucketMount bucket;
    private final LiveConfiguration configuration;
    private final long begun = System.nanoTime();

    MountCommands(MountPlan plan, RunningMount running, BucketMount bucket, LiveConfiguration configuration) {
        this.plan = plan;
        this.running = running;
        this.bucket = bucket;
        this.configuration = configuration;
    }

    Map<String, ControlCommand> byName() {
        Map<String, ControlCommand> all = new HashMap<>(Map.of(
                "stats",
                this::statistics,
                "config",
                _ -> configuration.show(),
                "set",
                this::set,
                "reload",
                _ -> configuration.reload()));
        all.putAll(new CacheCommands(bucket.contents(), bucket.jobs(), running.mountPoint()).byName());
        return all;
    }

    private MountStatistics statistics(JsonNode arguments) {
        return new MountStatistics(
                running.source(),
                running.mountPoint().toString(),
                running.pid(),
                (System.nanoTime() - begun) / 1e9,
                bucket.cacheStatistics(),
                bucket.readaheadStatistics(),
                plan.mount().readOnly() ? null : bucket.writebackStatistics());
    }

    private List<LiveConfiguration.Change> set(JsonNode arguments) throws RefusedException {
        List<String> assignments = new ArrayList<>();
        arguments.path("settings").forEach(each -> assignments.add(each.asText()));
        return configuration.set(assignments);
    }
}

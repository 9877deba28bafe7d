package io.penstock.cli.mount;

import com.fasterxml.jackson.databind.JsonNode;
import io.penstock.cli.config.CostSettings;
import io.penstock.cli.control.ControlCommand;
import io.penstock.cli.control.Cost;
import io.penstock.cli.control.MountStatistics;
import io.penstock.cli.process.RefusedException;
import io.penstock.cli.state.RunningMount;
import io.penstock.objectstore.RequestStatistics;
import io.penstock.prefetch.ReadaheadStatistics;
import java.util.ArrayList;
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
        return Map.of(
                "stats",
                this::statistics,
                "config",
                _ -> configuration.show(),
                "set",
                this::set,
                "reload",
                _ -> configuration.reload());
    }

    private MountStatistics statistics(JsonNode arguments) {
        ReadaheadStatistics readahead = bucket.readaheadStatistics();
        RequestStatistics requests = bucket.requestStatistics();
        return new MountStatistics(
                running.source(),
                running.mountPoint().toString(),
                running.pid(),
                (System.nanoTime() - begun) / 1e9,
                bucket.cacheStatistics(),
                readahead,
                requests,
                Cost.of(
                        requests,
                        readahead.bytesFetched(),
                        configuration.get(CostSettings.GETS),
                        configuration.get(CostSettings.PUTS),
                        configuration.get(CostSettings.TRANSFER)),
                plan.mount().readOnly() ? null : bucket.writebackStatistics(),
                bucket.callStatistics());
    }

    private List<LiveConfiguration.Change> set(JsonNode arguments) throws RefusedException {
        List<String> assignments = new ArrayList<>();
        arguments.path("settings").forEach(each -> assignments.add(each.asText()));
        return configuration.set(assignments);
    }
}

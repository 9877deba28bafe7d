package io.penstock.cli.mount;

import io.penstock.cli.config.CostSettings;
import io.penstock.cli.control.Cost;
import io.penstock.cli.control.MountStatistics;
import io.penstock.cli.state.RunningMount;
import io.penstock.objectstore.RequestStatistics;
import io.penstock.prefetch.ReadaheadStatistics;
import java.util.function.Supplier;

/** The statistics of a mount now, from when this was made. Safe for use by any number of threads. */
final class LiveStatistics implements Supplier<MountStatistics> {
    private final MountPlan plan;
    private final RunningMount running;
    private final BucketMount bucket;
    private final LiveConfiguration configuration;
    private final long begun = System.nanoTime();

    LiveStatistics(MountPlan plan, RunningMount running, BucketMount bucket, LiveConfiguration configuration) {
        this.plan = plan;
        this.running = running;
        this.bucket = bucket;
        this.configuration = configuration;
    }

    @Override
    public MountStatistics get() {
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
                bucket.callStatistics(),
                bucket.shareStatus());
    }
}

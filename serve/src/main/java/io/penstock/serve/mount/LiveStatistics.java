package io.penstock.serve.mount;

import io.penstock.core.NativeMemory;
import io.penstock.core.NativeMemory.Share;
import io.penstock.filesystem.names.RunningRename;
import io.penstock.fuse.calls.CallStatistics;
import io.penstock.metadata.PreloadState;
import io.penstock.objectstore.s3.RequestStatistics;
import io.penstock.prefetch.ReadaheadStatistics;
import io.penstock.serve.control.Cost;
import io.penstock.serve.control.MountStatistics;
import io.penstock.serve.control.MountStatistics.InFlight;
import io.penstock.serve.control.MountStatistics.Names;
import io.penstock.serve.control.MountStatistics.Renaming;
import io.penstock.serve.control.MountStatistics.Space;
import io.penstock.serve.control.Saved;
import io.penstock.serve.state.RunningMount;
import io.penstock.settings.CostSettings;
import io.penstock.settings.Settings;
import io.penstock.settings.WriteSettings;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The current statistics of a mount; its time counts from the creation of this object. Thread-safe. */
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
        Map<String, CallStatistics> calls = bucket.callStatistics();
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
                Saved.of(
                        MountStatistics.readBytes(calls),
                        readahead,
                        configuration.get(Settings.RANGE_SIZE),
                        configuration.get(CostSettings.GETS),
                        configuration.get(CostSettings.TRANSFER)),
                plan.mount().readOnly() ? null : bucket.writebackStatistics(),
                calls,
                new InFlight(bucket.mount().unanswered(), bucket.requestsInFlight()),
                memory(),
                new Space(
                        configuration.get(Settings.CACHE_SIZE),
                        configuration.get(WriteSettings.STAGING_SIZE),
                        bucket.pinnedBytes()),
                bucket.renames().stream().map(this::renaming).toList(),
                names(bucket.names()),
                bucket.shareStatus());
    }

    private Renaming renaming(RunningRename rename) {
        int prefix = plan.target().prefix().length();
        return new Renaming(
                rename.from().substring(prefix),
                rename.to().substring(prefix),
                rename.step().name().toLowerCase(Locale.ROOT),
                rename.done(),
                rename.all());
    }

    private static @Nullable Names names(PreloadState state) {
        return switch (state) {
            case PreloadState.None _ -> null;
            case PreloadState.Listing(long objects, double share, var _) -> new Names(objects, share);
            case PreloadState.Known(long objects, var _) -> new Names(objects, 1);
        };
    }

    private static Map<String, Long> memory() {
        Map<String, Long> memory = new LinkedHashMap<>();
        for (Share share : Share.values()) {
            memory.put(share.name().toLowerCase(Locale.ROOT), NativeMemory.used(share));
        }
        return memory;
    }
}

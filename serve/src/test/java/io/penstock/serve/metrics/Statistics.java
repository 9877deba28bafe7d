package io.penstock.serve.metrics;

import io.penstock.cache.CacheStatistics;
import io.penstock.fuse.calls.CallStatistics;
import io.penstock.objectstore.s3.RequestStatistics;
import io.penstock.prefetch.ReadaheadStatistics;
import io.penstock.serve.control.Cost;
import io.penstock.serve.control.MountStatistics;
import io.penstock.serve.control.MountStatistics.InFlight;
import io.penstock.serve.control.Saved;
import io.penstock.serve.control.ShareStatus;
import io.penstock.writeback.WritebackStatistics;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Made-up statistics. */
final class Statistics {
    private static final CallStatistics READ = new CallStatistics(
            10, 4096, 2_500_000_000L, 5, 6, 7, Map.of("EIO", 3L), new TreeMap<>(Map.of(1L << 16, 4L, 1L << 34, 9L)));

    private static final ShareStatus SHARE = new ShareStatus(
            ShareStatus.State.JOINED,
            null,
            "10.0.0.1:7420",
            List.of(new ShareStatus.Member("a", "10.0.0.1:7420", 1, "self")),
            52,
            53,
            Map.of("timeout", 54L),
            55,
            56,
            Map.of(),
            57);

    static final WritebackStatistics WRITING = new WritebackStatistics(1, 2, 3, 4, 5, 6, 7);

    private Statistics() {}

    static MountStatistics of(double seconds, boolean isWritten) {
        return of(seconds, isWritten ? WRITING : null, Map.of("read", READ));
    }

    static MountStatistics of(
            double seconds, @Nullable WritebackStatistics writing, Map<String, CallStatistics> calls) {
        return new MountStatistics(
                "s3://data/\"a\"",
                "/mnt/data",
                17,
                seconds,
                new CacheStatistics(1, 2, 3, 4, 15, 16, 17, 5_000_000_000L, 6, 7, 8, 9, 10, 11, 12, 13, 14),
                new ReadaheadStatistics(21, 22, 23, 24, 25, 26, 27, 2_000_000_000L, 1_000_000_000L),
                new RequestStatistics(31, 32, 33, 34, 35, 36, 37),
                new Cost(38, 39),
                new Saved(61, 62, 63),
                writing,
                calls,
                new InFlight(41, 42),
                Map.of(
                        "pages", 43L, //
                        "blocks", 45L,
                        "names", 48L,
                        "connections", 46L,
                        "requests", 47L,
                        "replies", 44L), // all purposes
                new MountStatistics.Space(71, 72, 73),
                List.of(new MountStatistics.Renaming("train/old/", "train/new/", "copying", 1_200, 5_000)),
                calls.isEmpty() ? null : new MountStatistics.Names(74, 0.75),
                calls.isEmpty() ? null : SHARE);
    }
}

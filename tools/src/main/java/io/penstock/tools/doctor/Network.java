package io.penstock.tools.doctor;

import io.penstock.settings.Configuration;
import io.penstock.settings.Settings;
import io.penstock.tools.measure.DiskTrial;
import io.penstock.tools.measure.RangeSpeed;
import io.penstock.tools.measure.Text;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How fast ranges arrive, and how many concurrent requests that takes.
 *
 * @param cache the disk of the cache; null if it is unknown
 */
record Network(Configuration configuration, Disk.@Nullable Facts cache) {
    /** A store in the same region responds sooner. */
    private static final Duration FAR = Duration.ofMillis(200);

    private static final double SLOW_MIB = 50;

    void check(List<RangeSpeed> speeds, Findings findings) {
        if (speeds.isEmpty()) {
            findings.note("not measured: no object of 1 MiB or more is among the first 1,000");
            return;
        }
        speeds.forEach(speed -> findings.ok(words(speed)));
        RangeSpeed best = RangeSpeed.best(speeds);
        RangeSpeed alone = speeds.getFirst();
        if (best.mib() == 0) {
            findings.error(
                    "no byte arrived",
                    "Reads wait until s3.retry-deadline, and fail",
                    "Check the network, s3.proxy and the server's load");
            return;
        }
        concurrency(speeds, findings);
        cacheDisk(best, findings);
        if (alone.p50().compareTo(FAR) > 0) {
            findings.warning(
                    "a request waits " + Text.time(alone.p50()) + " for its first byte",
                    "Each open or lookup of a file waits that long",
                    "Use a bucket in this machine's region; check s3.proxy, a VPN, or the server's load");
        }
        if (best.mib() < SLOW_MIB) {
            findings.warning(
                    "the network delivers " + Text.number(best.mib()) + " MiB/s",
                    "Data that is not cached yet cannot be read faster",
                    "Use a bucket in this machine's region, or a VPC endpoint instead of a NAT gateway");
        }
    }

    /** The speed grows with the number of requests in flight, until the network or the server is saturated. */
    private void concurrency(List<RangeSpeed> speeds, Findings findings) {
        RangeSpeed last = speeds.getLast();
        boolean isGrowing = speeds.size() > 1
                && last.mib() > RangeSpeed.GAIN * speeds.get(speeds.size() - 2).mib();
        int least = RangeSpeed.least(speeds);
        int set = configuration.get(Settings.READ_CONCURRENCY);
        if (set < least) {
            findings.warning(
                    "the network needs " + least + " concurrent requests, but readahead.concurrency is " + set,
                    "Cold reads leave part of the network's bandwidth unused",
                    "Set readahead.concurrency to " + least + (isGrowing ? " or more" : ""));
        } else {
            findings.ok((isGrowing ? "more than " : "") + least
                    + (least == 1 && !isGrowing ? " request fills" : " concurrent requests fill")
                    + " the network; readahead.concurrency is " + set);
        }
    }

    private void cacheDisk(RangeSpeed best, Findings findings) {
        DiskTrial.Speed disk =
                cache == null || cache.trial() == null ? null : cache.trial().speed();
        if (disk != null && disk.writeMib() < best.mib()) {
            findings.note(
                    "the network delivers " + Text.number(best.mib()) + " MiB/s, but the cache's disk writes only "
                            + Text.number(disk.writeMib()),
                    "At full speed, part of the data read is not cached, and is fetched again later",
                    "Set cache.dir to a folder on a faster disk");
        }
    }

    private static String words(RangeSpeed speed) {
        return "%d at once: %s MiB/s; first byte after %s, p99 %s"
                .formatted(
                        speed.concurrency(), Text.number(speed.mib()), Text.time(speed.p50()), Text.time(speed.p99()));
    }
}

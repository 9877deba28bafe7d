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
record NetworkCheck(Configuration configuration, Disks.@Nullable Facts cache) implements Check<List<RangeSpeed>> {
    /** A store in the same region responds sooner. */
    private static final Duration FAR = Duration.ofMillis(200);

    private static final double SLOW_MIB = 50;

    @Override
    public void examine(List<RangeSpeed> speeds, Findings findings) {
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
                    "Opening and looking up files waits as long each time",
                    "Use a bucket in this machine's region; check s3.proxy, a VPN, or the server's load");
        }
        if (best.mib() < SLOW_MIB) {
            findings.warning(
                    "the network brings " + Text.number(best.mib()) + " MiB/s",
                    "Data that is not cached yet is read no faster",
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
                    "it takes " + least + " requests at once to fill the network, and readahead.concurrency is " + set,
                    "Cold reads leave a part of the network unused",
                    "Set readahead.concurrency to " + least + (isGrowing ? " or more" : ""));
        } else {
            findings.ok((isGrowing ? "more than " : "") + least
                    + (least == 1 && !isGrowing ? " request fills" : " requests at once fill")
                    + " the network; readahead.concurrency is " + set);
        }
    }

    private void cacheDisk(RangeSpeed best, Findings findings) {
        DiskTrial.Speed disk =
                cache == null || cache.trial() == null ? null : cache.trial().speed();
        if (disk != null && disk.writeMib() < best.mib()) {
            findings.note(
                    "the network brings " + Text.number(best.mib()) + " MiB/s, and the cache's disk takes "
                            + Text.number(disk.writeMib()),
                    "At full speed a part of the data read is not stored, and is fetched again later",
                    "Set cache.dir to a folder on a faster disk");
        }
    }

    private static String words(RangeSpeed speed) {
        return "%d at once: %s MiB/s; first byte after %s, p99 %s"
                .formatted(
                        speed.concurrency(), Text.number(speed.mib()), Text.time(speed.p50()), Text.time(speed.p99()));
    }
}

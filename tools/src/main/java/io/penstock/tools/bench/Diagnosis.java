package io.penstock.tools.bench;

import io.penstock.settings.Configuration;
import io.penstock.settings.Settings;
import io.penstock.settings.WriteSettings;
import io.penstock.tools.measure.RangeSpeed;
import io.penstock.tools.measure.Text;
import io.penstock.writeback.WritebackConfig.Close;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Suggests a setting or a limit to look at when a row of a mount is far below its ceiling. */
final class Diagnosis {
    /** Small files are judged only below this fraction of the disk's rate: in a mount, each costs FUSE requests. */
    private static final double VERY_POOR = 0.1;

    private static final Pattern NO_PASSTHROUGH = Pattern.compile("no passthrough \\(.*\\)");

    private static final Duration SHORT_TTL = Duration.ofSeconds(1);

    private final Results results;
    private final List<RangeSpeed> ranges;
    private final Workload workload;
    private final Configuration settings;
    private final String negotiated;

    /**
     * @param ranges the speeds of the bucket; empty if they were not measured
     * @param settings those of the mount
     * @param negotiated the features that the mount negotiated with the kernel, as text
     */
    Diagnosis(Results results, List<RangeSpeed> ranges, Workload workload, Configuration settings, String negotiated) {
        this.results = results;
        this.ranges = ranges;
        this.workload = workload;
        this.settings = settings;
        this.negotiated = negotiated;
    }

    /** One line; empty if the row is good enough, or there is nothing to suggest. */
    Optional<String> of(Row row) {
        return row.isPoor()
                ? Optional.ofNullable(remedy(row))
                        .map(text -> row.step().label() + ": " + row.comparison() + ". " + text)
                : Optional.empty();
    }

    private @Nullable String remedy(Row row) {
        return switch (row.step()) {
            case LARGE_READ_COLD -> coldLarge();
            case LARGE_READ_AGAIN -> largeAgain();
            case LARGE_WRITE -> largeWrite();
            case SMALL_WRITE -> smallWrite();
            case SMALL_READ_COLD -> coldSmall();
            case SMALL_READ_AGAIN ->
                row.ratio() < VERY_POOR
                        ? "Each file costs an open, a read and a close: read with more threads, or pack samples into"
                                + " larger files"
                        : null;
            case STAT ->
                settings.get(Settings.METADATA_TTL).compareTo(SHORT_TTL) < 0
                        ? "metadata.ttl is " + settings.show(Settings.METADATA_TTL)
                                + ", so each lookup costs a request: raise it"
                        : null;
            default -> null;
        };
    }

    private String coldLarge() {
        int set = settings.get(Settings.READ_CONCURRENCY);
        int least = ranges.isEmpty() ? 1 : RangeSpeed.least(ranges);
        if (set < least) {
            return "The network needs " + least + " concurrent requests, but readahead.concurrency is " + set
                    + ": set it to " + least + " or more";
        }
        return "This is a single reader; several together read faster. penstock stats shows what it waits for; a larger"
                + " readahead.max-window (" + settings.show(Settings.MAX_WINDOW) + ") and memory ("
                + settings.show(Settings.MEMORY) + ") allow more readahead";
    }

    private String largeAgain() {
        Matcher lacks = NO_PASSTHROUGH.matcher(negotiated);
        return lacks.find()
                ? "The mount copies each read, which takes CPU time: " + lacks.group()
                : "The kernel reads cached files directly here (passthrough): perhaps the disk was busy with earlier"
                        + " writes, or part of the file was not cached. penstock stats --once shows how many pages"
                        + " were evicted or not stored";
    }

    private String largeWrite() {
        double network = results.rate(Step.BUCKET_UPLOAD);
        double disk = results.rate(Step.DISK_WRITE_DIRECT);
        int perFile = Math.min(
                settings.get(WriteSettings.UPLOAD_CONCURRENCY),
                settings.get(WriteSettings.UPLOAD_CONCURRENCY_PER_FILE));
        if (perFile < RawBucket.UPLOADS) {
            return "upload.concurrency-per-file and upload.concurrency allow " + perFile + " concurrent parts, but "
                    + RawBucket.UPLOADS + " were measured: raise them";
        } else if (disk < network) {
            return "Written data is staged on a disk that writes " + Text.number(Math.rint(disk))
                    + " MiB/s: set write.staging to a folder on a faster disk";
        }
        return "This is a single writer; several together write faster. Check the CPU time of the mount";
    }

    private String smallWrite() {
        return switch (settings.get(WriteSettings.CLOSE, Close.class)) {
            case VISIBLE ->
                "close returns once the file is in the bucket: write with more threads, or set write.close to staged";
            case STAGED ->
                "close returns once the file is synced to the staging disk: write with more threads, or set"
                        + " write.staging to a folder on a faster disk";
        };
    }

    private String coldSmall() {
        long smallFile = settings.get(Settings.SMALL_FILE);
        if (smallFile < workload.smallBytes()) {
            return "readahead.small-file is " + settings.show(Settings.SMALL_FILE)
                    + ", and larger files are not fetched ahead: raise it";
        }
        return "Check readahead.concurrency (" + settings.show(Settings.READ_CONCURRENCY)
                + ") and the CPU time of the mount; more threads read faster";
    }
}

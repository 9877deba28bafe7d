package io.penstock.benchmarks;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The lines of a mount's log about the listing of the whole bucket.
 *
 * @param time from the mount to the end of the listing
 * @param memoryBytes memory of the names, in whole MiB
 */
record ListingLog(Duration time, long objects, long memoryBytes) {
    private static final Duration LISTING = Duration.ofMinutes(30);
    private static final Pattern MOUNTED = Pattern.compile("^(\\S+) .* is mounted on ", Pattern.MULTILINE);
    private static final Pattern LISTED = Pattern.compile(
            "^(\\S+) .* is listed: (\\d+) objects in .* by \\d+ requests; (\\d+) MiB of memory", Pattern.MULTILINE);
    private static final Pattern NOT_LISTED = Pattern.compile("^.* is not listed as a whole.*$", Pattern.MULTILINE);

    /** Returns once the whole bucket is listed. */
    static ListingLog await(Path log) throws IOException, InterruptedException, BenchException {
        long deadline = System.nanoTime() + LISTING.toNanos();
        while (true) {
            String said = Files.readString(log);
            ListingLog listed = parse(said);
            if (listed != null) {
                return listed;
            }
            if (System.nanoTime() > deadline) {
                throw new BenchException(
                        "the bucket is not listed after " + LISTING.toMinutes() + " minutes:\n" + said);
            }
            Thread.sleep(20);
        }
    }

    /**
     * @return null if the listing is not complete yet
     * @throws BenchException if it has failed
     */
    static @Nullable ListingLog parse(String log) throws BenchException {
        Matcher failed = NOT_LISTED.matcher(log);
        if (failed.find()) {
            throw new BenchException(failed.group());
        }
        Matcher mounted = MOUNTED.matcher(log);
        Matcher listed = LISTED.matcher(log);
        if (!mounted.find() || !listed.find()) {
            return null;
        }
        Duration time = Duration.between(OffsetDateTime.parse(mounted.group(1)), OffsetDateTime.parse(listed.group(1)));
        return new ListingLog(time, Long.parseLong(listed.group(2)), Long.parseLong(listed.group(3)) << 20);
    }
}

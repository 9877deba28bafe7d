package io.penstock.benchmarks;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/**
 * A mount with its own log.
 *
 * @param startedAt when its process was started, by {@link System#nanoTime}
 */
record TreeMount(MountProcess process, Path log, long startedAt) {
    private static final long LISTING_MINUTES = 30;

    Path path() {
        return process.path();
    }

    long pid() {
        return process.pid();
    }

    /** Returns once the whole bucket is listed. */
    ListingLog awaitListed() throws IOException, InterruptedException, BenchException {
        long deadline = System.nanoTime() + TimeUnit.MINUTES.toNanos(LISTING_MINUTES);
        while (true) {
            String said = Files.readString(log, StandardCharsets.UTF_8);
            ListingLog listed = ListingLog.parse(said);
            if (listed != null) {
                return listed;
            }
            if (System.nanoTime() > deadline) {
                throw new BenchException("the bucket is not listed after " + LISTING_MINUTES + " minutes:\n" + said);
            }
            Thread.sleep(20);
        }
    }
}

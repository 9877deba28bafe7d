package io.penstock.benchmarks;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.util.concurrent.TimeUnit;

/** Reads the JSON report of an fio run whose jobs were reported as one group. */
final class FioReport {
    private static final ObjectMapper JSON = new ObjectMapper();

    private FioReport() {}

    /** @throws IOException if it is no such report, or one of a run that failed or read nothing */
    static Measurement parse(String text) throws IOException {
        // fio's warnings come first, into the same file.
        int start = text.indexOf('{');
        if (start < 0) {
            throw new IOException("fio wrote no report: " + text.strip());
        }
        JsonNode jobs = JSON.readTree(text.substring(start)).path("jobs");
        if (jobs.size() != 1) {
            throw new IOException("fio reported " + jobs.size() + " groups of jobs instead of one");
        }
        JsonNode job = jobs.get(0);
        if (job.path("error").asInt() != 0) {
            throw new IOException("fio failed with error " + job.path("error") + ": " + text.substring(0, start));
        }
        JsonNode read = job.path("read");
        long millis = read.path("runtime").asLong();
        if (millis == 0 || read.path("io_bytes").asLong() == 0) {
            throw new IOException("fio read nothing");
        }
        JsonNode percentiles = read.path("clat_ns").path("percentile");
        return new Measurement(
                read.path("io_bytes").asLong(),
                read.path("total_ios").asLong(),
                TimeUnit.MILLISECONDS.toNanos(millis),
                percentiles.path("50.000000").asLong(),
                percentiles.path("99.000000").asLong());
    }
}

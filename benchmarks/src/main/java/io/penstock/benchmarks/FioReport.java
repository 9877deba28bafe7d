package io.penstock.benchmarks;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.util.concurrent.TimeUnit;

/** Parses the JSON report of an fio run that reported all jobs as one group. */
final class FioReport {
    private static final ObjectMapper JSON = new ObjectMapper();

    private FioReport() {}

    /** @throws IOException if it is not such a report, or if the run failed or read nothing */
    static Measurement parse(String text) throws IOException {
        // fio writes warnings to the same file, before the report.
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

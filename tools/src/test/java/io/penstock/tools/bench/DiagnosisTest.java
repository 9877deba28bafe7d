package io.penstock.tools.bench;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.settings.Configuration;
import io.penstock.settings.ConfigurationFile;
import io.penstock.settings.Host;
import io.penstock.settings.MountOptionList;
import io.penstock.settings.SettingSource;
import io.penstock.tools.measure.RangeSpeed;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class DiagnosisTest {
    private static final Workload WORKLOAD = new Workload(1 << 30, 1000, 128 << 10, 16, Duration.ofSeconds(5));

    private final Results results = new Results(
            new Output(new PrintWriter(new StringWriter()), new PrintWriter(new StringWriter()), Output.Form.LINES));

    private String negotiated = "requests up to 1024 KiB, passthrough";

    /** The diagnosis on a step with this rate, if each ceiling is 1000. */
    private Optional<String> of(Step step, double rate, String options) throws Exception {
        for (Step ceiling : List.of(
                Step.BUCKET_UPLOAD,
                Step.BUCKET_RANGES_64,
                Step.BUCKET_SMALL_PUT,
                Step.BUCKET_SMALL_GET,
                Step.DISK_LARGE_READ,
                Step.DISK_SMALL_READ,
                Step.DISK_STAT)) {
            results.measureRate(ResultsTest.BUCKET, ceiling, () -> 1000.0);
        }
        Row row = results.measureRate(ResultsTest.MOUNT, step, () -> rate);
        Configuration settings = Configuration.of(
                new Host(Map.of(), Path.of("/root"), 0, 0, 64L << 30, 8),
                "data",
                SettingSource.EMPTY,
                MountOptionList.parse(options.isEmpty() ? List.of() : List.of(options), "-o")
                        .settings(),
                ConfigurationFile.NONE);
        Duration wait = Duration.ofMillis(1);
        List<RangeSpeed> ranges = List.of(
                new RangeSpeed(1, 50, wait, wait),
                new RangeSpeed(16, 500, wait, wait),
                new RangeSpeed(64, 1000, wait, wait));
        return new Diagnosis(results, ranges, WORKLOAD, settings, negotiated).of(row);
    }

    @Test
    void goodRow_hasNone() throws Exception {
        assertThat(of(Step.LARGE_READ_COLD, 600, "")).isEmpty();
    }

    @Test
    void coldLarge_tooFewRequests_namesTheSetting() throws Exception {
        assertThat(of(Step.LARGE_READ_COLD, 200, "readahead_concurrency=8"))
                .hasValue("large file read cold: 20% of the bucket (read by ranges, 64 at once). The network needs 64"
                        + " concurrent requests, but readahead.concurrency is 8: set it to 64 or more");
    }

    @Test
    void coldLarge_enoughRequests_namesWindowAndMemory() throws Exception {
        assertThat(of(Step.LARGE_READ_COLD, 200, "memory=1GiB").orElseThrow())
                .contains("This is a single reader", "readahead.max-window (128MiB)", "memory (1GiB)");
    }

    @Test
    void againLarge_withPassthrough_asksForWhatIsNotCached() throws Exception {
        assertThat(of(Step.LARGE_READ_AGAIN, 200, "").orElseThrow()).contains("penstock stats --once");
    }

    @Test
    void againLarge_withoutPassthrough_saysWhatLacks() throws Exception {
        negotiated = "4 readers, no passthrough (this kernel has none: Linux 6.9 or newer has)";
        assertThat(of(Step.LARGE_READ_AGAIN, 200, "").orElseThrow())
                .contains("takes CPU time", "no passthrough (this kernel has none: Linux 6.9 or newer has)");
    }

    @Test
    void writtenLarge_fewParts_namesTheSettings() throws Exception {
        assertThat(of(Step.LARGE_WRITE, 200, "upload_concurrency_per_file=4").orElseThrow())
                .contains("upload.concurrency-per-file", "allow 4 concurrent parts");
    }

    @Test
    void writtenLarge_slowDisk_namesTheStagingFolder() throws Exception {
        results.measureRate(ResultsTest.DISK, Step.DISK_WRITE_DIRECT, () -> 150.0);
        assertThat(of(Step.LARGE_WRITE, 140, "").orElseThrow()).contains("writes 150 MiB/s: set write.staging");
    }

    @Test
    void writtenLarge_neither_asksForMoreWriters() throws Exception {
        assertThat(of(Step.LARGE_WRITE, 140, "").orElseThrow()).contains("This is a single writer");
    }

    @Test
    void writtenSmall_namesStagedCloses_orTheirDisk() throws Exception {
        assertThat(of(Step.SMALL_WRITE, 140, "").orElseThrow()).contains("set write.close to staged");
        assertThat(of(Step.SMALL_WRITE, 140, "write_close=staged").orElseThrow())
                .contains("synced to the staging disk")
                .doesNotContain("write.close");
    }

    @Test
    void coldSmall_largerThanTheSetting_namesIt() throws Exception {
        assertThat(of(Step.SMALL_READ_COLD, 140, "readahead_small_file=64KiB").orElseThrow())
                .contains("readahead.small-file is 64KiB");
        assertThat(of(Step.SMALL_READ_COLD, 140, "").orElseThrow()).contains("readahead.concurrency (96)");
    }

    @Test
    void againSmall_onlyFarBelowTheDisk_isWorthAWord() throws Exception {
        assertThat(of(Step.SMALL_READ_AGAIN, 200, "")).isEmpty();
        assertThat(of(Step.SMALL_READ_AGAIN, 50, "").orElseThrow()).contains("an open, a read and a close");
    }

    @Test
    void stat_namesOnlyAShortTtl() throws Exception {
        assertThat(of(Step.STAT, 50, "")).isEmpty();
        assertThat(of(Step.STAT, 50, "metadata_ttl=0s").orElseThrow()).contains("metadata.ttl is 0s");
    }
}

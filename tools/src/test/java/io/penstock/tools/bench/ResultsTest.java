package io.penstock.tools.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.penstock.settings.process.RefusedException;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;

class ResultsTest {
    static final Location BUCKET = new Location(Location.Kind.BUCKET, "s3://data", "bucket s3://data");
    static final Location DISK = new Location(Location.Kind.DISK, "/nvme", "disk of /nvme");
    static final Location MOUNT = new Location(Location.Kind.MOUNT, "/mnt/data", "/mnt/data");

    private final Results results = new Results(
            new Output(new PrintWriter(new StringWriter()), new PrintWriter(new StringWriter()), Output.Form.LINES));

    private Row measure(Location location, Step step, double rate) throws Exception {
        return results.measureRate(location, step, () -> rate);
    }

    @Test
    void ratio_ofAColdRead_isToTheBestOfTheRanges() throws Exception {
        measure(BUCKET, Step.BUCKET_RANGES_1, 100);
        measure(BUCKET, Step.BUCKET_RANGES_16, 1000);
        measure(BUCKET, Step.BUCKET_RANGES_64, 900);
        measure(DISK, Step.DISK_LARGE_READ, 5000);

        Row cold = measure(MOUNT, Step.LARGE_READ_COLD, 400);
        Row again = measure(MOUNT, Step.LARGE_READ_AGAIN, 4000);

        assertThat(cold.ratio()).isEqualTo(0.4, within(1e-9));
        assertThat(cold.isPoor()).isTrue();
        assertThat(cold.comparison()).isEqualTo("40% of the bucket (read by ranges, 16 at once)");
        assertThat(again.ratio()).isEqualTo(0.8, within(1e-9));
        assertThat(again.isPoor()).isFalse();
        assertThat(again.comparison()).isEqualTo("80% of the disk (large file read)");
    }

    @Test
    void ratio_bucketUnknown_isToTheDisk() throws Exception {
        measure(DISK, Step.DISK_LARGE_READ, 5000);
        assertThat(measure(MOUNT, Step.LARGE_READ_FIRST, 2500).comparison())
                .isEqualTo("50% of the disk (large file read)");
    }

    @Test
    void ratio_nothingToCompareWith_thereIsNone() throws Exception {
        Row row = measure(MOUNT, Step.SMALL_WRITE, 10);
        assertThat(row.ratio()).isNaN();
        assertThat(row.isPoor()).isFalse();
        assertThat(row.comparison()).isEmpty();
    }

    @Test
    void ceilings_areOfABucketOrADisk() {
        for (Step step : Step.values()) {
            step.ceilings()
                    .forEach(group -> assertThat(group).allSatisfy(ceiling -> {
                        assertThat(ceiling.name()).matches("(BUCKET|DISK)_.*");
                        assertThat(ceiling.unit()).isEqualTo(step.unit());
                    }));
        }
    }

    @Test
    void measure_callFails_saysWhereAndWhat() {
        assertThatThrownBy(() -> results.measure(MOUNT, Step.SMALL_WRITE, () -> {
                    throw new IOException("No space left on device");
                }))
                .isInstanceOf(RefusedException.class)
                .hasMessage("/mnt/data, small files written: No space left on device");
        assertThat(results.rows()).isEmpty();
    }
}

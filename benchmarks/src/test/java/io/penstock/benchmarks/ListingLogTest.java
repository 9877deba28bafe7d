package io.penstock.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class ListingLogTest {
    private static final String MOUNTED =
            "2026-11-24T02:00:00.500Z INFO  [main] Serving: s3://whole is mounted on /mnt/x\n";
    private static final String UNDER_WAY =
            "2026-11-24T02:00:10.500Z INFO  [] FlatListing: s3://whole/ is being listed: 5000 objects so far.\n";

    @Test
    void log_ofAListingUnderWay_tellsNothing() throws Exception {
        assertThat(ListingLog.parse("")).isNull();
        assertThat(ListingLog.parse(MOUNTED + UNDER_WAY)).isNull();
    }

    @Test
    void log_ofAListingThatIsThrough_tellsWhatItCameTo() throws Exception {
        String listed =
                "2026-11-24T03:00:06.750+01:00 INFO  [] FlatListing: s3://whole/ is listed: 1000000 objects in 6"
                        + " s by 1179 requests; 26 MiB of memory.\n";
        assertThat(ListingLog.parse(MOUNTED + UNDER_WAY + listed))
                .isEqualTo(new ListingLog(Duration.ofMillis(6_250), 1_000_000, 26L << 20));
    }

    @Test
    void log_ofAListingThatFailed_isRefused() {
        assertThatThrownBy(() -> ListingLog.parse(MOUNTED
                        + "2026-11-24T02:00:01.000Z WARN  [] FlatListing: s3://whole/ is not listed as a whole: no"
                        + " access. Each folder is listed when it is first used.\n"))
                .isInstanceOf(BenchException.class)
                .hasMessageContaining("no access");
    }
}

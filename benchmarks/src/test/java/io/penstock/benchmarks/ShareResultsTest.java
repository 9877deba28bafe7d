package io.penstock.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.tools.measure.Measurement;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ShareResultsTest {
    private static final ReportRow ROW = ReportRow.of("in step", "alone");

    private final Measurements results = new Measurements(ReportFigures.BYTES, _ -> {});
    private final ShareResults shared = new ShareResults(results, _ -> {});

    private void measured(String name, long p99Nanos) {
        results.add(name, new Sample(new Measurement(1 << 20, 1, 1_000_000, 1000, p99Nanos), null));
    }

    @Test
    void markdown_ofSeveralRounds_hasTheirTrafficTogether() {
        measured("in step", 6_000_000);
        measured("alone", 4_000_000);
        shared.add("in step", new GroupTraffic(1010, 5, 2000, Map.of("busy", 1L), 3), 1000);
        shared.add("in step", new GroupTraffic(1010, 5, 2040, Map.of("timeout", 2L), 2), 1000);
        assertThat(shared.markdown(List.of(ROW)))
                .contains("| in step | 1.010 | 10 | 67 % | 1 busy, 2 timeout | 2 | 1.50 |");
    }

    @Test
    void markdown_withoutTheCeiling_hasNoRatioOfLatencies() {
        measured("in step", 6_000_000);
        shared.add("in step", new GroupTraffic(0, 0, 2000, Map.of(), 3), 1000);
        assertThat(shared.markdown(List.of(ROW))).contains("| in step | 0.000 | 0 | 100 % | – | 3 | – |");
    }
}

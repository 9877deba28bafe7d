package io.penstock.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.penstock.tools.measure.Measurement;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class NamesTableTest {
    private static final ReportRow ROW = ReportRow.of("find", "raw", "local");

    private final Measurements results = new Measurements(ReportFigures.NAMES, _ -> {});

    private ReportTable table() {
        return new ReportTable(results, List.of(ROW));
    }

    private void measured(String name, long names, int seconds, long requests) {
        results.add(name, new Sample(run(names, seconds), null, OptionalLong.of(requests)));
    }

    private static Measurement run(long names, int seconds) {
        return Measurement.ofWhole(names, TimeUnit.SECONDS.toNanos(seconds));
    }

    @Test
    void ratio_ofSeveralRounds_isThatOfTheMedianRates() {
        measured("find", 1000, 4, 0);
        measured("find", 1000, 100, 0);
        measured("find", 1000, 1, 0);
        measured("raw", 100, 1, 0);
        assertThat(table().ratio(ROW, ROW.ceilings().getFirst()).orElseThrow().value())
                .isCloseTo(2.5, within(1e-9));
        assertThat(table().bars()).containsExactly(new ReportTable.Bar("find", 2.5));
    }

    @Test
    void ratio_toWhatWasNotMeasured_isEmpty() {
        measured("find", 1000, 1, 0);
        assertThat(table().ratio(ROW, ROW.ceilings().getFirst())).isEmpty();
        assertThat(table().bars()).isEmpty();
    }

    @Test
    void markdown_ofAServedStep_hasItsCost() {
        results.add("find", new Sample(run(1_000_000, 4), new Sample.Cost(2, 300L << 20), OptionalLong.of(1_179)));
        measured("raw", 1_000_000, 1, 1_000);
        assertThat(table().markdown().lines())
                .contains(
                        "| find | 4.00 | 250,000 | 1,179 | 2.00 | 500,000 | 300 | 0.25 of raw |",
                        "| raw | 1.00 | 1,000,000 | 1,000 | – | – | – |");
    }

    @Test
    void markdown_ofAServerThatDoesNotCount_leavesTheRequestsOpen() {
        results.add("find", new Sample(run(1000, 4), null));
        assertThat(table().markdown().lines()).contains("| find | 4.00 | 250 | – | – | – | – |  |");
    }

    @Test
    void markdown_ofARowThatWasNotMeasured_leavesItOut() {
        measured("raw", 1, 1, 0);
        assertThat(table().markdown()).doesNotContain("find").contains("| raw |");
    }
}

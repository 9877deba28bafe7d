package io.penstock.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.OptionalDouble;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class TrainTableTest {
    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

    private final TrainTable table = new TrainTable();

    private static TrainRun run(int accelerators, OptionalDouble cores) {
        return new TrainRun(
                accelerators,
                new TrainUtilisation(19, SECOND / 10, 2 * SECOND),
                400L << 20,
                1000,
                2 * SECOND,
                0.5,
                cores);
    }

    private void add(TrainSearch kept, TrainRun run, String beside) {
        table.add(new TrainTable.Line(TrainWorkload.RESNET50_A100, "cold", kept, run, beside));
    }

    @Test
    void markdown_ofAMount_saysWhatOneCoreKeeps() {
        add(new TrainSearch(6, false), run(6, OptionalDouble.of(1.5)), "");
        assertThat(table.markdown().lines())
                .contains(
                        "| resnet50_a100 | cold | 6 | 6 | 95.0 | 90 | 19 (few) | 200 | 500 | 0.500 | 1.50 | 4.00 |  |");
    }

    @Test
    void markdown_whereNoneIsKept_showsWhatOneGot() {
        add(new TrainSearch(0, false), run(1, OptionalDouble.of(1.5)), "500 MiB/s of checkpoints");
        assertThat(table.markdown().lines())
                .contains("| resnet50_a100 | cold | 0 | 1 | 95.0 | 90 | 19 (few) | 200 | 500 | 0.500 | 1.50 | 0 | 500"
                        + " MiB/s of checkpoints |");
    }

    @Test
    void markdown_whereMoreCouldNotBeTried_saysSo() {
        add(new TrainSearch(4, true), run(4, OptionalDouble.empty()), "");
        assertThat(table.markdown().lines())
                .contains("| resnet50_a100 | cold | ≥ 4 | 4 | 95.0 | 90 | 19 (few) | 200 | 500 | 0.500 | – | – |  |");
    }

    @Test
    void everyLine_hasAsManyCellsAsTheHead() {
        add(new TrainSearch(4, true), run(4, OptionalDouble.empty()), "");
        assertThat(table.markdown()
                        .lines()
                        .map(line -> line.chars().filter(c -> c == '|').count()))
                .containsOnly(14L);
    }
}

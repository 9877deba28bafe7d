package io.penstock.tools.measure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class MeasurementTest {
    private static final long SECOND = 1_000_000_000;

    @Test
    void rates_ofARun_areBytesAndOperationsOverTime() {
        Measurement run = new Measurement(3 << 20, 6, SECOND / 2, 1, 1);
        assertThat(run.mibPerSecond()).isCloseTo(6, within(1e-9));
        assertThat(run.operationsPerSecond()).isCloseTo(12, within(1e-9));
    }

    @Test
    void percentiles_ofUnsortedTimes_areTheNearestRanks() {
        long[] hundredTimes = LongStream.rangeClosed(1, 100).map(i -> 101 - i).toArray();
        Measurement run = Measurement.of(1, SECOND, hundredTimes);
        assertThat(run.p50Nanos()).isEqualTo(50);
        assertThat(run.p99Nanos()).isEqualTo(99);
        assertThat(run.operations()).isEqualTo(100);
    }

    @Test
    void percentile_ofOneOperation_isItsTime() {
        assertThat(Measurement.percentile(new long[] {7}, 50)).isEqualTo(7);
        assertThat(Measurement.percentile(new long[] {7}, 99)).isEqualTo(7);
    }

    @Test
    void percentile_ofNothing_isZero() {
        assertThat(Measurement.percentile(new long[0], 50)).isZero();
    }
}

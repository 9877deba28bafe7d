package io.penstock.tools.measure;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class RangeSpeedTest {
    private static RangeSpeed speed(int concurrency, double mib) {
        return new RangeSpeed(concurrency, mib, Duration.ZERO, Duration.ZERO);
    }

    @Test
    void least_isThatWhichMoreHardlyExceed() {
        List<RangeSpeed> speeds = List.of(speed(1, 100), speed(16, 900), speed(64, 1000));
        assertThat(RangeSpeed.best(speeds).concurrency()).isEqualTo(64);
        assertThat(RangeSpeed.least(speeds)).isEqualTo(16);
    }

    @Test
    void least_ofOne_isItsOwn() {
        assertThat(RangeSpeed.least(List.of(speed(16, 0)))).isEqualTo(16);
    }
}

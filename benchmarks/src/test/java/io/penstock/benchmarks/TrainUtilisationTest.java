package io.penstock.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;

class TrainUtilisationTest {
    private static final long STEP = 100;
    private static final TrainUtilisation NONE = new TrainUtilisation(0, 0, 0);

    @Test
    void percent_isThePartOfTheTimeInWhichAcceleratorsCompute() {
        assertThat(new TrainUtilisation(9, STEP, 1000).percent()).isCloseTo(90, within(1e-9));
    }

    @Test
    void percent_ofNothing_isZero() {
        assertThat(NONE.percent()).isZero();
    }

    @Test
    void plus_isWeightedByTime() {
        TrainUtilisation sum = new TrainUtilisation(10, STEP, 1000).plus(new TrainUtilisation(10, STEP, 3000));
        assertThat(sum.percent()).isCloseTo(50, within(1e-9));
        assertThat(NONE.plus(sum)).isEqualTo(sum);
    }

    @Test
    void isOutOfReach_onceTheTimeIsUsedUp() {
        // 9 steps of 100 are 90 % of 1000.
        assertThat(TrainUtilisation.isOutOfReach(9, STEP, 1000, 90)).isFalse();
        assertThat(TrainUtilisation.isOutOfReach(9, STEP, 1001, 90)).isTrue();
    }
}

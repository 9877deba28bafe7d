package io.penstock.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicLongArray;
import org.junit.jupiter.api.Test;

class LanesTest {
    @Test
    void dealt_ofMoreOperationsThanLanes_eachLaneHasEverySoMany() throws Exception {
        int lanes = 3;
        AtomicLongArray ran = new AtomicLongArray(50);
        long[] nanos = Lanes.dealt(
                ran.length(),
                lanes,
                Lanes.PLATFORM,
                i -> ran.addAndGet(i, Thread.currentThread().threadId()));
        assertThat(nanos).hasSize(ran.length());
        for (int i = 0; i < ran.length(); i++) {
            for (int j = 0; j < lanes; j++) {
                assertThat(ran.get(i) == ran.get(j)).isEqualTo(i % lanes == j);
            }
        }
    }
}

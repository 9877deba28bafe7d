package io.penstock.serve.mount;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class HeapWatchTest {
    private static final Duration INTERVAL = Duration.ofSeconds(10);

    private final HeapWatch watch = new HeapWatch(0, 0);
    private long nanoTime;
    private long collectedMillis;

    /** Adds an interval with this much time spent collecting. */
    private boolean isUsedUpAfter(Duration collecting) {
        nanoTime += INTERVAL.toNanos();
        collectedMillis += collecting.toMillis();
        return watch.isUsedUp(nanoTime, collectedMillis);
    }

    @Test
    void isUsedUp_nothingButCollectingForAMinute() {
        for (int i = 1; i < HeapWatch.PATIENCE; i++) {
            assertThat(isUsedUpAfter(Duration.ofMillis(9_500))).isFalse();
        }
        assertThat(isUsedUpAfter(Duration.ofMillis(9_500))).isTrue();
    }

    @Test
    void isUsedUp_someWorkInBetween_isNot() {
        for (int i = 0; i < 10 * HeapWatch.PATIENCE; i++) {
            boolean works = i % (HeapWatch.PATIENCE - 1) == 0;
            assertThat(isUsedUpAfter(Duration.ofMillis(works ? 8_000 : 10_000))).isFalse();
        }
    }

    @Test
    void isUsedUp_oneCollectionOfMinutes_isNot() {
        nanoTime += Duration.ofMinutes(5).toNanos();
        collectedMillis += Duration.ofMinutes(5).toMillis();

        assertThat(watch.isUsedUp(nanoTime, collectedMillis)).isFalse();
    }
}

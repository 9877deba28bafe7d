package io.penstock.listing;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class RequestLimitTest {
    private final RequestLimit limit = new RequestLimit(32);

    @Test
    void answered_notThrottled_doublesUpToTheMost() {
        assertThat(limit.now()).isOne();
        limit.answered();
        assertThat(limit.now()).isEqualTo(2);
        answered(10);
        assertThat(limit.now()).isEqualTo(32);
    }

    @Test
    void throttled_severalOfOneTime_halvesOnce() {
        answered(10);
        for (int request = 10; request < 20; request++) {
            limit.throttled(request, 25);
        }
        assertThat(limit.now()).isEqualTo(16);
        limit.throttled(26, 30);
        assertThat(limit.now()).isEqualTo(8);
    }

    @Test
    void answered_throttledBefore_growsByOneEachRound() {
        answered(10);
        limit.throttled(1, 1);
        answered(15);
        assertThat(limit.now()).isEqualTo(16);
        answered(1);
        assertThat(limit.now()).isEqualTo(17);
        answered(17);
        assertThat(limit.now()).isEqualTo(18);
    }

    @Test
    void throttled_onlyOne_staysOne() {
        limit.throttled(1, 1);
        limit.throttled(2, 2);
        assertThat(limit.now()).isOne();
    }

    private void answered(int times) {
        for (int i = 0; i < times; i++) {
            limit.answered();
        }
    }
}

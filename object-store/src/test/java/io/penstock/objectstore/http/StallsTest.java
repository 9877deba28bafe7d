package io.penstock.objectstore.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** What counts as a stall, and how many requests it may cost. */
final class StallsTest {
    private final Stalls stalls = new Stalls();

    @Test
    void longest_ofFewResponses_isNotKnown() {
        respond(15, 20);

        assertThat(stalls.longest()).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void longest_ofResponsesThatTakeAsLong_isThatAndAtLeast50Millis() {
        respond(200, 20);
        assertThat(stalls.longest()).isEqualTo(TimeUnit.MILLISECONDS.toNanos(50));

        respond(200, 300);
        assertThat(TimeUnit.NANOSECONDS.toMillis(stalls.longest())).isBetween(299L, 310L);
    }

    @Test
    void longest_ofResponsesThatTakeAnyTime_isLongerThanThey() {
        for (int i = 0; i < 100; i++) {
            respond(1, 100);
            respond(1, 300);
        }
        assertThat(TimeUnit.NANOSECONDS.toMillis(stalls.longest())).isBetween(500L, 700L);
    }

    @Test
    void mayAskAgain_after100Responses_isThreeTimes() {
        spend();
        respond(100, 20);
        assertThat(spend()).isEqualTo(3);
    }

    @Test
    void mayAskAgain_afterAnyNumberOfResponses_isAFewTimes() {
        respond(10_000, 20);
        assertThat(spend()).isEqualTo(8);
    }

    private void respond(int times, int millis) {
        for (int i = 0; i < times; i++) {
            stalls.responded(TimeUnit.MILLISECONDS.toNanos(millis));
        }
    }

    private int spend() {
        int times = 0;
        while (stalls.mayAskAgain()) {
            times++;
        }
        return times;
    }
}

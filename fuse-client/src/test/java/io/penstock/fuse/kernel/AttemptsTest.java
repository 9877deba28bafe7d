package io.penstock.fuse.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.core.Errno;
import io.penstock.core.ErrnoException;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class AttemptsTest {
    private static final long REQUEST = 8;
    private static final long OTHER = 10;

    /** What the table has. */
    private final Map<Long, Integer> deaths = new HashMap<>();

    private Attempts next(boolean afterDeath) {
        return new Attempts(deaths, afterDeath, number -> deaths.merge(number, 1, Integer::sum));
    }

    @Test
    void begin_afterSixDeaths_failsOnlyThatRequest() throws Exception {
        for (int death = 1; death <= 5; death++) {
            next(true).begin(REQUEST);
        }
        Attempts attempts = next(true);
        assertThatThrownBy(() -> attempts.begin(REQUEST))
                .isInstanceOf(ErrnoException.class)
                .hasMessageContaining("died 6 times")
                .extracting(e -> ((ErrnoException) e).errno())
                .isEqualTo(Errno.EIO);
        attempts.begin(OTHER);
    }

    @Test
    void begin_afterManyUpgrades_serves() throws Exception {
        for (int upgrade = 1; upgrade <= 20; upgrade++) {
            next(false).begin(REQUEST);
        }
        assertThat(deaths).isEmpty();
        next(true).begin(REQUEST);
    }

    @Test
    void begin_twiceInOneProcess_countsOneDeath() throws Exception {
        Attempts attempts = next(true);
        attempts.begin(REQUEST);
        attempts.begin(REQUEST);
        assertThat(deaths).containsExactly(Map.entry(REQUEST, 1));
    }
}

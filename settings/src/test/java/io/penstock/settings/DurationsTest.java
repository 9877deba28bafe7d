package io.penstock.settings;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class DurationsTest {
    @ParameterizedTest
    @CsvSource({
        "0, PT0S",
        "250ms, PT0.25S",
        "60s, PT1M",
        "1.5s, PT1.5S",
        "5m, PT5M",
        "2 h, PT2H",
        "1d, PT24H",
        "1D, PT24H"
    })
    void parse_asPeopleWriteIt_duration(String text, Duration duration) {
        assertThat(Durations.parse(text)).isEqualTo(duration);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "60", "s", "-5s", "5min", "0.3ms", "1h30m"})
    void parse_noDuration_null(String text) {
        assertThat(Durations.parse(text)).isNull();
    }

    @ParameterizedTest
    @ValueSource(strings = {"0s", "1ms", "250ms", "1s", "60s", "90s", "5m", "1440m"})
    void print_whatWasParsed_sameText(String text) {
        Duration duration = Durations.parse(text);
        assertThat(duration).isNotNull();
        assertThat(Durations.print(duration)).isEqualTo(text);
    }
}

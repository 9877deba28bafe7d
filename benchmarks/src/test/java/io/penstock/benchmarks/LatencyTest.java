package io.penstock.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine.TypeConversionException;

class LatencyTest {
    @Test
    void convert_timesAsPeopleWriteThem_areRead() {
        assertThat(new Latency().convert("60ms")).isEqualTo(Duration.ofMillis(60));
        assertThat(new Latency().convert("2s")).isEqualTo(Duration.ofSeconds(2));
        assertThat(new Latency().convert("0ms")).isZero();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "60", "60 ms", "-1ms", "1m"})
    void convert_anythingElse_isRefused(String text) {
        assertThatThrownBy(() -> new Latency().convert(text)).isInstanceOf(TypeConversionException.class);
    }
}

package io.penstock.cli.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class EditDistanceTest {
    @ParameterizedTest
    @CsvSource({"cache, cache, 0", "cache, cahce, 2", "cache, cach, 1", "'', abc, 3", "kitten, sitting, 3"})
    void between_words_lettersToChange(String from, String to, int distance) {
        assertThat(EditDistance.between(from, to)).isEqualTo(distance);
        assertThat(EditDistance.between(to, from)).isEqualTo(distance);
    }

    @Test
    void nearest_nothingNear_none() {
        assertThat(EditDistance.nearest("frobnicate", List.of("cache", "uid"))).isEmpty();
        assertThat(EditDistance.suggestion("frobnicate", List.of("cache"))).isEmpty();
    }

    @Test
    void nearest_severalNear_theNearest() {
        assertThat(EditDistance.nearest("cahce.dir", List.of("cache.size", "cache.dir")))
                .hasValue("cache.dir");
    }
}

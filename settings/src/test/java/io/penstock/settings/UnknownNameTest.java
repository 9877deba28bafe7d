package io.penstock.settings;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class UnknownNameTest {
    @ParameterizedTest
    @CsvSource({"cache, cache, 0", "cache, cahce, 2", "cache, cach, 1", "'', abc, 3", "kitten, sitting, 3"})
    void distance_ofWords_lettersToChange(String from, String to, int distance) {
        assertThat(UnknownName.distance(from, to)).isEqualTo(distance);
        assertThat(UnknownName.distance(to, from)).isEqualTo(distance);
    }

    @Test
    void nearest_nothingNear_none() {
        assertThat(UnknownName.nearest("frobnicate", List.of("cache", "uid"))).isEmpty();
        assertThat(UnknownName.suggestion("frobnicate", List.of("cache"))).isEmpty();
    }

    @Test
    void nearest_severalNear_theNearest() {
        assertThat(UnknownName.nearest("cahce.dir", List.of("cache.size", "cache.dir")))
                .hasValue("cache.dir");
    }
}

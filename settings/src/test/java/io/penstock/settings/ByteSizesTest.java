package io.penstock.settings;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ByteSizesTest {
    @ParameterizedTest
    @CsvSource({
        "0, 0",
        "0B, 0",
        "17B, 17",
        "1K, 1024",
        "512M, 536870912",
        "512MiB, 536870912",
        "64GiB, 68719476736",
        "64 gib, 68719476736",
        "64GB, 64000000000",
        "1.5TiB, 1649267441664",
        "0.5k, 512",
    })
    void parse_asPeopleWriteIt_bytes(String text, long bytes) {
        assertThat(ByteSizes.parse(text)).isEqualTo(bytes);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "64", "GiB", "-1GiB", "64X", "64GiBs", "1,5GiB", "0.3B", "64i", "64iB", "9000000P"})
    void parse_noSize_null(String text) {
        assertThat(ByteSizes.parse(text)).isNull();
    }

    @ParameterizedTest
    @CsvSource({"0, 0B", "1, 1B", "1023, 1023B", "1024, 1KiB", "1536, 1536B", "1073741824, 1GiB"})
    void print_anyNumber_shortestExactForm(long bytes, String text) {
        assertThat(ByteSizes.print(bytes)).isEqualTo(text);
    }

    @ParameterizedTest
    @CsvSource({
        "0, 0B",
        "1.5, 1.5B",
        "999, 999B",
        "1000, 1.0KiB",
        "1024, 1KiB",
        "4194304, 4MiB",
        "1503238553, 1.4GiB",
        "10200547328, 9.5GiB",
        "10704285696, 10GiB",
        "1073204953087, 999GiB",
        "1073204953088, 1.0TiB",
        "1125899906842624, 1PiB"
    })
    void about_anyNumber_upToThreeDigits(double bytes, String text) {
        assertThat(ByteSizes.about(bytes)).isEqualTo(text);
    }

    @Test
    void print_powersAndTheirNeighbours_parseGivesThemBack() {
        for (int shift = 0; shift < 62; shift++) {
            for (long bytes = (1L << shift) - 1; bytes <= (1L << shift) + 1; bytes++) {
                assertThat(ByteSizes.parse(ByteSizes.print(bytes))).isEqualTo(bytes);
            }
        }
    }
}

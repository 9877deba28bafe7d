package io.penstock.embeddeds3;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.testing.Seeded;
import java.time.Instant;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SyntheticObjectsTest {
    private final SyntheticObjects objects = new SyntheticObjects(100_000_000, 10_000);

    @Test
    void number_ofAnObjectsKey_isFound() {
        Seeded.check(200, random -> {
            long number = random.nextLong(objects.count());
            assertThat(objects.number(objects.key(number))).isEqualTo(number);
        });
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "imgs/",
                "imgs/00000/",
                "imgs/00000/000010000.jpg",
                "imgs/00001/000000001.jpg",
                "imgs/00000/000000001.jpg2",
                "imgs/00000/00000000é.jpg",
                "imgs/10000/100000000.jpg"
            })
    void number_ofAKeyThatIsNone_isNegative(String key) {
        assertThat(objects.number(key)).isEqualTo(-1);
    }

    @Test
    void content_inParts_isThatOfTheWhole() {
        Seeded.check(50, random -> {
            long number = random.nextLong(objects.count());
            int size = objects.size(number);
            int from = random.nextInt(size);
            int length = random.nextInt(size - from + 1);
            assertThat(objects.content(number, from, length))
                    .isEqualTo(Arrays.copyOfRange(objects.content(number, 0, size), from, from + length));
        });
    }

    @Test
    void objects_differInAllThatTheyHave() {
        assertThat(objects.etag(1)).matches("\"[0-9a-f]{32}\"").isNotEqualTo(objects.etag(2));
        assertThat(objects.size(1)).isBetween(20_000, 200_000).isNotEqualTo(objects.size(2));
        assertThat(objects.lastModified(1))
                .isBetween(Instant.parse("2024-01-01T00:00:00Z"), Instant.parse("2026-01-01T00:00:00Z"))
                .isNotEqualTo(objects.lastModified(2));
        assertThat(objects.content(1, 0, 100)).isNotEqualTo(objects.content(2, 0, 100));
    }

    @Test
    void folders_ofARest_countIt() {
        assertThat(new SyntheticObjects(10_000, 10_000).folders()).isEqualTo(1);
        assertThat(new SyntheticObjects(10_001, 10_000).folders()).isEqualTo(2);
    }

    @ParameterizedTest
    @CsvSource({"0, 1", "1000000001, 1000000", "100001, 1", "5, 0"})
    void objects_thatNoKeysAreThereFor_areRefused(long count, int perFolder) {
        assertThatThrownBy(() -> new SyntheticObjects(count, perFolder)).isInstanceOf(IllegalArgumentException.class);
    }
}

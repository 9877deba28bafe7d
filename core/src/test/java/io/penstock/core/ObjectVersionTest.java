package io.penstock.core;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ObjectVersionTest {
    private static final Instant TIME = Instant.parse("2026-11-23T12:00:00.400Z");

    @ParameterizedTest
    @ValueSource(
            strings = {
                "\"5d41402abc4b2a76b9719d911017c592\"",
                "\"5d41402abc4b2a76b9719d911017c592-17\"",
                "5d41402abc4b2a76b9719d911017c592",
                "5d41402abc4b2a76b9719d911017c592-9\""
            })
    void identity_etagOfContent_isThat(String etag) {
        assertThat(version(etag, 5, TIME).identity()).isEqualTo(etag);
    }

    @ParameterizedTest
    @CsvSource({
        "\"5d41402abc4b2a76b9719d911017c592\", 0",
        "\"5d41402abc4b2a76b9719d911017c592-17\", 17",
        "5d41402abc4b2a76b9719d911017c592-10000, 10000",
        "\"5d41402abc4b2a76b9719d911017c592-9999999999\", 0",
        "\"gateway-3\", 0"
    })
    void parts_asTheEtagTells(String etag, int parts) {
        assertThat(version(etag, 5, TIME).parts()).isEqualTo(parts);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "\"\"",
                "\"gateway\"",
                "\"-CKih16GjycICEAE=\"",
                "\"",
                "\"5D41402ABC4B2A76B9719D911017C592\"",
                "\"5d41402abc4b2a76b9719d911017c59g\"",
                "\"5d41402abc4b2a76b9719d911017c592-1a\"",
                "\"5d41402abc4b2a76b9719d911017c592+17\"",
                "\"5d41402abc4b2a76b9719d911017c5921\"",
                "\"5d41402abc4b2a76b9719d911017c592-\""
            })
    void identity_otherEtag_isWithSizeAndSecond(String etag) {
        String identity = version(etag, 5, TIME).identity();
        assertThat(identity)
                .isEqualTo(version(etag, 5, TIME.plusMillis(500)).identity())
                .isNotEqualTo(version(etag, 5, TIME.plusMillis(600)).identity())
                .isNotEqualTo(version(etag, 6, TIME).identity());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"\"5d41402abc4b2a76b9719d911017c592\"", "\"5d41402abc4b2a76b9719d911017c592-17\"", "\"gateway\""
            })
    void hasIdentityOf_anyOther_isWhetherTheirIdentitiesAreEqual(String etag) {
        ObjectVersion version = version(etag, 5, TIME);
        for (String otherEtag : List.of(etag, "\"another\"")) {
            for (long size : new long[] {5, 6}) {
                for (Instant time : List.of(TIME, TIME.plusMillis(500), TIME.plusMillis(600))) {
                    ObjectVersion other = version(otherEtag, size, time);
                    assertThat(version.hasIdentityOf(other))
                            .isEqualTo(version.identity().equals(other.identity()));
                }
            }
        }
    }

    private static ObjectVersion version(String etag, long size, Instant time) {
        return new ObjectVersion("key", etag, size, time);
    }
}

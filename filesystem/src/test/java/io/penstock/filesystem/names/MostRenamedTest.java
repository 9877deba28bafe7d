package io.penstock.filesystem.names;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class MostRenamedTest {
    @Test
    void mostRenamedIn_theSmallestUsualHeap_isMoreThanTheDefault() {
        assertThat(Writing.mostRenamedIn(256L << 20)).isGreaterThan(Writing.MOST_RENAMED);
        assertThat(Writing.mostRenamedIn(512L << 20)).isLessThan(1_000_000);
    }
}

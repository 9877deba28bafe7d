package io.penstock.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class ReadersTest {
    @Test
    void inTurn_ofSeveralLists_takesOneOfEach() {
        assertThat(Readers.inTurn(List.of(List.of("a1", "a2"), List.of("b1", "b2"), List.of("c1", "c2"))))
                .containsExactly("a1", "b1", "c1", "a2", "b2", "c2");
    }

    @Test
    void paced_readsNoMoreThanAFileHas() {
        assertThat(Readers.pacedSize(new DataSet(64 << 20, 1))).isEqualTo(64 << 20);
        assertThat(Readers.pacedSize(new DataSet(1 << 30, 1))).isEqualTo(Readers.PACED_SIZE);
    }
}

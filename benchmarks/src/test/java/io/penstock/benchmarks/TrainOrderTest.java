package io.penstock.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.benchmarks.TrainModel.Order;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class TrainOrderTest {
    private static final List<Integer> FILES = IntStream.range(0, 100).boxed().toList();

    @Test
    void ofEpoch_shuffled_isAnotherPermutationInEachEpoch() {
        List<Integer> first = TrainOrder.ofEpoch(FILES, Order.SHUFFLED, 0);
        assertThat(first).containsExactlyInAnyOrderElementsOf(FILES).isNotEqualTo(FILES);
        assertThat(TrainOrder.ofEpoch(FILES, Order.SHUFFLED, 1))
                .containsExactlyInAnyOrderElementsOf(FILES)
                .isNotEqualTo(first);
    }

    @Test
    void ofEpoch_again_isTheSame() {
        assertThat(TrainOrder.ofEpoch(FILES, Order.SHUFFLED, 7))
                .isEqualTo(TrainOrder.ofEpoch(FILES, Order.SHUFFLED, 7));
    }

    @Test
    void ofEpoch_sorted_isTheOrderOfTheFiles() {
        assertThat(TrainOrder.ofEpoch(FILES, Order.SORTED, 3)).isEqualTo(FILES);
    }

    @Test
    void block_ofAllAccelerators_areDisjointAndEquallyLong() {
        List<Integer> all = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            assertThat(TrainOrder.block(FILES, i, 3)).hasSize(33);
            all.addAll(TrainOrder.block(FILES, i, 3));
        }
        assertThat(all).doesNotHaveDuplicates();
    }

    @Test
    void shard_ofAllAccelerators_hasEachFileOnce() {
        assertThat(TrainOrder.shard(FILES, 1, 3)).startsWith(1, 4, 7);
        List<Integer> all = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            all.addAll(TrainOrder.shard(FILES, i, 3));
        }
        assertThat(all).containsExactlyInAnyOrderElementsOf(FILES);
    }
}

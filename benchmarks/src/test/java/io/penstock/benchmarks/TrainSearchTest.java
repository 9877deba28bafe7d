package io.penstock.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class TrainSearchTest {
    private final List<Integer> tried = new ArrayList<>();

    private TrainSearch find(int limit, int most) throws Exception {
        return TrainSearch.find(limit, accelerators -> {
            tried.add(accelerators);
            return accelerators <= most;
        });
    }

    @Test
    void find_doublesAndThenBisects() throws Exception {
        assertThat(find(100, 11)).isEqualTo(new TrainSearch(11, false));
        assertThat(tried).containsExactly(1, 2, 4, 8, 16, 12, 10, 11);
    }

    @Test
    void find_whereOneIsTooMany_isNone() throws Exception {
        assertThat(find(100, 0)).isEqualTo(new TrainSearch(0, false));
        assertThat(tried).containsExactly(1);
    }

    @Test
    void find_whereAllAreKept_isLimited() throws Exception {
        assertThat(find(5, 9)).isEqualTo(new TrainSearch(5, true));
        assertThat(tried).containsExactly(1, 2, 4, 5);
    }

    @Test
    void find_neverTriesTwice_andFindsEveryNumber() throws Exception {
        for (int limit = 1; limit < 40; limit++) {
            for (int most = 0; most < limit; most++) {
                tried.clear();
                assertThat(find(limit, most)).isEqualTo(new TrainSearch(most, false));
                assertThat(tried).doesNotHaveDuplicates().allMatch(number -> number >= 1);
            }
        }
    }
}

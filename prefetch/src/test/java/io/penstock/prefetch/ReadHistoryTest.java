package io.penstock.prefetch;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;

final class ReadHistoryTest {
    private final ReadHistory history = new ReadHistory();

    private Map<ReadSource, Integer> sources() {
        return history.snapshot().sources();
    }

    @Test
    void snapshot_ofNoReads_isEmpty() {
        assertThat(history.isEmpty()).isTrue();
        assertThat(history.snapshot()).isEqualTo(new LastReads(Map.of(), 0, 0, 0, FetchedAhead.NOT));
    }

    @Test
    void answered_fromEachSource_countsItAndWhatItWaitedFor() {
        history.answered();
        history.answered(ReadSource.MEMORY, 1, 0);
        history.answered(ReadSource.NVME, 20, 0);
        history.answered(ReadSource.IN_FLIGHT, 300, 0);
        history.answered(ReadSource.STORE, 4_000, 1_000);
        history.answered(ReadSource.STORE, 50_000, 40_000);
        history.fetchedAhead(FetchedAhead.STREAM);

        assertThat(history.isEmpty()).isFalse();
        assertThat(history.snapshot())
                .isEqualTo(new LastReads(
                        Map.of(
                                ReadSource.MEMORY, 2,
                                ReadSource.NVME, 1,
                                ReadSource.IN_FLIGHT, 1,
                                ReadSource.STORE, 1,
                                ReadSource.LIMITS, 1),
                        300 + 3_000 + 10_000,
                        20,
                        41_000,
                        FetchedAhead.STREAM));
    }

    @Test
    void answered_moreThanAreKept_forgetsTheFirst() {
        history.answered(ReadSource.LIMITS, 1, 1);
        for (int i = 1; i < ReadHistory.KEPT; i++) {
            history.answered();
        }
        assertThat(sources()).isEqualTo(Map.of(ReadSource.LIMITS, 1, ReadSource.MEMORY, ReadHistory.KEPT - 1));

        history.answered(ReadSource.NVME, 1, 0);
        assertThat(sources()).isEqualTo(Map.of(ReadSource.NVME, 1, ReadSource.MEMORY, ReadHistory.KEPT - 1));
    }
}

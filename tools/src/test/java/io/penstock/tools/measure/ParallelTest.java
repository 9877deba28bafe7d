package io.penstock.tools.measure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class ParallelTest {
    @Test
    void percentile_ofAHundred_isTheOneInItsPlace() {
        List<Long> nanos = LongStream.rangeClosed(1, 100).boxed().toList().reversed();
        assertThat(Parallel.percentile(nanos, 50)).isEqualTo(Duration.ofNanos(50));
        assertThat(Parallel.percentile(nanos, 99)).isEqualTo(Duration.ofNanos(99));
        assertThat(Parallel.percentile(List.of(7L), 99)).isEqualTo(Duration.ofNanos(7));
        assertThat(Parallel.percentile(List.of(), 99)).isZero();
    }

    @Test
    void all_oneFails_isAnIoExceptionWithItsWords() throws Exception {
        assertThat(Parallel.all(List.of(() -> List.of(1), () -> List.of(2, 3)))).containsExactly(1, 2, 3);
        assertThatThrownBy(() -> Parallel.all(List.of(() -> {
                    throw new IOException("broken");
                })))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("broken");
    }
}

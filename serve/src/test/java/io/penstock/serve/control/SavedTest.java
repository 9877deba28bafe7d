package io.penstock.serve.control;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.penstock.prefetch.ReadaheadStatistics;
import java.math.BigDecimal;
import org.junit.jupiter.api.Test;

final class SavedTest {
    private static final long MIB = 1L << 20;
    private static final BigDecimal GETS = new BigDecimal("0.4");
    private static final BigDecimal TRANSFER = new BigDecimal("1.024");

    private static Saved of(long read, long gets, long fetched) {
        return Saved.of(read, new ReadaheadStatistics(gets, 0, 0, 0, fetched, 0, 0, 0, 0), 8 * MIB, GETS, TRANSFER);
    }

    @Test
    void of_readsOfFetchedBytes_pricedByTheMeanSizeOfTheGets() {
        Saved saved = of(50 * MIB, 5, 10 * MIB);

        assertThat(saved.bytes()).isEqualTo(40 * MIB);
        assertThat(saved.gets()).isEqualTo(20);
        assertThat(saved.cost()).isEqualTo(20 * 0.0004 + 40 * 0.001, within(1e-12));
    }

    @Test
    void of_aCacheThatAnEarlierMountFilled_takesTheSizeOfRanges() {
        assertThat(of(50 * MIB, 0, 0).gets()).isEqualTo(7);
        assertThat(of(50 * MIB, 3, 0).gets()).as("all failed").isEqualTo(7);
    }

    @Test
    void of_moreFetchedThanRead_isNothing() {
        assertThat(of(MIB, 1, 8 * MIB)).isEqualTo(new Saved(0, 0, 0));
    }
}

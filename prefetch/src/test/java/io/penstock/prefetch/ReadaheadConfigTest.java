package io.penstock.prefetch;

import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNoException;

import org.junit.jupiter.api.Test;

class ReadaheadConfigTest {
    private static final long MIB = 1 << 20;

    @Test
    void new_bounds_areAllowed() {
        assertThatNoException().isThrownBy(() -> new ReadaheadConfig(0, MIB, 1, 0));
        assertThatNoException().isThrownBy(() -> new ReadaheadConfig(MIB, 5 * MIB, 1000, 64 * MIB));
    }

    @Test
    void new_impossible_namesTheSetting() {
        refuses("readahead.max-window", () -> new ReadaheadConfig(-1, MIB, 1, 0));
        refuses("readahead.max-window", () -> new ReadaheadConfig(MIB - 1, MIB, 1, 0));
        refuses("readahead.range-size", () -> new ReadaheadConfig(MIB, 0, 1, 0));
        refuses("readahead.range-size", () -> new ReadaheadConfig(MIB, MIB + 1, 1, 0));
        refuses("readahead.concurrency", () -> new ReadaheadConfig(MIB, MIB, 0, 0));
        refuses("readahead.small-file", () -> new ReadaheadConfig(MIB, MIB, 1, -1));
    }

    private static void refuses(String setting, Runnable made) {
        assertThatIllegalArgumentException().isThrownBy(made::run).withMessageContaining(setting);
    }
}

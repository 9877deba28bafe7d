package io.penstock.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.tools.measure.Measurement;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

class ProcessUsageTest {
    private static final String STAT =
            "4242 (a (b) c) S 1 4242 4242 0 -1 4194560 1000 0 3 0 1234 66 0 0 20 0 40 0 9 8 7";

    @Test
    void stat_ofACommandWithBlanksAndParentheses_isParsed() {
        ProcessUsage usage = ProcessUsage.parse(STAT, "Name:\tjava\nVmHWM:\t  204800 kB\nVmRSS:\t  1024 kB\n");
        assertThat(usage).isEqualTo(new ProcessUsage(1300, 1L << 20, 200L << 20));
    }

    @Test
    void status_ofAZombie_isRefused() {
        assertThatThrownBy(() -> ProcessUsage.parse(STAT, "Name:\tjava\nState:\tZ (zombie)\n"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("ended");
    }

    @Test
    void of_thisProcess_showsMemory() throws Exception {
        assertThat(ProcessUsage.of(ProcessHandle.current().pid()).peakResidentBytes())
                .isGreaterThan(10 << 20);
    }

    @Test
    void measure_ofSeveralProcesses_addsThemUp() throws Exception {
        long self = ProcessHandle.current().pid();
        Sample sample = ProcessUsage.measure(List.of(self, self), () -> new Measurement(1, 1, 1, 0, 0));
        assertThat(Objects.requireNonNull(sample.cost()).peakResidentBytes()).isGreaterThan(20 << 20);
    }
}

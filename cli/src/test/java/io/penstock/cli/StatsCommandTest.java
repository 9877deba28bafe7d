package io.penstock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class StatsCommandTest {
    @Test
    void isScreen_ofTerminalsThatCannotChangeLines_isFalse() {
        assertThat(StatsCommand.isScreen("xterm-256color")).isTrue();
        assertThat(StatsCommand.isScreen("dumb")).isFalse();
        assertThat(StatsCommand.isScreen("")).isFalse();
        assertThat(StatsCommand.isScreen(null)).isFalse();
    }
}

package io.penstock.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.FutureTask;
import org.jline.terminal.Size;
import org.jline.terminal.impl.LineDisciplineTerminal;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
final class LiveTerminalTest {
    /** Xterm's sequence for returning to the previous screen. */
    private static final String LEAVES = "\u001b[?1049l";

    private final ByteArrayOutputStream screen = new ByteArrayOutputStream();

    private LiveTerminal open(LineDisciplineTerminal user) {
        user.setSize(Size.of(80, 24));
        return new LiveTerminal(user);
    }

    private LineDisciplineTerminal user() throws IOException {
        return new LineDisciplineTerminal("test", "xterm", screen, UTF_8);
    }

    /** As when the mount ends: the command closes the terminal, and then the end of the process does. */
    @Test
    void close_twice_restoresTheScreenOnce() throws Exception {
        LiveTerminal terminal = open(user());
        terminal.show((columns, rows) -> List.of(columns + " columns", rows + " rows"));
        terminal.close();
        terminal.close();

        assertThat(screen.toString(UTF_8)).contains("80 columns", "24 rows").containsOnlyOnce(LEAVES);
    }

    @Test
    void show_onATerminalWithoutASize_takesTheUsualOne() throws Exception {
        LineDisciplineTerminal user = user();
        try (LiveTerminal terminal = open(user)) {
            user.setSize(Size.of(0, 0));
            terminal.show((columns, rows) -> List.of(columns + " columns", rows + " rows"));
            assertThat(screen.toString(UTF_8)).contains("80 columns", "24 rows");
        }
    }

    @Test
    void show_afterTheTerminalWasResized_clearsIt() throws Exception {
        LineDisciplineTerminal user = user();
        try (LiveTerminal terminal = open(user)) {
            terminal.show((_, _) -> List.of("the same"));
            screen.reset();
            terminal.show((_, _) -> List.of("the same"));
            assertThat(screen.toString(UTF_8)).doesNotContain("the same");

            user.setSize(Size.of(120, 40));
            terminal.show((_, _) -> List.of("the same"));
            assertThat(screen.toString(UTF_8)).containsSubsequence("\u001b[2J", "the same");
        }
    }

    /** As on Ctrl-C. */
    @Test
    void isLeft_closedByAnotherThread_isTrueAndNothingIsShownAnyMore() throws Exception {
        LiveTerminal terminal = open(user());
        FutureTask<Boolean> left = new FutureTask<>(() -> terminal.isLeft(Duration.ofDays(1)));
        Thread waiting = Thread.ofPlatform().daemon().start(left);
        while (waiting.getState() != Thread.State.TIMED_WAITING && waiting.getState() != Thread.State.WAITING) {
            Thread.onSpinWait();
        }
        terminal.close();

        assertThat(left.get()).isTrue();
        terminal.show((_, _) -> List.of("too late"));
        assertThat(screen.toString(UTF_8)).containsOnlyOnce(LEAVES).doesNotContain("too late");
    }

    @Test
    void isLeft_keys_isTrueForQAlone() throws Exception {
        LineDisciplineTerminal user = user();
        try (LiveTerminal terminal = open(user)) {
            user.processInputBytes("x".getBytes(UTF_8));
            assertThat(terminal.isLeft(Duration.ofMillis(10))).isFalse();
            user.processInputBytes("yq".getBytes(UTF_8));
            assertThat(terminal.isLeft(Duration.ofDays(1))).isTrue();
        }
    }
}

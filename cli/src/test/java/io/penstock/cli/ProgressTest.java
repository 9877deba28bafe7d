package io.penstock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class ProgressTest {
    private final StringWriter out = new StringWriter();
    private long now = Long.MAX_VALUE; // the nano clock may overflow

    private Progress progress(boolean terminal) {
        return new Progress(new PrintWriter(out), terminal ? 40 : 0, () -> now);
    }

    private void pass(int seconds) {
        now += TimeUnit.SECONDS.toNanos(seconds);
    }

    @Test
    void tell_onATerminal_changesOneLineAndTakesItAway() {
        try (Progress progress = progress(true)) {
            progress.tell("at once");
            pass(1);
            progress.tell("twelve objects");
            progress.tell("too soon");
            pass(1);
            progress.tell("13 objects");
        }
        assertThat(out.toString()).isEqualTo("\rtwelve objects\r13 objects    \r" + " ".repeat(10) + "\r");
    }

    @Test
    void tell_aShareOnATerminal_isABarAndNoLineIsTooLong() {
        try (Progress progress = progress(true)) {
            pass(1);
            progress.tell(0.5, "12 of 24 files");
            pass(1);
            progress.tell(1, "24 of 24 files, and much more to say");
        }
        assertThat(out.toString())
                .startsWith("\r[##########..........] 12 of 24 files\r[####################] 24 of 24 files, ");
        assertThat(out.toString().split("\r", -1)).allMatch(line -> line.length() < 40);
    }

    @Test
    void tell_aShareElsewhere_isTheTextAlone() {
        try (Progress progress = progress(false)) {
            pass(10);
            progress.tell(0.5, "12 of 24 files");
        }
        assertThat(out.toString()).isEqualTo("12 of 24 files%n".formatted());
    }

    @Test
    void tell_elsewhere_isALineEveryTenSeconds() {
        try (Progress progress = progress(false)) {
            pass(9);
            progress.tell("too soon");
            pass(1);
            progress.tell("ten");
            pass(10);
            progress.tell("twenty");
        }
        assertThat(out.toString()).isEqualTo("ten%ntwenty%n".formatted());
    }

    @Test
    void close_nothingTold_printsNothing() {
        progress(true).close();
        assertThat(out.toString()).isEmpty();
    }
}

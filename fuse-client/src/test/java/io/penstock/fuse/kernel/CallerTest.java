package io.penstock.fuse.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A signal to a stopped process stays pending, as it does during a call that waits for a reply. */
@Timeout(20)
class CallerTest {
    private Process program;

    @BeforeEach
    void startAndStop() throws Exception {
        // A script may have started the tests with ignored signals, which never become pending.
        program = new ProcessBuilder("env", "--default-signal", "sleep", "100").start();
        while (!status().contains("Name:\tsleep")) { // env may still have to reset them
            Thread.onSpinWait();
        }
        kill("STOP");
        while (!status().contains("State:\tT")) {
            Thread.onSpinWait();
        }
    }

    @AfterEach
    void end() {
        program.destroyForcibly();
    }

    @Test
    void isToEnd_nothingPending_false() {
        assertThat(isToEnd()).isFalse();
    }

    @ParameterizedTest
    @ValueSource(strings = {"ALRM", "USR1", "PROF", "TSTP"})
    void isToEnd_signalThatIsNoUsersWish_false(String signal) throws Exception {
        kill(signal);
        assertThat(isToEnd()).isFalse();
    }

    @ParameterizedTest
    @ValueSource(strings = {"HUP", "INT", "QUIT", "TERM"})
    void isToEnd_signalThatEndsOrInterrupts_true(String signal) throws Exception {
        kill("ALRM");
        kill(signal);
        assertThat(isToEnd()).isTrue();
    }

    /** An ended process remains until its parent waits for it; a program that replaced a shell never does. */
    @ParameterizedTest
    @ValueSource(strings = {"KILL", "TERM", ""})
    void isKilled_endedProcess_ifByASignal(String signal) throws Exception {
        String end = signal.isEmpty() ? "exit 9" : "kill -" + signal + " $BASHPID";
        String replaced = "until [[ $(< /proc/$$/comm) == sleep ]]; do :; done; "; // the shell would wait for it
        Process parent = new ProcessBuilder("bash", "-c", "(" + replaced + end + ") & echo $!; exec sleep 100").start();
        try {
            int ended = Integer.parseInt(parent.inputReader().readLine());
            while (!Files.readString(Path.of("/proc/" + ended + "/status")).contains("State:\tZ")) {
                Thread.onSpinWait();
            }
            assertThat(Caller.isKilled(ended)).isEqualTo(!signal.isEmpty());
            assertThat(Caller.isKilled((int) parent.pid())).isFalse();
            assertThat(new Descriptors("0:0").areLeft(1, ended, 1, null))
                    .as("its close does not wait")
                    .isEqualTo(!signal.isEmpty());
            assertThat(Caller.parent(ended)).isEqualTo((int) parent.pid());
        } finally {
            parent.destroyForcibly();
        }
    }

    @Test
    void isToEnd_unknownThread_true() {
        assertThat(Caller.isToEnd(0)).isTrue();
    }

    private boolean isToEnd() {
        return Caller.isToEnd(Math.toIntExact(program.pid()));
    }

    private void kill(String signal) throws Exception {
        assertThat(new ProcessBuilder("kill", "-" + signal, Long.toString(program.pid()))
                        .start()
                        .waitFor())
                .isZero();
    }

    private String status() throws IOException {
        return Files.readString(Path.of("/proc", Long.toString(program.pid()), "status"), StandardCharsets.ISO_8859_1);
    }
}

package io.penstock.serve.mount;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Timeout(60)
final class HangupSignalTest {
    @Test
    void signal_afterRuns_runsTheActionEachTime() throws Exception {
        for (int i = 0; i < 2; i++) {
            CountDownLatch ran = new CountDownLatch(1);
            HangupSignal.runs(ran::countDown);
            String pid = Long.toString(ProcessHandle.current().pid());

            assertThat(new ProcessBuilder("kill", "-HUP", pid).start().waitFor())
                    .isZero();

            assertThat(ran.await(30, TimeUnit.SECONDS)).isTrue();
        }
    }

    /** In another process, started with the signal ignored, as by nohup, or not. */
    @ParameterizedTest
    @CsvSource({"trap '' HUP, true", "true, false"})
    void runs_whereTheSignalIsIgnored_saysSo(String before, boolean says) throws Exception {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        Process process = new ProcessBuilder(
                        "sh",
                        "-c",
                        before + "; exec \"$@\"",
                        "sh",
                        java,
                        "-cp",
                        System.getProperty("java.class.path"),
                        Hearer.class.getName())
                .redirectErrorStream(true)
                .start();
        String output = new String(process.getInputStream().readAllBytes(), UTF_8);

        assertThat(process.waitFor()).isZero();
        assertThat(output).contains("heard");
        assertThat(output.contains("SIGHUP is ignored")).isEqualTo(says);
    }

    /** Its log goes to the terminal. */
    static final class Hearer {
        public static void main(String[] arguments) {
            HangupSignal.runs(() -> {});
            System.out.println("heard");
        }
    }
}

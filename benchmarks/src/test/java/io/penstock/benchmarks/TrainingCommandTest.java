package io.penstock.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

class TrainingCommandTest {
    /** Standard error of a command that fails. */
    private static String failing(String... arguments) {
        PrintStream before = System.err;
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        System.setErr(new PrintStream(printed, true, StandardCharsets.UTF_8));
        try {
            assertThat(Benchmarks.commandLine().execute(arguments)).isPositive();
        } finally {
            System.setErr(before);
        }
        return printed.toString(StandardCharsets.UTF_8);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        --workload bert             | bench: --workload bert: must be one of unet3d_a100
        --accelerators 0            | bench: --accelerators 0: must be 1 or more
        --files 0                   | bench: --files 0: must be 1 or more
        --seconds 0                 | bench: --seconds 0: must be 1 or more
        --dlio /not/there           | bench: --dlio /not/there: there is no such program
        --keep                      | bench: --keep: is for --against
        --pid 1                     | bench: --pid: is for --against
        --against /not/there        | bench: --against /not/there: must be a writable folder
        --against /tmp --only cold  | bench: --against /tmp: a folder is cold once
        """)
    void badOption_isNamed(String options, String message) {
        assertThat(failing(("train " + options).split(" "))).startsWith(message);
    }

    @Test
    void help_namesEveryWorkload() {
        String help = new CommandLine(new TrainingCommand()).getUsageMessage();
        for (TrainWorkload workload : TrainWorkload.values()) {
            assertThat(help).contains(workload.label());
        }
    }
}

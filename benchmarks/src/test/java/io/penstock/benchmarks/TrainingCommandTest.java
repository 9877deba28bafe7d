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
        --epochs 0                  | bench: --epochs 0: must be 1 or more
        --epochs 1 --only nvme      | bench: --epochs 1: the one epoch is the cold one
        --exclude-steps 0           | bench: --exclude-steps 0: must be 1 or more
        --checkpoint-scale 0        | bench: --checkpoint-scale 0: must be 1 or more
        --keep                      | bench: --keep: is for --against
        --pid 1                     | bench: --pid: is for --against
        --against /not/there        | bench: --against /not/there: must be a folder
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

package io.penstock.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Help by the launcher, whose class path lacks what only the demo uses, while picocli loads all commands. */
class HelpIT {
    @TempDir
    Path scratch;

    @ParameterizedTest
    @CsvSource({
        "--help, 0, Usage: penstock",
        "mount --help, 0, Usage: penstock mount",
        "demo --help, 0, Usage: penstock demo",
        "train --help, 0, Usage: penstock train",
        "moutn, 2, mount"
    })
    void help_byTheLauncher_isPrinted(String arguments, int exit, String text) {
        List<String> command = new ArrayList<>(MountedBucket.penstock());
        command.addAll(List.of(arguments.split(" ", -1)));

        Program.Result result = Program.run(scratch, command);

        assertThat(result.out()).contains(text).doesNotContain("Exception");
        assertThat(result.exit()).isEqualTo(exit);
    }
}

package io.penstock.serve.metrics;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** Prometheus' own parser of rules and expressions: bin/lib/promql, which bin/test builds if Go is installed. */
final class PromqlCheck {
    private static final Path PROGRAM =
            Path.of(System.getProperty("user.home"), ".cache", "penstock", "bin", "promql-check");

    private PromqlCheck() {}

    /** Skips the test if the parser is missing. */
    static void assumePresent() {
        assumeTrue(Files.isExecutable(PROGRAM), "no promql-check: bin/test builds it where there is Go");
    }

    /** The metrics that a rules file selects in its expressions. Fails if the file is not valid. */
    static Set<String> metrics(Path rules) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(PROGRAM.toString(), rules.toString())
                .redirectErrorStream(true)
                .start();
        String said = new String(process.getInputStream().readAllBytes(), UTF_8);
        assertThat(process.waitFor()).as(said).isZero();
        return said.lines().collect(Collectors.toCollection(TreeSet::new));
    }
}

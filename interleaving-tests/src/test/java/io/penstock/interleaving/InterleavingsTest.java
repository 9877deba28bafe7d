package io.penstock.interleaving;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.openjdk.jcstress.Main;

/** Runs all tests of interleavings, some ten seconds each. jcstress fails if an outcome is not acceptable. */
final class InterleavingsTest {
    private static final Path FOLDER = Path.of("target", "jcstress").toAbsolutePath();

    @Test
    @EnabledIfSystemProperty(named = "penstock.test.full", matches = "true", disabledReason = "takes minutes")
    void outcomes_ofAllInterleavings_areAcceptable() throws IOException, InterruptedException {
        Files.createDirectories(FOLDER);
        Path output = FOLDER.resolve("output.txt");
        // One kind of JVM, and actors that are not compiled separately: these tests are about locks and their order,
        // and most of the time is spent in code that the actors call.
        Process jcstress = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        Main.class.getName(),
                        "-jvmArgs",
                        "--enable-native-access=ALL-UNNAMED --sun-misc-unsafe-memory-access=allow",
                        "-sc",
                        "false",
                        "-iters",
                        "5",
                        "-strideSize",
                        "1",
                        "-strideCount",
                        "512",
                        "-t",
                        System.getProperty("penstock.interleavings", ".*"),
                        "-r",
                        FOLDER.toString())
                .directory(FOLDER.toFile())
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        boolean ended = jcstress.waitFor(15, TimeUnit.MINUTES);
        jcstress.descendants().forEach(ProcessHandle::destroyForcibly);
        int status = ended ? jcstress.exitValue() : -1;
        jcstress.destroyForcibly();
        assertThat(output).content().contains("RUN RESULTS").doesNotContain("No scheduling is possible");
        assertThat(status).as("status of jcstress: see %s", output).isZero();
    }
}

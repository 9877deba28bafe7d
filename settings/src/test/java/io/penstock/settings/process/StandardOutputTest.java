package io.penstock.settings.process;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.FileOutputStream;
import java.io.OutputStream;
import org.junit.jupiter.api.Test;

class StandardOutputTest {
    @Test
    void failure_aFullDisk_saysWhy() throws Exception {
        try (OutputStream full = new FileOutputStream("/dev/full")) {
            StandardOutput output = new StandardOutput(full);
            output.stream().println("lost");
            assertThat(output.failure()).hasValue("No space left on device");
        }
    }

    @Test
    void failure_nobodyReadsIt_isNone() throws Exception {
        Process gone = new ProcessBuilder("true").start();
        gone.waitFor();
        StandardOutput output = new StandardOutput(gone.getOutputStream());
        output.stream().println("lost");
        assertThat(output.stream().checkError()).isTrue();
        assertThat(output.failure()).isEmpty();
    }

    @Test
    void failure_allIsWritten_isNone() {
        ByteArrayOutputStream written = new ByteArrayOutputStream();
        StandardOutput output = new StandardOutput(written);
        output.stream().print("größe");
        assertThat(output.failure()).isEmpty();
        assertThat(written.toString(UTF_8)).isEqualTo("größe");
    }
}

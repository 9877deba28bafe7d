package io.penstock.cli.mount;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.penstock.cli.control.ProfileState;
import io.penstock.cli.process.RefusedException;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import java.util.Objects;
import jdk.jfr.FlightRecorder;
import jdk.jfr.RecordingState;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Timeout(60)
class ProfilerTest {
    @TempDir
    private Path folder;

    private ProfileState run(Profiler profiler, String command, Object arguments) throws RefusedException {
        JsonNode given = JsonMapper.builder().build().valueToTree(arguments);
        return (ProfileState)
                Objects.requireNonNull(profiler.commands().get(command)).run(given);
    }

    @Test
    void profile_ofASecond_isWrittenForItsOwner() throws Exception {
        Profiler profiler = new Profiler(folder.resolve("mnt"));
        Path output = folder.resolve("a.jfr");
        Map<String, Object> arguments = Map.of("seconds", 1, "output", output.toString());
        assertThat(run(profiler, "profile-state", Map.of())).isEqualTo(ProfileState.NONE);

        assertThat(run(profiler, "profile", arguments))
                .isEqualTo(new ProfileState(output.toString(), true, null, false));
        assertThatThrownBy(() -> run(profiler, "profile", arguments))
                .isInstanceOf(RefusedException.class)
                .hasMessageContaining("is being recorded already, to " + output);
        while (run(profiler, "profile-state", Map.of()).recording()) {
            Thread.onSpinWait();
        }

        assertThat(run(profiler, "profile-state", Map.of()))
                .isEqualTo(new ProfileState(output.toString(), false, null, false));
        assertThat(RecordingFile.readAllEvents(output))
                .isNotEmpty()
                .extracting(event -> event.getEventType().getName())
                .doesNotContain("jdk.InitialEnvironmentVariable", "jdk.InitialSystemProperty", "jdk.SystemProcess");
        assertThat(Files.getPosixFilePermissions(output)).isEqualTo(PosixFilePermissions.fromString("rw-------"));
    }

    @Test
    void close_whileItRecords_writesWhatThereIs() throws Exception {
        Profiler profiler = new Profiler(folder.resolve("mnt"));
        Path output = folder.resolve("a.jfr");
        run(profiler, "profile", Map.of("seconds", 3600, "output", output.toString()));

        profiler.close();

        assertThat(run(profiler, "profile-state", Map.of()))
                .isEqualTo(new ProfileState(output.toString(), false, null, true));
        assertThat(RecordingFile.readAllEvents(output)).isNotEmpty();
        profiler.close();
        assertThat(folder).isDirectoryContaining(output::equals);
    }

    /** JFR writes text as it is: what is nowhere in the file is in no field of any event. */
    @Test
    void profile_anyEvent_hasNoCommandLine() throws Exception {
        Profiler profiler = new Profiler(folder.resolve("mnt"));
        Path output = folder.resolve("a.jfr");
        run(profiler, "profile", Map.of("seconds", 3600, "output", output.toString()));
        while (FlightRecorder.getFlightRecorder().getRecordings().stream()
                .noneMatch(each -> output.equals(each.getDestination()) && each.getState() == RecordingState.RUNNING)) {
            Thread.onSpinWait();
        }
        Thread.ofPlatform().name("name-of-a-thread").start(() -> {}).join();
        assertThat(new ProcessBuilder("echo", "secret-of-a-child").start().waitFor())
                .isZero();

        profiler.close();

        assertThat(Files.readString(output, StandardCharsets.ISO_8859_1))
                .contains("name-of-a-thread")
                .doesNotContain("secret-of-a-child", System.getProperty("sun.java.command", ""))
                .doesNotContain(ManagementFactory.getRuntimeMXBean().getInputArguments());
    }

    @ParameterizedTest
    @CsvSource({
        "0, /tmp/never.jfr, seconds: must be",
        "3601, /tmp/never.jfr, seconds: must be",
        "1, a.jfr, output: must be an absolute path",
        "1, '', output: must be an absolute path",
        "1, FOLDER/no/a.jfr, cannot be written (no such file",
        "1, FOLDER/mnt/a.jfr, lies inside the mount",
        "1, FOLDER/link/a.jfr, lies inside the mount",
        "1, FOLDER/out/a.jfr, lies inside the mount",
        "1, FOLDER/there, exists already"
    })
    void profile_thatCannotBe_isRefused(int seconds, String output, String why) throws IOException {
        Path mountPoint = Files.createDirectory(folder.resolve("mnt"));
        Files.createSymbolicLink(folder.resolve("link"), mountPoint);
        Files.createSymbolicLink(mountPoint.resolve("back"), folder);
        Files.createSymbolicLink(folder.resolve("out"), mountPoint.resolve("back"));
        Files.createFile(folder.resolve("there"));
        Profiler profiler = new Profiler(mountPoint.toRealPath());
        Map<String, Object> arguments =
                Map.of("seconds", seconds, "output", output.replace("FOLDER", folder.toString()));

        assertThatThrownBy(() -> run(profiler, "profile", arguments))
                .isInstanceOf(RefusedException.class)
                .hasMessageContaining(why);
        assertThat(mountPoint).isDirectoryNotContaining(file -> !file.endsWith("back"));
    }
}

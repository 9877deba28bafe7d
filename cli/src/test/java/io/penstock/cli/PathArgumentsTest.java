package io.penstock.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.settings.process.RefusedException;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PipedInputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

class PathArgumentsTest {
    private static final Path HERE = Path.of("").toAbsolutePath();
    private static final String NAME = HERE.getFileName().toString();

    @Test
    void inMount_relativePathsInAFolderOfTheMount_areOfThatFolder() {
        Path mount = HERE.resolve("..").normalize();
        assertThat(PathArguments.inMount(mount, List.of(mount), HERE, "l3")).isEqualTo(NAME + "/l3");
        assertThat(PathArguments.inMount(mount, List.of(mount), HERE, "a/*.jpg"))
                .isEqualTo(NAME + "/a/*.jpg");
        assertThat(PathArguments.inMount(mount, List.of(mount), HERE, ".")).isEqualTo(NAME);
        assertThat(PathArguments.inMount(mount, List.of(mount), HERE, "../b")).isEqualTo("b");
        assertThat(PathArguments.inMount(mount, List.of(mount), HERE, "..")).isEqualTo(".");
    }

    @Test
    void inMount_relativePathsElsewhere_areOfTheMount() {
        Path mount = HERE.resolve("mount");
        assertThat(PathArguments.inMount(mount, List.of(mount), HERE, "l3")).isEqualTo("l3");
        assertThat(PathArguments.inMount(mount, List.of(mount), HERE, ".")).isEqualTo(".");
        assertThat(PathArguments.inMount(mount, List.of(mount), HERE, "../b")).isEqualTo("../b");
        assertThat(PathArguments.inMount(mount, List.of(mount), HERE, "mount/l3"))
                .isEqualTo("mount/l3");
    }

    @Test
    void inMount_noPath_staysNone() {
        assertThat(PathArguments.inMount(HERE, List.of(HERE), HERE, "")).isEmpty();
    }

    @Test
    void inMount_absolutePaths_areFoundAlsoBySymbolicLinks(@TempDir Path folder) throws IOException {
        Path mount = folder.toRealPath().resolve("mount");
        Path link = Files.createSymbolicLink(folder.resolve("link"), Files.createDirectory(mount));
        assertThat(PathArguments.inMount(mount, List.of(mount), HERE, link + "/a/../b"))
                .isEqualTo(mount.resolve("b").toString());
        assertThat(PathArguments.inMount(mount, List.of(mount), HERE, "/etc/passwd"))
                .isEqualTo("/etc/passwd");
    }

    @Test
    void requireReadable_aLinkIntoAMount_isNotLookedUp(@TempDir Path temporary) throws Exception {
        Path folder = temporary.toRealPath();
        Path mount = folder.resolve("mount");
        Path link = Files.createSymbolicLink(folder.resolve("link"), mount.resolve("list"));

        PathArguments.requireReadable(link, List.of(mount));
        assertThatThrownBy(() -> PathArguments.requireReadable(link, List.of()))
                .isInstanceOf(RefusedException.class)
                .hasMessage("--manifest " + link + ": no such file, or it cannot be read");
    }

    @Test
    void write_failsOrTheFolderIsMissing_isRefusedAndLeavesNothing(@TempDir Path folder) throws Exception {
        InputStream broken = new PipedInputStream();
        assertThatThrownBy(() -> PathArguments.write(folder, List.of("a"), broken))
                .isInstanceOf(RefusedException.class)
                .hasMessage("standard input cannot be read: Pipe not connected");
        assertThat(folder).isEmptyDirectory();
        assertThatThrownBy(() -> PathArguments.write(folder.resolve("no"), List.of("a"), broken))
                .isInstanceOf(RefusedException.class)
                .hasMessageStartingWith(
                        "the list of paths cannot be written to " + folder.resolve("no") + ": no such file: ")
                .hasMessageEndingWith("; set TMPDIR to another folder");
        assertThat(PathArguments.write(folder, List.of("a", "b"), new ByteArrayInputStream("c\n".getBytes(UTF_8))))
                .hasContent("a\nb\nc\n");
    }

    @Test
    void expected_aPathInAMountFirst_isTheCommandWithTheMountPoint() {
        Path mount = HERE.resolve("mount");
        Path inner = mount.resolve("inner");
        List<Path> mounts = List.of(mount, inner);
        assertThat(PathArguments.expected(command("warm", "x"), List.of(mount + "/train", "val"), HERE, mounts))
                .isEqualTo("the mount point comes first: penstock warm " + mount + " " + mount + "/train val");
        assertThat(PathArguments.expected(command("evict", "x"), List.of("mount/inner/a b", "mount/x"), HERE, mounts))
                .isEqualTo("the mount point comes first: penstock evict " + inner + " '" + inner + "/a b' mount/x");
        assertThat(PathArguments.expected(command("warm", "x"), List.of("train/", "*.tar"), mount.resolve("d"), mounts))
                .isEqualTo("the mount point comes first: penstock warm " + mount + " train/ '*.tar'");
    }

    @Test
    void expected_theMountPointComesFirstOrAPathElsewhere_isNothing() {
        Path mount = HERE.resolve("mount");
        assertThat(PathArguments.expected(command("warm", "x"), List.of("mount/", "train"), HERE, List.of(mount)))
                .isNull();
        assertThat(PathArguments.expected(command("warm", "x"), List.of("train", "mount/x"), HERE, List.of(mount)))
                .isNull();
    }

    /** Without its options, the corrected command would begin a job instead of showing the jobs. */
    @ParameterizedTest
    @ValueSource(strings = {"--status", "--cancel=3", "--force", "--pin", "--group", "--no-wait"})
    void expected_aPathFirstAndOptions_namesTheMountPointAlone(String option) {
        Path mount = HERE.resolve("mount");
        CommandLine command = command(option.equals("--force") ? "evict" : "warm", option, "x");
        assertThat(PathArguments.expected(command, List.of("mount/train", "val"), HERE, List.of(mount)))
                .isEqualTo("the mount point comes first: give " + mount + " before the path");
    }

    private static CommandLine command(String name, String... arguments) {
        CommandLine line = Main.commandLine();
        line.parseArgs(Stream.concat(Stream.of(name), Stream.of(arguments)).toArray(String[]::new));
        return line.getParseResult().subcommand().commandSpec().commandLine();
    }
}

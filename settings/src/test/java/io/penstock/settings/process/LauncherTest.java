package io.penstock.settings.process;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** bin/penstock with a fake Java: a shell script that does what the real one would do at its worst. */
@Timeout(60)
class LauncherTest {
    private static final String RELEASE = "IMPLEMENTOR=\"Paper\"\nJAVA_VERSION=\"25.0.1\"\n";

    private static final String READY = "printf '\\006\\n'; exec >/dev/null 2>&1";

    /** A Java that can be trained: the last argument is the path of the cache. */
    private static final String TRAINING =
            "case \"$*\" in *'Main train '*) for file; do :; done; echo learnt anew | tee \"$file\""
                    + " >\"$file.commands\"; exit;; esac";

    /** A Maven that builds a new version. */
    private static final String MAVEN = """
        echo mvn "$@"
        for option; do
            case $option in -Dpenstock.lib=*) lib=${option#*=} ;; esac
        done
        mkdir -p "$lib/demo"
        touch "$lib/demo/server-2.jar" "$lib/library-2.jar" "$lib/penstock-cli-2.jar" "$lib/picocli-2.jar"
        """;

    @TempDir
    private Path folder;

    private Path launcher;
    private Path lib;
    private Path java;
    private Path aotCache;

    @BeforeEach
    void makeInstallation() throws IOException {
        launcher = Files.createDirectories(folder.resolve("home/bin")).resolve("penstock");
        Files.copy(Path.of("../bin/penstock"), launcher);
        Files.createDirectory(launcher.resolveSibling("lib"));
        for (String script : List.of("lib/java.bash", "lib/memory.bash")) {
            Files.copy(Path.of("../bin").resolve(script), launcher.resolveSibling(script));
        }
        lib = Files.createDirectories(folder.resolve("home/cli/target/penstock/lib"));
        Files.createFile(lib.resolve("penstock-cli-1.jar"));
        Files.createFile(lib.resolve("picocli-1.jar"));
        java = folder.resolve("jdk/bin/java");
        Files.createDirectories(java.getParent());
        Files.writeString(folder.resolve("jdk/release"), RELEASE);
        java("exit 99");
        aotCache = lib.resolveSibling("penstock.aot");
        Files.writeString(aotCache, "learnt");
        Files.writeString(commandsCache(), "learnt");
        Files.writeString(stamp(), java + "\n" + RELEASE);
    }

    @Test
    void package_withItsOwnJava_runsItsOwnFilesAndHasNoDemo() throws Exception {
        Path home = folder.resolve("home");
        java("echo its own \"$@\"");
        Files.move(folder.resolve("jdk"), home.resolve("runtime"));
        Files.move(lib, home.resolve("lib"));
        Outcome doctor = launch("doctor");
        assertThat(doctor.out()).as(doctor.err()).startsWith("its own ").endsWith("Main doctor\n");
        Outcome demo = launch("demo");
        assertThat(demo.exitCode()).isEqualTo(1);
        assertThat(demo.err()).contains("a package has no demo");
    }

    @Test
    void background_ready_returnsAndTheProcessGoesOn() throws Exception {
        Path pid = folder.resolve("pid");
        java("echo $$ >" + pid + "; echo mounted; " + READY + "; exec sleep 100");
        Outcome outcome = launch("mount", "data", "/mnt");
        assertThat(outcome).isEqualTo(new Outcome(0, "mounted\n", ""));
        ProcessHandle process = serving(pid);
        assertThat(process.isAlive()).isTrue();
        process.destroyForcibly();
    }

    @Test
    void background_refused_printsTheReasonAndPassesTheExitCode() throws Exception {
        java("echo 'penstock: no such bucket' >&2; exit 32");
        assertThat(launch("mount", "data", "/mnt")).isEqualTo(new Outcome(32, "", "penstock: no such bucket\n"));
    }

    @Test
    void background_killedBeforeReady_saysSo() throws Exception {
        java("kill -9 $$");
        Outcome outcome = launch("mount", "data", "/mnt");
        assertThat(outcome.exitCode()).isEqualTo(1);
        assertThat(outcome.err()).contains("killed by signal 9 before it was ready");
    }

    @Test
    void background_interruptedWhileWaiting_endsTheProcess() throws Exception {
        Path pid = folder.resolve("pid");
        java("echo $$ >" + pid + "; exec sleep 100");
        Process waiting = start(Map.of(), "mount", "data", "/mnt");
        ProcessHandle process = serving(pid);
        waiting.destroy();
        assertThat(waiting.waitFor()).isEqualTo(130);
        assertThat(process.isAlive()).isFalse();
    }

    @Test
    void background_withASupervisor_isStartedByIt() throws Exception {
        supervisor("echo supervised \"$@\"; cd /; PENSTOCK_RESTARTS=0 exec \"$@\"");
        java("env | grep PENSTOCK_CALL; echo \"$@\"; " + READY);
        Outcome outcome = launch("mount", "data", "mnt");
        assertThat(outcome.out())
                .startsWith("supervised " + launcher + " mount data mnt\n")
                .contains("-Duser.dir=" + folder + " ", "-Dpenstock.command=" + launcher + " ")
                .contains("-Dpenstock.background=true io.penstock.cli.Main mount data mnt\n")
                .doesNotContain("PENSTOCK_CALL");
        assertThat(outcome.err()).isEmpty();
    }

    @Test
    void background_secondStartBySupervisor_isAsTheFirst() throws Exception {
        supervisor("cd /; PENSTOCK_RESTARTS=0 \"$@\"; sleep 0.01; PENSTOCK_RESTARTS=1 \"$@\"; " + READY);
        java("echo \"$@\"");
        List<String> starts = launch("mount", "data", "mnt").out().lines().toList();
        assertThat(starts).hasSize(2);
        String started = "penstock.started=\\d+\\.(\\d+)";
        assertThat(starts.getFirst()).containsPattern(started).isNotEqualTo(starts.getLast());
        assertThat(starts.getFirst().replaceFirst(started, ""))
                .isEqualTo(starts.getLast().replaceFirst(started, ""));
    }

    @Test
    void background_supervisorOfAnInstallation_startsTheCurrentOne() throws Exception {
        supervisor("echo \"$1\"; exit 3");
        Files.createSymbolicLink(folder.resolve("current"), Path.of("home"));
        assertThat(launch("mount", "data", "/mnt"))
                .isEqualTo(new Outcome(3, folder.resolve("current/bin/penstock") + "\n", ""));
    }

    @Test
    void background_supervisorOfAnotherMachine_isNotUsed() throws Exception {
        supervisor("echo supervised");
        Files.write(lib.resolveSibling("penstock-supervisor"), new byte[] {0x7f, 'E', 'L', 'F', 0});
        java("echo \"$@\"; " + READY);
        Outcome outcome = launch("mount", "data", "/mnt");
        assertThat(outcome.out()).endsWith("-Dpenstock.background=true io.penstock.cli.Main mount data /mnt\n");
        assertThat(outcome.err()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"demo --keep", "mount data /dev/fd/9", "mount data /mnt -f"})
    void supervisor_ofOtherCommands_isNotUsed(String command) throws Exception {
        supervisor("echo supervised");
        java("echo \"$@\"; " + READY);
        assertThat(launch(command.split(" ")).out())
                .endsWith("Main " + command + (command.endsWith("-f") ? "\n\6\n" : "\n"));
    }

    @Test
    void supervisor_sourceAndCompiler_isBuiltOnceAndServes() throws Exception {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/cc")), "no compiler");
        Path source = Files.createDirectories(folder.resolve("home/supervisor")).resolve("penstock-supervisor.c");
        Files.copy(Path.of("../supervisor/penstock-supervisor.c"), source);
        Path pid = folder.resolve("pid");
        java("cat /proc/$PPID/comm; echo $$ >" + pid + "; " + READY + "; exec sleep 100");
        assertThat(launch("mount", "data", "/mnt")).isEqualTo(new Outcome(0, "penstock-superv\n", ""));
        serving(pid).destroyForcibly();
        Path built = lib.resolveSibling("penstock-supervisor");
        FileTime first = Files.getLastModifiedTime(built);

        java("echo $$ >" + pid + "; exec sleep 100");
        Files.delete(pid);
        Process waiting = start(Map.of(), "mount", "data", "/mnt");
        ProcessHandle process = serving(pid);
        waiting.destroy();
        assertThat(waiting.waitFor()).isEqualTo(130);
        assertThat(process.isAlive()).isFalse();
        assertThat(Files.getLastModifiedTime(built)).isEqualTo(first);
    }

    @Test
    void supervisor_compilerFails_mountsWithoutIt() throws Exception {
        Files.createFile(
                Files.createDirectories(folder.resolve("home/supervisor")).resolve("penstock-supervisor.c"));
        Path compiler = Files.createDirectories(folder.resolve("path")).resolve("cc");
        Files.writeString(
                compiler, "#!/bin/sh\necho \"$@\" >>" + folder.resolve("compiled") + "; echo error >&2; exit 1\n");
        Files.setPosixFilePermissions(compiler, PosixFilePermissions.fromString("rwx------"));
        java("echo mounted; " + READY);
        Map<String, String> environment =
                Map.of("JAVA_HOME", folder.resolve("jdk").toString(), "PATH", compiler.getParent() + ":/usr/bin:/bin");
        assertThat(launch(environment, "mount", "data", "/mnt")).isEqualTo(new Outcome(0, "mounted\n", ""));
        assertThat(Files.readAllLines(folder.resolve("compiled")))
                .hasSize(2)
                .first()
                .asString()
                .contains("-static");
        assertThat(names(lib.resolve(".."))).noneMatch(name -> name.startsWith("penstock-supervisor"));
    }

    @Test
    void foreground_anyOfItsSpellings_isTheJvmItself() throws Exception {
        java("echo \"$@\"; exit 7");
        for (String option : List.of("-f", "--foreground", "--help")) {
            Outcome outcome = launch("mount", option, "data", "/mnt");
            assertThat(outcome.exitCode()).isEqualTo(7);
            assertThat(outcome.out())
                    .doesNotContain("-Dpenstock.background=true")
                    .endsWith("data /mnt\n");
        }
    }

    /** The SDK treats them as values; Penstock does not. */
    @Test
    void variablesOfAws_thatAreEmpty_areNotSet() throws Exception {
        java("env");
        Map<String, String> variables = Map.of(
                "JAVA_HOME", folder.resolve("jdk").toString(),
                "AWS_ENDPOINT_URL", "",
                "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "",
                "AWS_PROFILE", "two words");
        assertThat(launch(variables, "mounts").out().lines())
                .contains("AWS_PROFILE=two words")
                .noneMatch(line -> line.startsWith("AWS_ENDPOINT_URL") || line.startsWith("AWS_IGNORE"));
    }

    @Test
    void memory_outsideTheHeap_hasRoomBesideAllThatSettingsMayName() throws Exception {
        java("echo \"$@\"");
        String options = launch("mounts").out();
        long mayBeNamed = number(options, "-Dpenstock.memory=") / 2;
        assertThat(number(options, "-XX:MaxDirectMemorySize=") << 20).isGreaterThan(mayBeNamed + (250 << 20));
    }

    @Test
    void connectionsOfStrangersToTheMetrics_takeALittleOfTheHeap() throws Exception {
        java("echo \"$@\"");
        String options = launch("mounts").out();
        long most = number(options, "-Djdk.httpserver.maxConnections=");
        long head = number(options, "-Dsun.net.httpserver.maxReqHeaderSize=");
        // the JDK's parser needs four chars for each one
        assertThat(most * 4 * head).isBetween(1L, (number(options, "-Xmx") << 20) / 8);
    }

    private static long number(String options, String name) {
        return Long.parseLong(options.replaceFirst("(?s).*" + name + "(\\d+).*", "$1"));
    }

    @Test
    void classPath_ofTheDemoAlone_hasAnS3Server() throws Exception {
        addJars();
        assertThat(classPath("demo"))
                .containsExactly("aws-2.jar", "penstock-cli-1.jar", "picocli-1.jar", "demo/server-2.jar");
        assertThat(classPath("doctor")).containsExactly("aws-2.jar", "penstock-cli-1.jar", "picocli-1.jar");
    }

    /** A class that is in none of the jars is searched for in each of them. */
    @Test
    void classPath_ofCommandsThatAsk_hasNoStore() throws Exception {
        addJars();
        for (String command : List.of("mounts", "stats", "umount", "--version")) {
            assertThat(classPath(command)).contains("penstock-cli-1.jar").doesNotContain("aws-2.jar");
        }
    }

    private void addJars() throws IOException {
        Files.createDirectory(lib.resolve("demo"));
        Files.createFile(lib.resolve("demo/server-2.jar"));
        Files.createFile(lib.resolve("aws-2.jar"));
        java("echo \"$CLASSPATH\"");
    }

    private List<String> classPath(String command) throws Exception {
        return Stream.of(launch(command, "--help").out().strip().split(":", -1))
                .map(Path::of)
                .filter(Files::exists)
                .map(jar -> lib.relativize(jar).toString())
                .toList();
    }

    @Test
    void terminal_ofOneOfTheOutputs_isToldOfThatOne() throws Exception {
        java("echo \"$@\"");
        assertThat(onATerminal("\"$0\" mounts 2>/dev/null"))
                .contains("-Dpicocli.ansi=true")
                .doesNotContain("errors-on-terminal");
        assertThat(onATerminal("\"$0\" mounts >out; cat out"))
                .contains("-Dpenstock.errors-on-terminal=true")
                .doesNotContain("picocli.ansi");
    }

    /** What a shell command prints on its own terminal; the launcher is {@code $0}. */
    private String onATerminal(String commands) throws Exception {
        ProcessBuilder builder = new ProcessBuilder(
                        "python3",
                        "-c",
                        "import pty, sys; pty.spawn(sys.argv[1:])",
                        "/bin/sh",
                        "-c",
                        commands,
                        launcher.toString())
                .directory(folder.toFile());
        builder.environment().put("JAVA_HOME", folder.resolve("jdk").toString());
        return outcome(builder.start()).out();
    }

    @Test
    void relativePaths_keptThoughTheJvmRunsElsewhere() throws Exception {
        java("pwd; echo \"$@\"");
        Outcome outcome = launch("mounts");
        assertThat(outcome.out()).startsWith("/\n").contains("-Duser.dir=" + folder + " ");
    }

    @Test
    void emptyEnvironment_asUnderMount_works() throws Exception {
        java("echo \"$PATH $HOME\"");
        Outcome outcome = launch(Map.of("JAVA_HOME", folder.resolve("jdk").toString()), "mounts");
        assertThat(outcome.exitCode()).isZero();
        assertThat(outcome.out()).contains("/usr/bin:/sbin:/bin /");
    }

    @Test
    void java_tooOldEverywhere_saysWhatToInstall() throws Exception {
        Files.writeString(folder.resolve("jdk/release"), "JAVA_VERSION=\"17.0.1\"\n");
        Path script = launcher.resolveSibling("lib/java.bash");
        String text = Files.readString(script).replaceFirst("least_java=\\d+", "least_java=99");
        Files.writeString(script, text);
        Outcome outcome = launch("mounts");
        assertThat(outcome.exitCode()).isEqualTo(1);
        assertThat(outcome.err())
                .startsWith("penstock: Java 99 or newer is needed, but was not found")
                .contains("JAVA_HOME");
    }

    @Test
    void java_thatAnotherUserCouldChange_isNotRunByRoot() throws Exception {
        assumeTrue("root".equals(System.getProperty("user.name")), "a user may run what is its own");
        java("echo \"$0\"");
        Path library = Files.createFile(
                Files.createDirectory(folder.resolve("jdk/lib")).resolve("libjvm.so"));
        Files.setAttribute(library, "unix:uid", 12_345);
        Outcome owned = launch("mounts");
        assertThat(owned.err())
                .startsWith("penstock: root does not run " + java)
                .contains(library + " belongs to user 12345");
        assertThat(owned.out()).isNotEqualTo(java + "\n");
        Files.setAttribute(library, "unix:uid", 0);
        Files.setPosixFilePermissions(library.getParent(), PosixFilePermissions.fromString("rwxrwxrwx"));
        assertThat(launch("mounts").err()).contains("others may write to " + library.getParent());
        Files.setPosixFilePermissions(library.getParent(), PosixFilePermissions.fromString("rwxr-xr-x"));
        assertThat(launch("mounts")).isEqualTo(new Outcome(0, java + "\n", ""));
    }

    @Test
    void notBuiltAndNoSource_saysSo() throws Exception {
        Files.delete(folder.resolve("home/cli/target/penstock/lib/picocli-1.jar"));
        Outcome outcome = launch("mounts");
        assertThat(outcome.exitCode()).isEqualTo(1);
        assertThat(outcome.err()).contains("there is nothing to run in");
    }

    @Test
    void install_ofAnUpdatedCheckout_buildsItFirst() throws Exception {
        Map<String, String> environment = makeCheckout(MAVEN);

        assertThat(launch(environment, "install").err()).isEmpty();
        update("cli/src/main/Main.java");
        assertThat(launch(environment, "mounts").err()).isEmpty();
        assertThat(launch(environment, "install").err()).contains("penstock: building", "mvn -B -q");
    }

    @ParameterizedTest
    @ValueSource(strings = {"pom.xml", "cli/pom.xml", "benchmarks/src/main/Bench.java"})
    void install_anyOtherSourceIsNewer_buildsOnce(String source) throws Exception {
        Map<String, String> environment = makeCheckout(MAVEN);
        update(source);

        assertThat(launch(environment, "install").err()).contains("penstock: building");
        assertThat(launch(environment, "install").err()).isEmpty();
    }

    @Test
    void install_ofAnUpdatedCheckout_leavesNoJarOfAnEarlierVersion() throws Exception {
        Map<String, String> environment = makeCheckout(MAVEN);
        Files.createDirectory(lib.resolve("demo"));
        Files.createFile(lib.resolve("library-1.jar"));
        Files.createFile(lib.resolve("demo/server-1.jar"));
        update("cli/src/main/Main.java");

        assertThat(launch(environment, "install").exitCode()).isZero();
        assertThat(names(lib))
                .containsExactlyInAnyOrder("demo", "library-2.jar", "penstock-cli-2.jar", "picocli-2.jar");
        assertThat(names(lib.resolve("demo"))).containsExactly("server-2.jar");
    }

    @Test
    void install_theBuildFails_keepsTheEarlierOne() throws Exception {
        Map<String, String> environment = makeCheckout("echo no network >&2; exit 1");
        update("cli/src/main/Main.java");

        Outcome outcome = launch(environment, "install");
        assertThat(outcome.exitCode()).isEqualTo(1);
        assertThat(outcome.err()).contains("no network", "the build failed");
        assertThat(names(lib)).containsExactlyInAnyOrder("penstock-cli-1.jar", "picocli-1.jar");
        assertThat(launch(environment, "umount", "/mnt").err()).isEmpty();
    }

    @Test
    void install_ofAnUpdatedCheckoutWithoutMaven_saysItIsOutdated() throws Exception {
        Map<String, String> environment = makeCheckout(MAVEN);
        Files.writeString(launcher, Files.readString(launcher).replace("type -P mvn", "type -P no-such-maven"));
        update("cli/src/main/Main.java");

        Outcome updated = launch(environment, "install");
        assertThat(updated.exitCode()).isEqualTo(1);
        assertThat(updated.err())
                .contains("have changed since it was built", "Maven")
                .hasLineCount(1);
        Files.delete(lib.resolve("picocli-1.jar"));
        assertThat(launch(environment, "install").err()).contains("is not built yet", "Maven");
    }

    /**
     * Sources that are older than the build, and a fake Maven.
     *
     * @return the launcher's environment
     */
    private Map<String, String> makeCheckout(String maven) throws IOException {
        java(TRAINING + "; echo \"$@\"");
        for (String each :
                List.of("pom.xml", "cli/pom.xml", "cli/src/main/Main.java", "benchmarks/src/main/Bench.java")) {
            Path source = folder.resolve("home").resolve(each);
            Files.createDirectories(source.getParent());
            Files.createFile(source);
            Files.setLastModifiedTime(source, FileTime.fromMillis(built().toMillis() - 5000));
        }
        Path mvn = Files.createDirectories(folder.resolve("path")).resolve("mvn");
        Files.writeString(mvn, "#!/bin/sh\n" + maven + "\n");
        Files.setPosixFilePermissions(mvn, PosixFilePermissions.fromString("rwx------"));
        Files.createFile(java.resolveSibling("javac"));
        Files.setPosixFilePermissions(java.resolveSibling("javac"), PosixFilePermissions.fromString("rwx------"));
        return Map.of("JAVA_HOME", folder.resolve("jdk").toString(), "PATH", mvn.getParent() + ":/usr/bin:/bin");
    }

    /** Makes a source newer than the build, but older than the next one. */
    private void update(String source) throws IOException {
        Files.setLastModifiedTime(lib.resolve("penstock-cli-1.jar"), FileTime.fromMillis(built().toMillis() - 2000));
        Files.setLastModifiedTime(
                folder.resolve("home").resolve(source), FileTime.fromMillis(built().toMillis() + 1000));
    }

    private FileTime built() throws IOException {
        return Files.getLastModifiedTime(lib.resolve("penstock-cli-1.jar"));
    }

    private static List<String> names(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.map(file -> file.getFileName().toString()).toList();
        }
    }

    @Test
    void mountHelper_throughALink_findsItsInstallation() throws Exception {
        Files.copy(Path.of("../bin/mount.penstock"), launcher.resolveSibling("mount.penstock"));
        Path link =
                Files.createSymbolicLink(folder.resolve("mount.penstock"), launcher.resolveSibling("mount.penstock"));
        java("echo \"$@\"; " + READY);
        ProcessBuilder builder = new ProcessBuilder(link.toString(), "data", "/mnt", "-o", "rw");
        builder.environment().clear();
        builder.environment().put("JAVA_HOME", folder.resolve("jdk").toString());
        assertThat(outcome(builder.start()).out())
                .contains("-Dpenstock.background=true")
                .endsWith("io.penstock.cli.Main mount-helper data /mnt -o rw\n");
    }

    /** As mount.fuse3 does for the type fuse.penstock. */
    @Test
    void sourceAsTheFirstArgument_isAMountOfThat() throws Exception {
        java("echo \"$@\"; " + READY);

        assertThat(launch("s3://data", "/mnt", "-o", "rw").out())
                .endsWith("io.penstock.cli.Main mount-helper s3://data /mnt -o rw\n");
    }

    @Test
    void aotCache_ofThisJavaAndTheseJars_usedByEveryCommand() throws Exception {
        java("echo \"$@\"");
        for (String command : List.of("mount", "doctor")) {
            assertThat(launch(command, "--help").out()).contains("-XX:AOTCache=" + aotCache + " ");
        }
        for (String command : List.of("umount", "mounts", "config")) {
            assertThat(launch(command, "--help").out()).contains("-XX:AOTCache=" + commandsCache() + " ");
        }
    }

    @Test
    void aotCache_missing_aMountDoesNotWaitForIt() throws Exception {
        Files.delete(stamp());
        java("echo \"$@\"");
        Outcome outcome = launch("mount", "-f", "data", "/mnt");
        assertThat(outcome.out()).doesNotContain("AOTCache").endsWith("Main mount -f data /mnt\n");
        assertThat(outcome.err()).contains("'penstock train'").hasLineCount(1);
    }

    @Test
    void train_withoutCaches_makesBoth_andMountsSayNoMore() throws Exception {
        Files.delete(aotCache);
        Files.delete(commandsCache());
        Files.delete(stamp());
        java(TRAINING + "; echo mounting with \"$@\"");
        assertThat(launch("train").err()).contains("recording a start").hasLineCount(1);
        assertThat(commandsCache()).hasContent("learnt anew");
        Outcome outcome = launch("mount", "-f", "data", "/mnt");
        assertThat(outcome.out()).startsWith("mounting with ").contains("-XX:AOTCache=" + aotCache);
        assertThat(outcome.err()).isEmpty();
        assertThat(launch("train").err()).isEmpty();
    }

    /** An installation by root: other users cannot train it, and the mounts of the next boot must not wait. */
    @Test
    void install_withoutCaches_learnsFirst() throws Exception {
        assumeTrue("root".equals(System.getProperty("user.name")), "only root installs");
        Files.delete(stamp());
        java(TRAINING + "; echo installing with \"$@\"");
        Outcome outcome = launch("install");
        assertThat(outcome.err()).contains("recording a start");
        assertThat(outcome.out()).contains("-XX:AOTCache=" + commandsCache());
        Files.delete(stamp());
        assertThat(launch("install", "--remove").err()).isEmpty();
    }

    @Test
    void aotCache_missing_otherCommandsDoNotWaitForIt() throws Exception {
        Files.delete(stamp());
        java("echo \"$@\"");
        Outcome outcome = launch("mounts");
        assertThat(outcome.err()).isEmpty();
        assertThat(outcome.out()).doesNotContain("AOTCache").endsWith("Main mounts\n");
    }

    @Test
    void aotCache_olderThanAJar_madeAgain() throws Exception {
        Files.setLastModifiedTime(stamp(), FileTime.fromMillis(0));
        java(TRAINING);
        assertThat(launch("train").err()).contains("recording a start");
        assertThat(aotCache).hasContent("learnt anew");
    }

    @Test
    void aotCache_javaWasReplaced_madeAgain() throws Exception {
        Files.writeString(folder.resolve("jdk/release"), RELEASE.replace("25.0.1", "25.0.2"));
        java(TRAINING);
        assertThat(launch("train").err()).contains("recording a start");
        assertThat(aotCache).hasContent("learnt anew");
    }

    @Test
    void aotCache_cannotBeMade_mountsWithoutAndDoesNotTryAgain() throws Exception {
        Files.delete(stamp());
        java("case \"$*\" in *'Main train '*) echo 'penstock: no FUSE' >&2; exit 1;; *) echo \"$@\";; esac");
        assertThat(launch("train").err()).contains("no FUSE").contains("starts remain slower");
        Outcome mount = launch("mount", "-f", "data", "/mnt");
        assertThat(mount.out()).doesNotContain("AOTCache").endsWith("Main mount -f data /mnt\n");
        assertThat(mount.err()).isEmpty();
        assertThat(launch("mounts").out()).doesNotContain("AOTCache");
        assertThat(launch("train").err()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(ints = {130, 143})
    void aotCache_aSignalEndsItsMaking_theNextCommandTriesAgain(int status) throws Exception {
        Files.delete(stamp());
        java("case \"$*\" in *'Main train '*) exit " + status + ";; *) echo mounting;; esac");
        Outcome outcome = launch("demo");
        assertThat(outcome.exitCode()).isEqualTo(status);
        assertThat(outcome.out()).isEmpty();
        assertThat(outcome.err()).doesNotContain("remain slower");
        java(TRAINING);
        assertThat(launch("train").err()).contains("recording a start");
        assertThat(aotCache).hasContent("learnt anew");
    }

    @Test
    void aotCache_inTheTrainingRunItself_isWritten() throws Exception {
        java("echo \"$@\"");
        Files.delete(stamp());
        Map<String, String> environment =
                Map.of("JAVA_HOME", folder.resolve("jdk").toString(), "PENSTOCK_TRAINING", "/new.aot");
        Outcome outcome = launch(environment, "mount", "-f", "data", "/mnt");
        assertThat(outcome.err()).isEmpty();
        assertThat(outcome.out()).contains("-XX:AOTCacheOutput=/new.aot").doesNotContain("-XX:AOTCache=");
    }

    @Test
    void home_neitherSetNorInPasswd_isTheRoot() throws Exception {
        java("echo \"$HOME\"");
        Path path = Files.createDirectories(folder.resolve("path"));
        Path getent = path.resolve("getent");
        Files.writeString(getent, "#!/bin/sh\nexit 2\n");
        Files.setPosixFilePermissions(getent, PosixFilePermissions.fromString("rwx------"));
        Map<String, String> environment =
                Map.of("JAVA_HOME", folder.resolve("jdk").toString(), "PATH", path + ":/usr/bin:/bin");
        assertThat(launch(environment, "mounts")).isEqualTo(new Outcome(0, "/\n", ""));
    }

    @Test
    void memory_noCgroup_isTheMachines() throws Exception {
        assertThat(memory("")).isEqualTo(16 << 20);
    }

    @Test
    void memory_limitOfACgroupAbove_counts() throws Exception {
        cgroup("memory.max", "max");
        cgroup("system.slice/memory.max", "2147483648");
        cgroup("system.slice/job.service/memory.max", "max");
        assertThat(memory("0::/system.slice/job.service\n")).isEqualTo(2 << 20);
    }

    @Test
    void memory_severalLimits_theSmallest() throws Exception {
        cgroup("a/memory.max", "8589934592");
        cgroup("a/b/memory.max", "4294967296");
        cgroup("a/b/c/memory.max", "6442450944");
        assertThat(memory("0::/a/b/c\n")).isEqualTo(4 << 20);
    }

    @Test
    void memory_containerWhosePathIsTheHosts_limitOfTheRoot() throws Exception {
        cgroup("memory.max", "1073741824");
        assertThat(memory("0::/kubepods/pod1/container1\n")).isEqualTo(1 << 20);
    }

    @Test
    void memory_cgroupsOfVersionOne_count() throws Exception {
        cgroup("memory/memory.limit_in_bytes", "9223372036854771712");
        cgroup("memory/job/memory.limit_in_bytes", "3221225472");
        assertThat(memory("5:cpu,cpuacct:/job\n4:memory:/job\n0::/\n")).isEqualTo(3 << 20);
    }

    @Test
    void processors_limitOfACgroup_countsAsWholeOnes() throws Exception {
        cgroup("a/cpu.max", "max 100000");
        cgroup("a/b/cpu.max", "50000 100000");
        assertThat(limit("processors", "0::/a/b\n")).isOne();
        assertThat(limit("processors", "0::/a\n"))
                .isEqualTo(limit("processors", ""))
                .isPositive();
    }

    private int memory(String processCgroups) throws Exception {
        return limit("memory_kib", processCgroups);
    }

    /** A value that bin/lib/memory.bash finds on a machine with 16 GiB; memory is in KiB. */
    private int limit(String which, String processCgroups) throws Exception {
        Path proc = Files.createDirectories(folder.resolve("proc/self"));
        Files.writeString(proc.resolveSibling("meminfo"), "MemTotal:       16777216 kB\nMemFree:  1 kB\n");
        Files.writeString(proc.resolve("cgroup"), processCgroups);
        Process process = new ProcessBuilder(
                        "bash", "-euc", "source home/bin/lib/memory.bash; find_limits proc cgroups; echo $" + which)
                .directory(folder.toFile())
                .start();
        return Integer.parseInt(outcome(process).out().strip());
    }

    private void cgroup(String file, String limit) throws IOException {
        Path path = folder.resolve("cgroups").resolve(file);
        Files.createDirectories(path.getParent());
        Files.writeString(path, limit + "\n");
    }

    /** The result of a run of the launcher. */
    private record Outcome(int exitCode, String out, String err) {}

    private Path stamp() {
        return aotCache.resolveSibling("penstock.aot.stamp");
    }

    private Path commandsCache() {
        return aotCache.resolveSibling("penstock.aot.commands");
    }

    private void java(String script) throws IOException {
        Files.writeString(java, "#!/bin/sh\n" + script + "\n");
        Files.setPosixFilePermissions(java, PosixFilePermissions.fromString("rwx------"));
    }

    /** A supervisor that does this with its arguments, the command of the mount. */
    private void supervisor(String script) throws IOException {
        Path supervisor = lib.resolveSibling("penstock-supervisor");
        Files.writeString(supervisor, "#!/bin/sh\n[ $# -gt 0 ] || exit 2\n" + script + "\n");
        Files.setPosixFilePermissions(supervisor, PosixFilePermissions.fromString("rwx------"));
    }

    private Outcome launch(String... arguments) throws Exception {
        return launch(Map.of(), arguments);
    }

    private Outcome launch(Map<String, String> onlyEnvironment, String... arguments) throws Exception {
        return outcome(start(onlyEnvironment, arguments));
    }

    /** @param onlyEnvironment the launcher's whole environment; if empty, this process's with the fake Java */
    private Process start(Map<String, String> onlyEnvironment, String... arguments) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(launcher.toString()).directory(folder.toFile());
        builder.command().addAll(List.of(arguments));
        if (onlyEnvironment.isEmpty()) {
            builder.environment().put("JAVA_HOME", folder.resolve("jdk").toString());
        } else {
            builder.environment().clear();
            builder.environment().putAll(onlyEnvironment);
        }
        return builder.start();
    }

    private static Outcome outcome(Process process) throws IOException, InterruptedException {
        try (var out = process.getInputStream();
                var err = process.getErrorStream()) {
            String said = new String(out.readAllBytes(), UTF_8);
            String complained = new String(err.readAllBytes(), UTF_8);
            assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
            return new Outcome(process.exitValue(), said, complained);
        }
    }

    private static ProcessHandle serving(Path pidFile) throws Exception {
        while (!Files.exists(pidFile) || Files.size(pidFile) == 0) {
            Thread.sleep(10);
        }
        return ProcessHandle.of(Long.parseLong(Files.readString(pidFile).strip()))
                .orElseThrow();
    }
}

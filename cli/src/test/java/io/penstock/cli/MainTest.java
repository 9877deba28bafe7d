package io.penstock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.settings.Setting;
import io.penstock.settings.Settings;
import io.penstock.settings.process.StandardOutput;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

class MainTest {
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    @TempDir
    private Path folder;

    @ParameterizedTest
    @ValueSource(
            strings = {
                "mount",
                "umount",
                "mounts",
                "stats",
                "doctor",
                "bench",
                "recover",
                "index",
                "index export",
                "config",
                "config check",
                "config show",
                "demo",
                "install",
                "train"
            })
    void help_ofEveryCommand_namesItAndFitsATerminal(String command) {
        assertThat(run((command + " --help").split(" ", -1))).isZero();
        assertThat(out.toString()).startsWith("Usage: penstock " + command);
        assertThat(out.toString().lines()).allMatch(line -> line.length() <= 80);
    }

    @ParameterizedTest
    @ValueSource(strings = {"warm", "evict", "unpin", "cache status"})
    void help_ofCommandsOfPaths_saysThatANameGoesBeforeAPattern(String command) {
        assertThat(run((command + " --help").split(" ", -1))).isZero();
        assertThat(out.toString().replaceAll("\\s+", " "))
                .contains("A name that exists is taken literally, not as a pattern");
    }

    /** A size, a time or another number that is out of bounds is refused, so the help must show the bounds. */
    @Test
    void help_ofSettings_hasTheBoundsOfNumbers() {
        assertThat(run("mount", "--help-all")).isZero();
        assertThat(out.toString().replaceAll("\\s+", " "))
                .contains(
                        "at most half of the machine's memory. Allowed: 64MiB or more. Default:",
                        "considered broken and the request is retried. Allowed: from 1ms to 10m. Default:",
                        "in multiples of 4MiB. Default: 8MiB.",
                        "The maximum number of concurrent GET requests. Allowed: from 1 to 4096. Default:",
                        "Bytes that the cache leaves free on its disk, whatever cache.size allows. Default: 2GiB.");
    }

    @ParameterizedTest
    @ValueSource(strings = {"mount", "doctor", "bench", "recover", "index export", "config show"})
    void help_ofCommandsWithSettings_hasTheMainOnesAndAllOnRequest(String command) {
        assertThat(run((command + " --help").split(" ", -1))).isZero();
        assertThat(out.toString())
                .contains("--endpoint", "--cache-size", "--help-all")
                .doesNotContain("--upload-parts");
        assertThat(out.toString().lines()).hasSizeLessThan(140);
        out.getBuffer().setLength(0);
        assertThat(run((command + " --help-all").split(" ", -1))).isZero();
        assertThat(out.toString())
                .contains(Settings.ALL.stream().map(Setting::optionName).toList());
    }

    /** Commands without --json, each with the reason. */
    private static final Map<String, String> WITHOUT_JSON = Map.of(
            "mount", "mounts --json tells of what it has mounted",
            "index export", "writes a file for programs",
            "demo", "is for a person",
            "install", "changes the machine, and says what",
            "train", "prints nothing for programs");

    /** A command is found by the name of its class; all others are left out. */
    @Test
    void commandLine_ofOneCommand_hasNoOther() {
        assertThat(Main.commandLine().getSubcommands().values())
                .map(command -> command.getCommandSpec().name())
                .allSatisfy(name -> assertThat(
                                Main.commandLine(name).getSubcommands().values())
                        .map(command -> command.getCommandSpec().name())
                        .containsOnly(name));
        assertThat(Main.commandLine("unmount").getSubcommands()).containsKeys("unmount", "mount");
        assertThat(Main.commandLine("--help").getSubcommands()).hasSizeGreaterThan(20);
    }

    static List<String> commands() {
        List<String> commands = new ArrayList<>();
        addCommands(Main.commandLine(), "", commands);
        return commands;
    }

    private static void addCommands(CommandLine parent, String prefix, List<String> to) {
        parent.getSubcommands().forEach((name, command) -> {
            if (command.getCommandSpec().usageMessage().hidden()
                    || !name.equals(command.getCommandSpec().name())) {
                return;
            } else if (command.getSubcommands().isEmpty()) {
                to.add(prefix + name);
            }
            addCommands(command, prefix + name + " ", to);
        });
    }

    @ParameterizedTest
    @MethodSource("commands")
    void help_ofEveryCommand_hasJsonOrAReasonWhyNot(String command) {
        assertThat(run((command + " --help").split(" ", -1))).isZero();
        assertThat(out.toString().contains("--json")).isNotEqualTo(WITHOUT_JSON.containsKey(command));
    }

    @Test
    void configShow_asJson_hasEachSettingWithItsOrigin() {
        assertThat(run("config", "show", "--json", "-o", "metadata.ttl=7s")).isZero();
        assertThat(out.toString())
                .startsWith("[{\"key\":")
                .contains("{\"key\":\"metadata.ttl\",\"value\":\"7s\",\"origin\":\"-o: option 'metadata.ttl=7s'\"}");
    }

    @Test
    void configCheck_asJson_isAnArrayOfTheMistakes() throws IOException {
        Path file = Files.writeString(folder.resolve("penstock.yaml"), "defaults: {metadata: {ttl: soon}}");
        assertThat(run("config", "check", file.toString(), "--json")).isEqualTo(2);
        assertThat(out.toString()).startsWith("[\"" + file + ":1").endsWith("\"]\n");
        Files.writeString(file, "defaults: {metadata: {ttl: 5s}}");
        out.getBuffer().setLength(0);
        assertThat(run("config", "check", file.toString(), "--json")).isZero();
        assertThat(out).hasToString("[]\n");
    }

    @Test
    void recover_asJson_isForTheListOnly() {
        String cache = folder.resolve("cache").toString();
        assertThat(run("recover", "bucket", "--cache", cache, "--json", "--discard"))
                .isEqualTo(2);
        assertThat(run("recover", "bucket", "--cache", cache, "--json")).isZero();
        assertThat(out).hasToString("[]\n");
    }

    @Test
    void help_ofAll_namesTheCommandsForUsersOnly() {
        assertThat(run("--help")).isZero();
        assertThat(out.toString())
                .contains(
                        "mount  ",
                        "umount, unmount  ",
                        "mounts  ",
                        "stats  ",
                        "config  ",
                        "demo  ",
                        "install  ",
                        "train  ",
                        "Exit codes (doctor, recover and umount have others: see their help):")
                .doesNotContain("mount-helper", "train-commands");
    }

    @Test
    void help_ofInstall_namesAllThatItMakes() {
        assertThat(run("install", "--help")).isZero();
        assertThat(out.toString())
                .contains(
                        "/usr/local/lib/penstock",
                        "/usr/local/bin/penstock",
                        "/sbin/mount.penstock",
                        "/sbin/mount.fuse.penstock");
    }

    @Test
    void help_ofTrain_hasNoParameterOfTheScript() {
        assertThat(run("train", "--help")).isZero();
        assertThat(out.toString()).startsWith("Usage: penstock train [OPTIONS]").doesNotContain("FILE");
    }

    @Test
    void mount_anySetting_isAnOption() {
        CommandLine mount = Main.commandLine().getSubcommands().get("mount");
        assertThat(mount).isNotNull();
        for (Setting<?> setting : Settings.ALL) {
            setting.names()
                    .forEach(name -> assertThat(mount.getCommandSpec().findOption("--" + name))
                            .as(name)
                            .isNotNull());
        }
    }

    @Test
    void mount_withoutMountPoint_usageError() {
        assertThat(run("mount", "data")).isEqualTo(ExitCode.USAGE);
        assertThat(err.toString())
                .isEqualTo(
                        "penstock: Missing required parameter: 'MOUNTPOINT'%nTry: penstock mount --help%n".formatted());
    }

    @Test
    void command_misspelt_nearestIsSuggested() {
        assertThat(run("mout", "data")).isEqualTo(ExitCode.USAGE);
        assertThat(err.toString()).contains("mount");
        assertThat(run("mount", "data", "/none", "--cash-size", "1GiB")).isEqualTo(ExitCode.USAGE);
        assertThat(err.toString()).contains("--cache-size");
    }

    @Test
    void mount_severalWrongOptions_allReported() {
        int exitCode =
                run("mount", "data", "/none", "--cache-size", "64", "--endpoint=host", "-o", "cash_size=1GiB,uid=ann");
        assertThat(exitCode).isEqualTo(ExitCode.USAGE);
        assertThat(err.toString().lines())
                .satisfiesExactlyInAnyOrder(
                        line -> assertThat(line)
                                .startsWith("penstock: option --cache-size: cache.size: invalid value '64'; expected"),
                        line -> assertThat(line)
                                .startsWith("penstock: option --endpoint: s3.endpoint: invalid value 'host'; expected"),
                        line -> assertThat(line)
                                .startsWith("penstock: -o: option 'cash_size=1GiB': cash_size: no such"),
                        line -> assertThat(line)
                                .startsWith("penstock: -o: option 'uid=ann': uid: invalid value 'ann'"));
    }

    @Test
    void mount_noBucketName_failsWithOneLine() {
        assertThat(run("mount", "/data", "/none")).isEqualTo(ExitCode.USAGE);
        assertThat(err.toString())
                .isEqualTo("penstock: invalid bucket '/data'; write BUCKET, BUCKET/PREFIX or s3://BUCKET/PREFIX%n"
                        .formatted());
    }

    @Test
    void mount_proxyWithoutPort_namesTheSettingAndWhatIsAllowed() {
        assertThat(run("mount", "data", "/none", "--s3-proxy", "http://proxy")).isEqualTo(ExitCode.USAGE);
        assertThat(err.toString())
                .startsWith("penstock: option --s3-proxy: s3.proxy: invalid value 'http://proxy'; expected a proxy's"
                        + " address with its port");
    }

    @ParameterizedTest
    @ValueSource(strings = {"0", "100000001", "many"})
    void demo_aNumberOfObjectsThatIsNone_usageError(String number) {
        assertThat(run("demo", "--objects", number)).isEqualTo(ExitCode.USAGE);
        assertThat(err.toString()).contains("--objects").contains(number);
    }

    @Test
    void demo_withoutATemporaryFolder_namesTheVariable() {
        String before = System.getProperty("java.io.tmpdir");
        Path none = folder.resolve("none");
        System.setProperty("java.io.tmpdir", none.toString());
        try {
            assertThat(run("demo")).isEqualTo(ExitCode.FAILED);
        } finally {
            System.setProperty("java.io.tmpdir", before);
        }
        assertThat(err.toString())
                .startsWith("penstock: no such file: " + none)
                .endsWith(" (temporary files are in " + none + "; set TMPDIR to another folder)"
                        + System.lineSeparator());
    }

    @Test
    void recover_noStagingFolder_saysWhereItLookedAndMakesNone() {
        Path none = folder.resolve("none");
        assertThat(run("recover", "data/a", "--cache", none.toString(), "--endpoint", "http://127.0.0.1:1"))
                .isZero();
        assertThat(out.toString())
                .isEqualTo(("No files are waiting in %s, which does not exist, for s3://data/a at http://127.0.0.1:1%n"
                                + "If the mount used --cache, --write-staging, --endpoint or --config, give the same"
                                + " options here%n")
                        .formatted(none.resolve("staging")));
        assertThat(none).doesNotExist();
        assertThat(run("recover", "data", "key", "--cache", none.toString())).isEqualTo(ExitCode.FAILED);
    }

    @Test
    void recover_aKeyThatWouldControlTheTerminal_isShownEscaped() {
        String none = folder.resolve("none").toString();
        assertThat(run("recover", "data", "red\u001b[31m\nline", "--cache", none))
                .isEqualTo(ExitCode.FAILED);
        assertThat(out.toString()).startsWith("'red\\u001b[31m\\u000aline': no file is waiting for this key");
    }

    @ParameterizedTest
    @ValueSource(strings = {"why -dash", "warm /none -dash", "recover data -dash"})
    void anyCommand_aNameThatBeginsWithADash_saysHowToWriteIt(String command) {
        assertThat(run(command.split(" ", -1))).isEqualTo(ExitCode.USAGE);
        assertThat(err.toString().lines())
                .contains("If -dash is a name, put -- before it; a path can also be written as ./-dash");
    }

    @ParameterizedTest
    @ValueSource(strings = {"mount data /none --chache x", "mounts -dash"})
    void anyCommand_anOptionThatIsMistyped_isNotTakenForAName(String command) {
        assertThat(run(command.split(" ", -1))).isEqualTo(ExitCode.USAGE);
        assertThat(err.toString()).doesNotContain("is a name");
    }

    @ParameterizedTest
    @ValueSource(strings = {"why -- -dash", "why ./-dash"})
    void why_aNameThatBeginsWithADashAsToldTo_isLookedFor(String command) {
        assertThat(run(command.split(" ", -1))).isEqualTo(ExitCode.FAILED);
        assertThat(err.toString()).contains("/-dash is not in a Penstock mount");
    }

    @ParameterizedTest
    @ValueSource(strings = {"warm", "evict", "unpin"})
    void commandOfPaths_withoutAMountPoint_saysThatItComesFirst(String command) {
        String path = folder.resolve("train").toString();
        assertThat(run((command + " " + path).split(" ", -1))).isEqualTo(ExitCode.USAGE);
        assertThat(err.toString())
                .startsWith("penstock: give a file or folder after the mount point (. for the whole mount)");
        assertThat(run((command + " " + path + " val").split(" ", -1))).isEqualTo(ExitCode.FAILED);
        assertThat(err.toString())
                .contains("penstock: nothing is mounted on " + path
                        + ", but the mount point must come first; penstock mounts lists the mounts");
    }

    @Test
    void doctor_pathWithoutAMount_saysThatNothingIsThere() {
        assertThat(run("doctor", folder.toString())).isEqualTo(ExitCode.FAILED);
        assertThat(err.toString())
                .isEqualTo("penstock: nothing is mounted on %s; penstock mounts lists the mounts%n".formatted(folder));
    }

    @Test
    void doctor_ofTheMachine_exitCodeIsOfTheWorstFinding() throws IOException {
        Path file = Files.createFile(folder.resolve("file"));
        int exitCode = run(
                "doctor", "--quick", "--json", "--cache", file.resolve("cache").toString(), "--anonymous");
        assertThat(exitCode).isPositive();
        assertThat(out.toString())
                .startsWith("[")
                .contains("could not be examined: " + file + " is not a folder")
                .contains("s3.anonymous is set without read-only");
    }

    @Test
    void doctor_wrongSetting_isRefusedAsForAMount() {
        assertThat(run("doctor", "data", "--cache-size", "64")).isEqualTo(ExitCode.USAGE);
        assertThat(err.toString()).contains("cache.size: invalid value '64'");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "bench | give a BUCKET, or a folder with --mount or --against",
                "bench data --mount /mnt | BUCKET and --mount cannot be combined",
                "bench data --threads 0 | --threads 0: must be a number from 1 to 256",
                "bench data --seconds 4000 | --seconds 4000: must be a number from 1 to 3600",
                "bench data --small-files 0 | --small-files 0: must be a number from 1 to 100000",
                "bench data --size 5 | --size 5: must be a size with its unit such as 512MiB, of at least 1MiB",
                "bench data --small-size 5MiB | --small-size 5MiB: must be a size with its unit such as 512MiB, from"
                        + " 1B to 4MiB",
                "bench data --cache-size 64 | option --cache-size: cache.size: invalid value '64'",
                "bench --mount /none --cache-size 1GiB | --cache-size and --mount cannot be combined: the mount has"
                        + " its own settings",
                "bench --mount /none -o cache_size=1GiB | -o and --mount cannot be combined",
                "bench --mount /none --config /none | --config and --mount cannot be combined"
            })
    void bench_wrongUsage_saysWhatIsAllowed(String command, String message) {
        assertThat(run(command.split(" ", -1))).isEqualTo(ExitCode.USAGE);
        assertThat(err.toString()).startsWith("penstock: " + message);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "bench --against /none | --against /none: no such folder",
                "bench --mount /none | nothing is mounted on /none; penstock mounts lists the mounts",
                "bench data --read-only | read-only is set, but the benchmark writes"
            })
    void bench_nothingToMeasure_failsWithOneLine(String command, String message) {
        assertThat(run(command.split(" ", -1))).isEqualTo(ExitCode.FAILED);
        assertThat(err.toString()).isEqualTo("penstock: " + message + System.lineSeparator());
    }

    @Test
    void indexExport_whereNoFileCanBe_saysSoBeforeItListsAnything() {
        Path file = folder.resolve("none").resolve("index.parquet");
        assertThat(run("index", "export", "data/a", file.toString(), "--anonymous"))
                .isEqualTo(ExitCode.FAILED);
        assertThat(err.toString())
                .startsWith("penstock: the index cannot be written to " + file + ": no such file: ")
                .hasLineCount(1);
    }

    @Test
    void indexExport_wrongOption_isRefusedAsForAMount() {
        assertThat(run("index", "export", "data", "/none/index", "--metadata-list-concurrency", "0"))
                .isEqualTo(ExitCode.USAGE);
        assertThat(err.toString()).contains("metadata.list-concurrency");
    }

    @Test
    void mountHelper_failure_exitCodeThatMountExpects() {
        assertThat(run("mount-helper", "data", "/none", "-o", "rw")).isEqualTo(ExitCode.MOUNT_FAILURE);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "set /none readahead.concurrency=0",
                "set /none memry=1GiB",
                "set /none noatime",
                "set /none cache.dir=/b",
                "warm /none",
                "warm /none a --status",
                "warm /none --cancel 1 --pin",
                "evict /none",
                "unpin /none",
                "mount s3:// /none"
            })
    void command_thatIsWrongWhateverIsMounted_usageError(String line) {
        assertThat(run(line.split(" ", -1))).isEqualTo(ExitCode.USAGE);
        assertThat(err.toString()).startsWith("penstock: ").doesNotContain("penstock: penstock");
    }

    @Test
    void mountHelper_fakeAsMountCallsIt_nothingMounted() {
        assertThat(run("mount-helper", "data", "/none", "-sfnv", "-o", "rw,_netdev,cache_size=1GiB"))
                .isZero();
        assertThat(err.toString()).isEmpty();
    }

    @Test
    void mountHelper_wrongOption_namesTheMountPoint() {
        assertThat(run("mount-helper", "data", "/none", "-o", "rw,cache_size=1"))
                .isEqualTo(ExitCode.USAGE);
        assertThat(err.toString())
                .startsWith("penstock: mount of /none: option 'cache_size=1': cache.size: invalid value '1'");
    }

    @Test
    void configShow_options_valueAndOrigin() throws IOException {
        Path file = Files.writeString(folder.resolve("p.yaml"), "defaults:\n  uid: 7\n  gid: 8\n");
        assertThat(run("config", "show", "data", "--config", file.toString(), "--path-style", "-o", "gid=9"))
                .isZero();
        String shown = out.toString().replaceAll("\\s+# ", " # ");
        assertThat(shown)
                .contains(
                        "uid: 7 # " + file + ":2 (defaults)",
                        "gid: 9 # -o: option 'gid=9'",
                        "s3.path-style: true # option --path-style")
                .containsSubsequence("gid: 9", "# defaults", "cache.size: 64GiB\n")
                .contains(Settings.ALL.stream()
                        .map(setting -> setting.key() + ": ")
                        .toList());
        assertThat(out.toString().lines()).allMatch(line -> line.length() <= 100 || line.contains(file.toString()));
    }

    @ParameterizedTest
    @ValueSource(strings = {"data", "data/a", "s3://data/a"})
    void configShow_aBucketOrAFolderInIt_hasTheBucketsSettings(String source) throws IOException {
        Path file = Files.writeString(folder.resolve("p.yaml"), "buckets: {data: {uid: 7}}\n");
        assertThat(run("config", "show", source, "--config", file.toString())).isZero();
        assertThat(out.toString()).containsPattern("uid: 7\\s+# " + file + ":1 \\(buckets.data\\)");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "config show -o s3.proxy=http://me:S3cr3tPw@proxy:3128",
                "config show -o s3_secret_key=S3cr3tPw",
                "config show --s3-proxy http://me:S3cr3tPw@proxy:3128",
                "config show --s3-proxy me:S3cr3tPw@proxy:3128",
                "config show --endpoint https://me:S3cr3t/Pw@host",
                "config show --metrics-otlp https://h/v1?api_key=S3cr3tPw",
                "config show --json --metrics-otlp https://h/v1?token=S3cr3tPw",
                "config show --profile aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaS3cr3tPw",
                "config check FILE",
                "config check FILE --json",
                "config show --config FILE --json",
                "doctor data --quick --config FILE",
                "mount data /none --secret-key S3cr3tPw",
                "mount data /none --s3-secret-key=S3cr3tPw",
                "mount data /none --endpoint http://me:S3cr3tPw@host",
                "mount https://h/k?X-Amz-Signature=S3cr3tPw&X-Amz-Date=1 /none",
                "mount-helper data /none -o s3_proxy=me:S3cr3tPw@proxy:1",
                "recover data --endpoint http://me:S3cr3tPw@host",
                "bench data --s3-proxy http://me:S3cr3tPw@proxy:1",
                "set /none s3.proxy=http://me:S3cr3tPw@proxy:1",
                "why https://h/k?X-Amz-Security-Token=S3cr3tPw",
                "http://me:S3cr3tPw@host"
            })
    void anyCommand_aSecretAmongItsValues_isNotPrinted(String command) throws IOException {
        Path file = Files.writeString(
                folder.resolve("p.yaml"),
                "defaults: {s3: {proxy: 'http://me:S3cr3t@Pw@proxy:1', endpoint: 'me:S3cr3tPw@h:1', secret-key:"
                        + " S3cr3tPw}, metrics: {otlp: 'http://me:S3cr3tPw@h'}, cache: 'http://me:S3cr3tPw@h'}\n");
        run(command.replace("FILE", file.toString()).split(" ", -1));
        assertThat(out + "" + err).isNotEmpty().doesNotContain("S3cr3t", "Pw");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "help | no such command: 'help'; did you mean penstock --help?",
                "version | no such command: 'version'; did you mean penstock --version?",
                "ls | no such command: 'ls'; did you mean penstock mounts?",
                "list | no such command: 'list'; did you mean penstock mounts?",
                "status | no such command: 'status'; did you mean penstock mounts?",
                "mout a | no such command: 'mout'; did you mean penstock mount?",
                "nosuch | no such command: 'nosuch'",
                "cache stat | no such command: 'stat'; did you mean penstock cache status?",
                "stats a b | unexpected argument: 'b'",
                "set /none cache.sze=1GiB | set: option 'cache.sze=1GiB': cache.sze: no such option; did you mean"
                        + " cache.size?",
                "set /none cache-sze=1GiB | set: option 'cache-sze=1GiB': cache-sze: no such option; did you mean"
                        + " cache-size?",
                "mount a b --verbose | no such option: --verbose; use --log-level=debug",
                "mount a b --umask=022 | no such option: --umask; use --file-mode=0644 and dir-mode=0755, which are"
                        + " modes, not masks",
                "mount data /none -o nonempty | -o: option 'nonempty': nonempty: no such option: a mount point must be"
                        + " an empty folder",
                "mount data /none -o secret_key=x | -o: option 'secret_key=***': secret_key: no such option:"
                        + " credentials are not settings; Penstock reads them from AWS_ACCESS_KEY_ID and"
                        + " AWS_SECRET_ACCESS_KEY, from ~/.aws/credentials (s3.profile) or from a role"
            })
    void wrongUsage_wordsOfOtherPrograms_namesTheEquivalent(String command, String message) {
        assertThat(run(command.split(" ", -1))).isEqualTo(ExitCode.USAGE);
        assertThat(err.toString().lines()).first().isEqualTo("penstock: " + message);
    }

    @Test
    void configCheck_goodAndBad_exitCodeTells() throws IOException {
        Path good = Files.writeString(folder.resolve("good.yaml"), "defaults: {uid: 7}\n");
        assertThat(run("config", "check", good.toString())).isZero();
        assertThat(out.toString()).isEqualTo(good + ": no errors" + System.lineSeparator());
        Path bad = Files.writeString(folder.resolve("bad.yaml"), "defaults: {uid: ann, git: 1}\n");
        assertThat(run("config", "check", bad.toString())).isEqualTo(ExitCode.USAGE);
        assertThat(err.toString().lines()).hasSize(2).allMatch(line -> line.startsWith("penstock: " + bad + ":1"));
    }

    @Test
    void told_aFullDisk_isAFailureInALine() throws IOException {
        try (OutputStream full = new FileOutputStream("/dev/full")) {
            StandardOutput output = new StandardOutput(full);
            output.stream().println("lost");
            assertThat(Main.told(ExitCode.DONE, output, new PrintWriter(err, true)))
                    .isEqualTo(ExitCode.FAILED);
            assertThat(err.toString())
                    .isEqualTo("penstock: the output cannot be written: No space left on device%n".formatted());
        }
    }

    private int run(String... args) {
        return Main.commandLine()
                .setOut(new PrintWriter(out, true))
                .setErr(new PrintWriter(err, true))
                .execute(args);
    }
}

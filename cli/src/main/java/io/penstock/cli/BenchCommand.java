package io.penstock.cli;

import io.penstock.objectstore.ObjectStoreException;
import io.penstock.serve.log.Logging;
import io.penstock.serve.mount.StopSignal;
import io.penstock.serve.mount.Target;
import io.penstock.settings.ByteSizes;
import io.penstock.settings.Configuration;
import io.penstock.settings.ConfigurationException;
import io.penstock.settings.Host;
import io.penstock.settings.LogLevel;
import io.penstock.settings.Settings;
import io.penstock.settings.process.RefusedException;
import io.penstock.tools.bench.Bench;
import io.penstock.tools.bench.Output;
import io.penstock.tools.bench.Workload;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

@Command(
        name = "bench",
        description = {
            "Measures the bucket and the disk, and compares a mount's rates with theirs.",
            "",
            "With a bucket, it makes a temporary mount with an empty cache next to cache.dir. With --mount, it"
                    + " measures a running mount with that mount's settings and cache; with --against, any folder, with"
                    + " the same work. All bytes read are compared with those written, and all files are removed"
                    + " afterwards, even after Ctrl-C.",
            "",
            "Takes about 40 seconds. Without --mount, it accepts the same options as penstock mount."
        },
        footer = {
            "",
            "Examples:",
            "  penstock bench my-bucket",
            "  penstock bench my-bucket --cache /nvme/penstock --size 8GiB --seconds 30",
            "  penstock bench --mount /mnt/data --json",
            "  penstock bench my-bucket --against /mnt/other-client",
            "  penstock bench --against /nvme"
        })
final class BenchCommand implements Callable<Integer> {
    private static final long MIB = 1L << 20;
    private static final long QUICK_SIZE = 128 * MIB;
    private static final long SIZE = 1024 * MIB;
    private static final int QUICK_FILES = 200;
    private static final int FILES = 1000;
    private static final int QUICK_SECONDS = 2;
    private static final int SECONDS = 5;

    @Spec
    private CommandSpec spec;

    @Parameters(
            paramLabel = "BUCKET[/PREFIX]",
            arity = "0..1",
            description = "The bucket to measure; the credentials must allow writes.")
    private @Nullable String bucket;

    @Option(
            names = "--mount",
            paramLabel = "MOUNTPOINT",
            description = "Measure this Penstock mount and its bucket, instead of a temporary mount.")
    private @Nullable String mount;

    @Option(
            names = "--against",
            paramLabel = "PATH",
            description = "Measure this folder: another file system's mount, or a local disk.")
    private @Nullable String against;

    @Option(
            names = "--size",
            paramLabel = "<size>",
            description = "The maximum size of the large file. Default: 1GiB, with --quick 128MiB.")
    private @Nullable String size;

    @Option(
            names = "--small-files",
            paramLabel = "<n>",
            description = "The maximum number of small files, 1 to 100000. Default: 1000, with --quick 200.")
    private @Nullable Integer smallFiles;

    @Option(
            names = "--small-size",
            paramLabel = "<size>",
            defaultValue = "128KiB",
            description = "The size of a small file, up to 4MiB. Default: 128KiB.")
    private String smallSize;

    @Option(
            names = "--threads",
            paramLabel = "<n>",
            defaultValue = "16",
            description = "The number of small files written or read in parallel, 1 to 256. Default: 16. One thread"
                    + " writes and reads the large file.")
    private int threads;

    @Option(
            names = "--seconds",
            paramLabel = "<n>",
            description = "The time in seconds after which a step starts nothing new, 1 to 3600. Default: 5, with"
                    + " --quick 2.")
    private @Nullable Integer seconds;

    @Option(names = "--quick", description = "Smaller workload: about 20 seconds, with results that vary more.")
    private boolean quick;

    @Option(names = "--json", description = "Print a JSON object at the end.")
    private boolean json;

    @Mixin
    private ConfigurationArguments arguments;

    @Override
    public Integer call()
            throws IOException, RefusedException, ConfigurationException, ObjectStoreException, InterruptedException {
        Workload workload = workload();
        Bench.Plan plan = plan();
        Logging.toTerminal(LogLevel.ERROR); // exceptions report the failures
        try (StopSignal stop = new StopSignal()) {
            try {
                new Bench(plan, workload, output()).run();
                return ExitCode.DONE;
            } catch (RefusedException | ObjectStoreException e) {
                if (stop.isStopping()) {
                    return ExitCode.FAILED; // the signal is the reason
                }
                throw e;
            }
        }
    }

    private Output output() {
        Output.Form form = json ? Output.Form.JSON : Ansi.AUTO.enabled() ? Output.Form.TERMINAL : Output.Form.LINES;
        return new Output(spec.commandLine().getOut(), spec.commandLine().getErr(), form);
    }

    private Workload workload() {
        long large = bytes("--size", size, quick ? QUICK_SIZE : SIZE, MIB, Long.MAX_VALUE);
        return new Workload(
                large / MIB * MIB,
                number("--small-files", smallFiles, quick ? QUICK_FILES : FILES, 100_000),
                (int) bytes("--small-size", smallSize, 0, 1, Workload.LARGEST_SMALL),
                number("--threads", threads, threads, 256),
                Duration.ofSeconds(number("--seconds", seconds, quick ? QUICK_SECONDS : SECONDS, 3600)));
    }

    private int number(String option, @Nullable Integer given, int otherwise, int most) {
        int number = given == null ? otherwise : given;
        if (number < 1 || number > most) {
            throw new ParameterException(
                    spec.commandLine(), option + " " + number + ": must be a number from 1 to " + most);
        }
        return number;
    }

    private long bytes(String option, @Nullable String given, long otherwise, long least, long most) {
        Long bytes = given == null ? Long.valueOf(otherwise) : ByteSizes.parse(given);
        if (bytes == null || bytes < least || bytes > most) {
            String range = most == Long.MAX_VALUE
                    ? "of at least " + ByteSizes.print(least)
                    : "from " + ByteSizes.print(least) + " to " + ByteSizes.print(most);
            throw new ParameterException(
                    spec.commandLine(),
                    option + " " + given + ": must be a size with its unit such as 512MiB, " + range);
        }
        return bytes;
    }

    private Bench.Plan plan() throws IOException, RefusedException, ConfigurationException {
        if (bucket == null && mount == null && against == null) {
            throw new ParameterException(spec.commandLine(), "give a BUCKET, or a folder with --mount or --against");
        } else if (bucket != null && mount != null) {
            throw new ParameterException(
                    spec.commandLine(), "BUCKET and --mount cannot be combined: --mount measures the mount's bucket");
        }
        String given = arguments.given(spec.commandLine().getParseResult());
        if (mount != null && given != null) {
            throw new ParameterException(
                    spec.commandLine(), given + " and --mount cannot be combined: the mount has its own settings");
        }
        List<Bench.Measured> measured = new ArrayList<>();
        Target target = bucket == null ? null : Target.parse(bucket);
        Configuration configuration;
        if (mount != null) {
            ServingMount serving = ServingMount.find(mount);
            target = Target.parse(serving.mount().source());
            configuration = serving.configuration(target.bucket());
            measured.add(new Bench.Measured.Mounted(serving.mount()));
        } else {
            configuration = arguments.resolve(
                    target == null ? "BUCKET" : target.bucket(),
                    spec.commandLine().getParseResult(),
                    "-o");
        }
        if (against != null) {
            measured.add(new Bench.Measured.Folder(folder(against)));
        } else if (mount == null) {
            measured.add(new Bench.Measured.OwnMount());
        }
        if (target != null && configuration.get(Settings.READ_ONLY)) {
            throw new RefusedException(
                    "read-only is set, but the benchmark writes" + configuration.whereSet(List.of(Settings.READ_ONLY)));
        }
        return new Bench.Plan(target, configuration, List.copyOf(measured));
    }

    private static Path folder(String text) throws IOException, RefusedException {
        Path path = Host.current().path(text);
        ServingMount.Mounts.read().refuseIfStopped(path);
        if (!Files.isDirectory(path)) {
            throw new RefusedException("--against " + path + ": no such folder");
        }
        return path;
    }
}

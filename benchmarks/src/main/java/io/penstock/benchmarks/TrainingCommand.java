package io.penstock.benchmarks;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
        name = "train",
        sortOptions = false,
        description = {
            "Loads data by MLPerf's dlio_benchmark, for accelerators that sleep instead of computing, and finds how"
                    + " many of them a mount keeps as busy as MLPerf Storage requires.",
            "",
            "docs/BENCHMARKS.md explains the workloads and the columns."
        })
final class TrainingCommand implements Callable<Integer> {
    private static final String HEAD = """
        | workload | data | accelerators kept | measured at | AU % | steps | MiB/s | samples/s | client's cores\
         | kept by a core |
        |---|---|--:|--:|--:|--:|--:|--:|--:|--:|
        """;

    /** With fewer steps for each accelerator, no number of them is tried. */
    private static final int LEAST_STEPS = 2;

    @Option(
            names = "--workload",
            split = ",",
            paramLabel = "<name>",
            description = "unet3d_a100, unet3d_h100, unet3d_b200, resnet50_a100, resnet50_h100, cosmoflow_a100,"
                    + " cosmoflow_h100, retinanet_b200; a name without its accelerator is the slowest one's."
                    + " Default: resnet50, cosmoflow, which DLIO loads without torch.")
    private List<String> workloads = List.of("resnet50", "cosmoflow");

    @Option(
            names = "--dlio",
            paramLabel = "<program>",
            defaultValue = "${sys:user.home}/.cache/penstock/python/dlio/bin/dlio_benchmark",
            description = "dlio_benchmark 2.0.0, with mpiexec next to it. Default: ${DEFAULT-VALUE}, which bin/bench"
                    + " installs.")
    private Path program;

    @Option(
            names = "--against",
            paramLabel = "<folder>",
            description = "Measure this folder instead, of another client's mount or a disk. The files are written into"
                    + " it, unless it has them, and removed afterwards.")
    private @Nullable Path against;

    @Option(
            names = "--pid",
            paramLabel = "<pid>",
            description = "With --against: the process of the client, whose CPU time counts.")
    private @Nullable Long pid;

    @Option(names = "--keep", description = "With --against: leave the files there, for another run.")
    private boolean keep;

    @Option(
            names = "--accelerators",
            paramLabel = "<n>",
            description = "The number of accelerators to measure. Default: the largest number that is kept busy.")
    private @Nullable Integer accelerators;

    @Option(
            names = "--files",
            paramLabel = "<n>",
            description = "Files of each data set. Default: 84 for unet3d (12 GB), 64 for resnet50 (9 GB), 2000 for"
                    + " cosmoflow (6 GB), 8000 for retinanet (1.5 GB).")
    private @Nullable Integer files;

    @Option(
            names = "--seconds",
            paramLabel = "<n>",
            defaultValue = "10",
            description = "Time for which the accelerators compute in an epoch, if there are files enough. Default:"
                    + " ${DEFAULT-VALUE}.")
    private int seconds;

    @Option(names = "--only", split = ",", paramLabel = "<data>", description = "cold, nvme. Default: both.")
    private Set<State> only = EnumSet.allOf(State.class);

    @Mixin
    private ServerOptions servers;

    @Option(
            names = "--prefix",
            paramLabel = "<prefix>",
            defaultValue = "penstock-bench-train",
            description = "The folder of the objects in the bucket; missing ones are written through a mount and stay"
                    + " there. Default: ${DEFAULT-VALUE}.")
    private String prefix;

    @Mixin
    private PlaceOptions place;

    /** Where the data comes from. */
    private enum State {
        COLD,
        NVME
    }

    @Override
    public Integer call() throws Exception {
        List<TrainWorkload> chosen = new ArrayList<>();
        for (String name : workloads) {
            chosen.add(TrainWorkload.of(name));
        }
        check();
        long largest = chosen.stream()
                .mapToLong(workload -> fileCount(workload) * workload.model().fileBytes())
                .max()
                .orElseThrow();
        StringBuilder text = new StringBuilder();
        // The server has the data sets; a mount has one of them, in its staging folder or in its cache.
        try (BenchRun run = BenchRun.open(place, against == null ? (chosen.size() + 1) * largest : 0)) {
            TrainPlace measured;
            String what;
            if (against != null) {
                what = against.toString();
                measured = run.resources().add(new TrainPlace.Folder(against.toRealPath(), client(), keep));
            } else {
                S3Target server = servers.open(run);
                what = server.name();
                measured = new TrainPlace.Mounted(new BenchFolder(run, server, servers.bucket(), prefix));
            }
            text.append(heading(what, run.machine())).append("\n\n").append(HEAD);
            System.err.println(heading(what, run.machine()));
            Dlio dlio = new Dlio(
                    program, run.scratch().folder("dlio"), run.scratch().folder("dlio-tools"));
            for (TrainWorkload workload : chosen) {
                measure(workload, measured, dlio, text);
            }
        }
        place.publish("train", text.toString());
        return 0;
    }

    private void check() throws BenchException {
        atLeastOne("--accelerators", accelerators);
        atLeastOne("--files", files);
        atLeastOne("--seconds", seconds);
        if (against == null && (pid != null || keep)) {
            throw new BenchException((keep ? "--keep" : "--pid") + ": is for --against");
        }
        if (against != null && (!Files.isDirectory(against) || !Files.isWritable(against))) {
            throw new BenchException("--against " + against + ": must be a writable folder");
        }
        if (against != null && accelerators == null && only.equals(EnumSet.of(State.COLD))) {
            throw new BenchException("--against " + against + ": a folder is cold once, give --accelerators");
        }
        if (!Files.isExecutable(program)) {
            throw new BenchException(
                    "--dlio " + program + ": there is no such program; docs/BENCHMARKS.md says how to install it");
        }
    }

    private static void atLeastOne(String option, @Nullable Integer value) throws BenchException {
        if (value != null && value < 1) {
            throw new BenchException(option + " " + value + ": must be 1 or more");
        }
    }

    private OptionalLong client() throws BenchException {
        if (pid == null) {
            return OptionalLong.empty();
        }
        if (ProcessHandle.of(pid).isEmpty()) {
            throw new BenchException("--pid " + pid + ": there is no such process");
        }
        return OptionalLong.of(pid);
    }

    private int fileCount(TrainWorkload workload) {
        return files != null ? files : workload.model().defaultFiles();
    }

    private String heading(String what, Conditions machine) {
        return String.format(
                Locale.ROOT,
                "`bin/bench train` on %s, %s. Kernel caches %s before each epoch. Mount options: %s.",
                what,
                machine.describe(),
                KernelCaches.canBeDropped() ? "dropped" : "NOT DROPPED, for lack of root's rights,",
                place.settings());
    }

    private void measure(TrainWorkload workload, TrainPlace measured, Dlio dlio, StringBuilder text) throws Exception {
        TrainWorkload.Model model = workload.model();
        int count = fileCount(workload);
        int limit = count;
        while (limit > 0 && model.steps(count, limit) < LEAST_STEPS) {
            limit--;
        }
        if (limit < (accelerators == null ? 1 : accelerators)) {
            throw new BenchException("--files " + count + ": too few for " + workload.label());
        }
        Path root = measured.begin(model);
        int there = Dlio.files(root, model);
        if (against != null && there > 0 && there < count) {
            throw new BenchException("--against " + root + ": has " + there + " files of " + model.label() + ", not "
                    + count + "; give --files " + there + ", or remove them");
        }
        if (there < count) {
            dlio.generate(workload, root, count);
        }
        for (State state : only) {
            if (state == State.NVME || measured.hasCold() || accelerators != null) {
                text.append(measure(workload, measured, dlio, limit, state));
            }
        }
        measured.end(model);
    }

    /** One number of accelerators. */
    private record Run(
            int accelerators, int steps, Dlio.Result result, double mibPerSecond, OptionalDouble clientCores) {}

    private String measure(TrainWorkload workload, TrainPlace measured, Dlio dlio, int limit, State state)
            throws Exception {
        String data = switch (state) {
            case COLD -> measured.hasCold() ? "cold" : "first epoch";
            case NVME -> measured.hasCold() ? "from NVMe" : "later epochs";
        };
        System.err.printf("%s, %s%n", workload.label(), data);
        Map<Integer, Run> runs = new HashMap<>();
        TrainSearch.Probe probe = number -> {
            Run run = run(workload, measured, dlio, number, state);
            runs.put(number, run);
            System.err.printf(
                    Locale.ROOT,
                    "  %3d: AU %5.1f %%, %,.0f MiB/s%n",
                    number,
                    run.result().percent(),
                    run.mibPerSecond());
            return run.result().enough();
        };
        Integer one = accelerators;
        TrainSearch found;
        if (one == null) {
            found = TrainSearch.find(limit, probe);
        } else {
            found = probe.keeps(one) ? new TrainSearch(one, true) : new TrainSearch(0, false);
        }
        Run shown = Objects.requireNonNull(runs.get(one != null ? one : Math.max(found.most(), 1)));
        return line(workload, data, found, shown);
    }

    private Run run(TrainWorkload workload, TrainPlace measured, Dlio dlio, int number, State state) throws Exception {
        int count = fileCount(workload);
        int steps = Math.min(workload.steps(seconds), workload.model().steps(count, number));
        Path root = state == State.COLD ? measured.cold() : measured.cached(workload.model());
        OptionalLong client = measured.client();
        long before = client.isPresent() ? ProcessUsage.of(client.getAsLong()).cpuTicks() : 0;
        Dlio.Result result = dlio.train(workload, root, count, number, steps);
        OptionalDouble cores = OptionalDouble.empty();
        if (client.isPresent()) {
            double cpu = (ProcessUsage.of(client.getAsLong()).cpuTicks() - before) / ProcessUsage.TICKS_PER_SECOND;
            // Over the time in which the accelerators trained: without the start of the program.
            cores = OptionalDouble.of(
                    cpu * result.samplesPerSecond() / (number * workload.model().samples(steps)));
        }
        return new Run(
                number,
                steps,
                result,
                result.samplesPerSecond() * workload.model().sampleMib(),
                cores);
    }

    private static String line(TrainWorkload workload, String data, TrainSearch found, Run run) {
        OptionalDouble kept = run.clientCores().isPresent() && run.clientCores().getAsDouble() > 0
                ? OptionalDouble.of(found.most() / run.clientCores().getAsDouble())
                : OptionalDouble.empty();
        return "| "
                + String.join(
                        " | ",
                        workload.label(),
                        data,
                        (found.limited() ? "≥ " : "") + found.most(),
                        Integer.toString(run.accelerators()),
                        String.format(Locale.ROOT, "%.1f", run.result().percent()),
                        Integer.toString(run.steps()),
                        ReportFigures.significant(run.mibPerSecond()),
                        ReportFigures.significant(run.result().samplesPerSecond()),
                        ReportFigures.optional(run.clientCores()),
                        ReportFigures.optional(kept))
                + " |\n";
    }
}

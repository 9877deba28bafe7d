package io.penstock.benchmarks;

import io.penstock.objectstore.ObjectStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
        name = "train",
        sortOptions = false,
        description = {
            "Loads data as the training programs of MLPerf Storage do, for accelerators that sleep instead of"
                    + " computing, and finds how many of them a mount keeps as busy as MLPerf requires.",
            "",
            "docs/BENCHMARKS.md explains the workloads and the columns."
        })
final class TrainingCommand implements Callable<Integer> {
    @Option(
            names = "--workload",
            split = ",",
            paramLabel = "<name>",
            description = "unet3d_a100, unet3d_h100, unet3d_b200, resnet50_a100, resnet50_h100, cosmoflow_a100,"
                    + " cosmoflow_h100, retinanet_b200; a name without its accelerator is the slowest one's."
                    + " Default: unet3d, resnet50, cosmoflow, retinanet.")
    private List<String> workloads = new ArrayList<>();

    @Option(
            names = "--against",
            paramLabel = "<folder>",
            description = "Measure this folder instead, of another client's mount or a disk. The files are written into"
                    + " it, unless it has them, and removed afterwards.")
    private @Nullable Path against;

    @Option(
            names = "--pid",
            paramLabel = "<pid>",
            description = "With --against: the process of the client, whose CPU time is to be counted.")
    private @Nullable Long pid;

    @Option(names = "--keep", description = "With --against: leave the files there, for another run.")
    private boolean keep;

    @Option(
            names = "--accelerators",
            paramLabel = "<n>",
            description = "Measure so many. Default: find the greatest number that is kept busy.")
    private @Nullable Integer accelerators;

    @Option(
            names = "--epochs",
            paramLabel = "<n>",
            defaultValue = "2",
            description = "The first epoch is cold; the others are read from the cache, and averaged. 1: only a cold"
                    + " one. Default: ${DEFAULT-VALUE}.")
    private int epochs;

    @Option(
            names = "--files",
            paramLabel = "<n>",
            description = "Files of each data set. Default: 84 for unet3d (12 GB), 64 for resnet50 (9 GB), 2000 for"
                    + " cosmoflow (6 GB), 8000 for retinanet (3 GB).")
    private @Nullable Integer files;

    @Option(
            names = "--seconds",
            paramLabel = "<n>",
            defaultValue = "3",
            description = "Time for which the accelerators compute in an epoch, if there are files enough. Default:"
                    + " ${DEFAULT-VALUE}.")
    private int seconds;

    @Option(
            names = "--exclude-steps",
            paramLabel = "<n>",
            description = "Steps at the start that do not count. DLIO has 1. Default: twice the batches that a loader"
                    + " reads ahead.")
    private @Nullable Integer excluded;

    @Option(
            names = "--only",
            split = ",",
            paramLabel = "<data>",
            description = "cold, nvme, checkpoints. Default: all.")
    private List<TrainBenchmark.State> only = List.of(TrainBenchmark.State.values());

    @Option(
            names = "--checkpoint-scale",
            paramLabel = "<n>",
            defaultValue = "32",
            description = "A checkpoint of llama3 8B (112 GB) is divided by it. Default: ${DEFAULT-VALUE}.")
    private int checkpointScale;

    @Mixin
    private ServerOptions servers;

    @Option(
            names = "--prefix",
            paramLabel = "<prefix>",
            defaultValue = "penstock-bench-train",
            description = "The folder of the objects in the bucket; missing ones are uploaded and stay there. Default:"
                    + " ${DEFAULT-VALUE}.")
    private String prefix;

    @Mixin
    private PlaceOptions place;

    @Override
    public Integer call() throws Exception {
        Path home = Path.of(System.getProperty("penstock.home", ".")).toRealPath();
        List<TrainWorkload> chosen = workloads();
        TrainBenchmark.Options options = options();
        TrainTable table = new TrainTable();
        String heading;
        try (Resources resources = new Resources()) {
            TrainTarget target;
            Conditions machine;
            String what;
            if (against != null) {
                Path folder = folder(against);
                TrainFolder measured = resources.add(new TrainFolder(folder, client(), keep));
                target = measured;
                machine = Conditions.current(home, folder);
                what = folder.toString();
            } else {
                Scratch scratch = resources.add(place.openScratch(needed(chosen)));
                machine = Conditions.current(home, scratch.root());
                S3Target server = servers.open(scratch, resources);
                target = mount(home, server, scratch, resources);
                what = server.name();
            }
            heading = heading(what, machine);
            System.err.println(heading);
            TrainBenchmark benchmark = new TrainBenchmark(target, options, table);
            for (TrainWorkload workload : chosen) {
                benchmark.run(workload, data(workload));
            }
        }
        place.publish(home, "train", heading + "\n\n" + table.markdown());
        return 0;
    }

    private List<TrainWorkload> workloads() throws BenchException {
        List<TrainWorkload> chosen = new ArrayList<>();
        for (String name : workloads) {
            chosen.add(TrainWorkload.of(name));
        }
        return chosen.isEmpty() ? TrainWorkload.defaults() : chosen;
    }

    private TrainBenchmark.Options options() throws BenchException {
        atLeast("--accelerators", accelerators, 1);
        atLeast("--epochs", epochs, 1);
        atLeast("--files", files, 1);
        atLeast("--seconds", seconds, 1);
        atLeast("--exclude-steps", excluded, 1);
        atLeast("--checkpoint-scale", checkpointScale, 1);
        if (against == null && (pid != null || keep)) {
            throw new BenchException((keep ? "--keep" : "--pid") + ": is for --against");
        }
        EnumSet<TrainBenchmark.State> states = EnumSet.copyOf(only);
        if (epochs == 1) {
            states.retainAll(EnumSet.of(TrainBenchmark.State.COLD));
        }
        if (states.isEmpty()
                || (against != null
                        && accelerators == null
                        && states.size() == 1
                        && states.contains(TrainBenchmark.State.COLD))) {
            throw new BenchException(
                    states.isEmpty()
                            ? "--epochs 1: the one epoch is the cold one, which --only leaves out"
                            : "--against " + against + ": a folder is cold once, give --accelerators");
        }
        return new TrainBenchmark.Options(
                states,
                accelerators == null ? OptionalInt.empty() : OptionalInt.of(accelerators),
                epochs - 1,
                seconds,
                excluded == null ? OptionalInt.empty() : OptionalInt.of(excluded),
                checkpointScale);
    }

    private static void atLeast(String option, @Nullable Integer value, int least) throws BenchException {
        if (value != null && value < least) {
            throw new BenchException(option + " " + value + ": must be " + least + " or more");
        }
    }

    private static Path folder(Path against) throws BenchException, java.io.IOException {
        if (!Files.isDirectory(against) || !Files.isWritable(against)) {
            throw new BenchException("--against " + against + ": must be a folder that can be written to");
        }
        return against.toRealPath();
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

    private TrainData data(TrainWorkload workload) {
        return new TrainData(
                workload.model(), files != null ? files : workload.model().defaultFiles());
    }

    /** The server may store all data sets and the cache one; each stores two checkpoints, and one more is staged. */
    private long needed(List<TrainWorkload> chosen) {
        long all = chosen.stream()
                .map(this::data)
                .distinct()
                .mapToLong(TrainData::totalBytes)
                .sum();
        long largest = chosen.stream()
                .map(this::data)
                .mapToLong(TrainData::totalBytes)
                .max()
                .orElseThrow();
        return all + largest + 5 * TrainCheckpoints.size(checkpointScale);
    }

    private TrainTarget mount(Path home, S3Target server, Scratch scratch, Resources resources) throws Exception {
        BenchmarkFolder folder = new BenchmarkFolder(servers.bucket(), prefix);
        ObjectStore store = folder.connect(server, place, resources);
        FreshMounts mounts = folder.mounts(home, server, place, scratch, resources);
        return new TrainMount(mounts, store, folder.keyPrefix());
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
}

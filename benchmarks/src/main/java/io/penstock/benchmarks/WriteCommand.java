package io.penstock.benchmarks;

import io.penstock.objectstore.ObjectStore;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
        name = "write",
        sortOptions = false,
        description = {
            "Writes through mounts of its own, large and small files, and sets each figure beside the rate at which the"
                    + " mount's own client sends from memory, or that of the bare disk.",
            "",
            "docs/BENCHMARKS.md explains the rows. The written files and objects are removed."
        })
final class WriteCommand implements Callable<Integer> {
    @Mixin
    private ServerOptions servers;

    @Option(
            names = "--prefix",
            paramLabel = "<prefix>",
            defaultValue = "penstock-bench-write",
            description =
                    "Where the objects go in the bucket; all that is there is removed. Default: ${DEFAULT-VALUE}.")
    private String prefix;

    @Option(names = "--file-mib", paramLabel = "<n>", description = "MiB of a large file. Default: 4096.")
    private @Nullable Integer fileMib;

    @Option(names = "--small-files", paramLabel = "<n>", description = "Files of 100 KiB. Default: 10000.")
    private @Nullable Integer smallFiles;

    @Option(
            names = "--only",
            split = ",",
            paramLabel = "<group>",
            description = "Groups of rows: streams, staged, calls, small, random, reads. Default: all.")
    private List<Group> only = List.of(Group.values());

    @Mixin
    private RunOptions run;

    /** Rows that are measured together. */
    private enum Group {
        STREAMS,
        STAGED,
        CALLS,
        SMALL,
        RANDOM,
        READS
    }

    private static Scenario<WriteRig> scenario(Group group) {
        return switch (group) {
            case STREAMS -> new StreamWrites();
            case STAGED -> new StagedWrites();
            case CALLS -> new CallSizes();
            case SMALL -> new SmallWrites();
            case RANDOM -> new RandomWrites();
            case READS -> new ReadsDuringWrites();
        };
    }

    @Override
    public Integer call() throws Exception {
        Path home = Path.of(System.getProperty("penstock.home", ".")).toRealPath();
        WriteRig.Sizes sizes = sizes();
        Measurements results = new Measurements(System.err::println);
        List<Scenario<WriteRig>> scenarios = RunOptions.scenarios(only, WriteCommand::scenario);
        String heading;
        try (Resources resources = new Resources()) {
            // Up to six large files exist at the same time: two on the server, two in the cache, two bare.
            Scratch scratch = resources.add(run.place().openScratch(6 * sizes.file()));
            Conditions machine = Conditions.current(home, scratch.root());
            S3Target server = servers.open(scratch, resources);
            heading = run.heading("write", machine, server, describe(sizes));
            System.err.println(heading);
            measure(scenarios, rig(home, sizes, server, scratch, resources, results), resources);
        }
        List<ReportRow> rows = RunOptions.rows(scenarios, WriteRig.FIRST_WRITE);
        run.publish(home, "write", heading, "Writes, as a part of their ceilings", new ReportTable(results, rows));
        return 0;
    }

    private WriteRig.Sizes sizes() throws BenchException {
        long mib = fileMib != null ? fileMib : run.quick() ? 512 : 4096;
        if (mib < 64 || mib % 64 != 0) {
            throw new BenchException("--file-mib " + mib + ": must be a multiple of 64");
        }
        int files = smallFiles != null ? smallFiles : run.quick() ? 1000 : 10_000;
        return new WriteRig.Sizes(mib << 20, files, run.quick() ? 100 : 1000);
    }

    private static String describe(WriteRig.Sizes sizes) {
        return String.format(
                Locale.ROOT,
                "Files of %d MiB, %,d small files, %,d random writes",
                sizes.file() >> 20,
                sizes.smallFiles(),
                sizes.randomWrites());
    }

    private WriteRig rig(
            Path home,
            WriteRig.Sizes sizes,
            S3Target server,
            Scratch scratch,
            Resources resources,
            Measurements results)
            throws Exception {
        BenchmarkFolder folder = new BenchmarkFolder(servers.bucket(), prefix);
        ObjectStore store = folder.connect(server, run.place(), resources);
        return new WriteRig(
                folder.mounts(home, server, run.place(), scratch, resources),
                sizes,
                folder.keyPrefix(),
                store,
                scratch,
                results);
    }

    private void measure(List<Scenario<WriteRig>> scenarios, WriteRig rig, Resources resources) throws Exception {
        for (Scenario<WriteRig> scenario : scenarios) {
            scenario.prepare(rig);
        }
        AutoCloseable _ = resources.add(rig::removeAll); // not before it is known what to keep
        run.measure(scenarios, rig, () -> {}, rig::removeAll);
    }
}

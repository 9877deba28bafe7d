package io.penstock.benchmarks;

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
            "Writes through its own mounts, large and small files, and compares each figure with the rate at which the"
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
            case STREAMS -> WriteScenarios.streams();
            case STAGED -> WriteScenarios.staged();
            case CALLS -> WriteScenarios.calls();
            case SMALL -> WriteScenarios.small();
            case RANDOM -> WriteScenarios.random();
            case READS -> WriteScenarios.reads();
        };
    }

    @Override
    public Integer call() throws Exception {
        WriteRig.Sizes sizes = sizes();
        Measurements results = new Measurements(ReportFigures.BYTES, System.err::println);
        List<Scenario<WriteRig>> scenarios = RunOptions.scenarios(only, WriteCommand::scenario);
        String heading;
        // Up to six large files exist at the same time: two on the server, two in the cache, two bare.
        try (BenchRun opened = run.open(6 * sizes.file())) {
            S3Target server = servers.open(opened);
            heading = run.heading("write", opened, server, describe(sizes));
            WriteRig rig = new WriteRig(new BenchFolder(opened, server, servers.bucket(), prefix), sizes, results);
            for (Scenario<WriteRig> scenario : scenarios) {
                scenario.prepare().run(rig);
            }
            AutoCloseable _ = opened.resources().add(rig::removeAll); // not before it is known what to keep
            run.measure(scenarios, rig, _ -> {}, WriteRig::removeAll);
        }
        ReportTable report = new ReportTable(results, RunOptions.rows(scenarios, WriteRig.FIRST_WRITE));
        run.publish("write", heading, "Writes, as a part of their ceilings", report, "");
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
}

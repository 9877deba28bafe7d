package io.penstock.benchmarks;

import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
        name = "read",
        sortOptions = false,
        description = {
            "Reads through its own mounts, cold and warm, large and small files, and compares each figure with that"
                    + " of the same machine without a mount.",
            "",
            "docs/BENCHMARKS.md explains the rows."
        })
final class ReadCommand implements Callable<Integer> {
    @Mixin
    private ServerOptions servers;

    @Mixin
    private DataOptions dataOptions;

    @Option(
            names = "--only",
            split = ",",
            paramLabel = "<group>",
            description = "Groups of rows: sequential, models, streams, random, small, warm. Default: all.")
    private List<Group> only = List.of(Group.values());

    @Mixin
    private RunOptions run;

    /** Rows that are measured together. Groups that empty the kernel's caches, and so the server's too, come last. */
    private enum Group {
        SEQUENTIAL,
        MODELS,
        STREAMS,
        RANDOM,
        SMALL,
        WARM
    }

    private Scenario<ReadRig> scenario(Group group) {
        return switch (group) {
            case SEQUENTIAL -> ReadScenarios.sequential(servers.isOwnWithTls());
            case MODELS -> ReadScenarios.models();
            case STREAMS -> ReadScenarios.streams();
            case RANDOM -> ReadScenarios.random();
            case SMALL -> ReadScenarios.small();
            case WARM -> new WarmReads(run.quick() ? 2 : 10).scenario();
        };
    }

    @Override
    public Integer call() throws Exception {
        DataSet data = dataOptions.dataSet(run.quick());
        Measurements results = new Measurements(ReportFigures.BYTES, System.err::println);
        List<Scenario<ReadRig>> scenarios = RunOptions.scenarios(only, this::scenario);
        String heading;
        // Up to three copies of the data exist: the server's, the cache's and the bare files.
        try (BenchRun opened = run.open(3 * data.totalBytes())) {
            S3Target server = servers.open(opened);
            heading = run.heading("read", opened, server, describe(data));
            BenchFolder folder = dataOptions.folder(opened, server, servers.bucket(), run.quick());
            run.measure(scenarios, new ReadRig(folder, data, results), ReadRig::warmServer, _ -> {});
        }
        ReportTable report = new ReportTable(results, RunOptions.rows(scenarios, ReadRig.FIRST_READ));
        run.publish("read", heading, "Reads, as a part of their ceilings", report, "");
        return 0;
    }

    private static String describe(DataSet data) {
        return String.format(
                Locale.ROOT,
                "Shards of %d MiB, %,d small files; kernel caches %s before reads from NVMe",
                data.shardSize() >> 20,
                data.smallFiles(),
                KernelCaches.canBeDropped() ? "dropped" : "NOT DROPPED, for lack of root's rights,");
    }
}

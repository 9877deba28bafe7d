package io.penstock.benchmarks;

import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
        name = "share",
        sortOptions = false,
        description = {
            "Reads through several mounts on this machine that share their caches, compares each figure with that"
                    + " of the same mounts that share nothing, and reports how often the store was asked for each"
                    + " byte.",
            "",
            "It makes certificates with openssl. docs/BENCHMARKS.md explains the rows."
        })
final class SharingCommand implements Callable<Integer> {
    /** Each node has its own loopback address. */
    private static final int MOST_NODES = 100;

    @Mixin
    private ServerOptions servers;

    @Option(
            names = "--nodes",
            paramLabel = "<n>",
            defaultValue = "3",
            description = "Mounts of a group. Default: ${DEFAULT-VALUE}.")
    private int nodes;

    @Option(names = "--insecure", description = "Without certificates and in the clear. Default: TLS.")
    private boolean insecure;

    @Mixin
    private DataOptions dataOptions;

    @Option(
            names = "--only",
            split = ",",
            paramLabel = "<group>",
            description = "Groups of rows: step, paced, shuffled, small, peer, killed, alone. Default: all.")
    private List<Group> only = List.of(Group.values());

    @Mixin
    private RunOptions run;

    /** Rows that are measured together. */
    private enum Group {
        STEP,
        PACED,
        SHUFFLED,
        SMALL,
        PEER,
        KILLED,
        ALONE
    }

    private static Scenario<ShareRig> scenario(Group group) {
        return switch (group) {
            case STEP -> ShareScenarios.inStep();
            case PACED -> ShareScenarios.paced();
            case SHUFFLED -> ShareScenarios.shuffled();
            case SMALL -> ShareScenarios.smallFiles();
            case PEER -> ShareScenarios.peer();
            case KILLED -> ShareScenarios.killed();
            case ALONE -> ShareScenarios.alone();
        };
    }

    @Override
    public Integer call() throws Exception {
        if (nodes < 2 || nodes > MOST_NODES) {
            throw new BenchException("--nodes " + nodes + ": must be from 2 to " + MOST_NODES);
        }
        DataSet data = dataOptions.dataSet(run.quick());
        Measurements results = new Measurements(ReportFigures.BYTES, System.err::println);
        ShareResults shared = new ShareResults(results, System.err::println);
        List<Scenario<ShareRig>> scenarios = RunOptions.scenarios(only, SharingCommand::scenario);
        String heading;
        String notes;
        // For the server, and for the cache of each node.
        try (BenchRun opened = run.open((1 + nodes) * data.totalBytes())) {
            S3Target server = servers.open(opened);
            heading = run.heading("share", opened, server, describe(data));
            BenchFolder folder = dataOptions.folder(opened, server, servers.bucket(), run.quick());
            GroupAuthority authority =
                    insecure ? null : new GroupAuthority(opened.scratch().folder("certificates"));
            ShareRig rig = new ShareRig(folder, data, authority, nodes, results, shared);
            run.measure(scenarios, rig, ShareRig::warmServer, _ -> {});
            notes = rig.notes();
        }
        List<ReportRow> rows = RunOptions.rows(scenarios);
        String more = "\n" + shared.markdown(rows) + notes;
        run.publish(
                "share",
                heading,
                "Nodes that share their caches, and their ceilings",
                new ReportTable(results, rows),
                more);
        return 0;
    }

    private String describe(DataSet data) {
        return String.format(
                Locale.ROOT,
                "%d nodes, %s, shards of %d MiB, %,d small files",
                nodes,
                insecure ? "in the clear" : "TLS",
                data.shardSize() >> 20,
                data.smallFiles());
    }
}

package io.penstock.benchmarks;

import io.penstock.objectstore.ObjectStore;
import io.penstock.objectstore.StoredObject;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
        name = "share",
        sortOptions = false,
        description = {
            "Reads through several mounts on this machine that share their caches, and sets each figure beside that of"
                    + " the same mounts that share nothing, and says how often the store was asked for each byte.",
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
            case STEP -> SharedReads.inStep();
            case PACED -> SharedReads.paced();
            case SHUFFLED -> SharedReads.shuffled();
            case SMALL -> SharedReads.smallFiles();
            case PEER -> new PeerReads();
            case KILLED -> new KilledPeer();
            case ALONE -> new LoneNode();
        };
    }

    @Override
    public Integer call() throws Exception {
        if (nodes < 2 || nodes > MOST_NODES) {
            throw new BenchException("--nodes " + nodes + ": must be from 2 to " + MOST_NODES);
        }
        Path home = Path.of(System.getProperty("penstock.home", ".")).toRealPath();
        DataSet data = dataOptions.dataSet(run.quick());
        Measurements results = new Measurements(System.err::println);
        ShareResults shared = new ShareResults(results, System.err::println);
        List<Scenario<ShareRig>> scenarios = RunOptions.scenarios(only, SharingCommand::scenario);
        String heading;
        try (Resources resources = new Resources()) {
            // For the server, and for the cache of each node.
            Scratch scratch = resources.add(run.place().openScratch((1 + nodes) * data.totalBytes()));
            S3Target server = servers.open(scratch, resources);
            heading = run.heading("share", Conditions.current(home, scratch.root()), server, describe(data));
            System.err.println(heading);
            BenchmarkFolder folder = dataOptions.folder(servers.bucket(), run.quick());
            ObjectStore store = folder.connect(server, run.place(), resources);
            Map<String, StoredObject> objects = new DataLoader(store, folder.keyPrefix()).ensure(data, server);
            FreshMounts mounts = folder.mounts(home, server, run.place(), scratch, resources);
            ReadRig reads = new ReadRig(mounts, data, objects, store, scratch, results);
            ShareRig rig = new ShareRig(reads, mounts, trust(scratch), nodes, shared);
            run.measure(scenarios, rig, reads::warmServer, () -> {});
        }
        List<ReportRow> rows = RunOptions.rows(scenarios);
        ReportTable report = new ReportTable(results, rows);
        String text = heading + "\n\n" + report.markdown() + "\n" + shared.markdown(rows);
        run.publish(home, "share", text, "Nodes that share their caches, beside their ceilings", report.bars());
        return 0;
    }

    private NodeTrust trust(Scratch scratch) throws Exception {
        return insecure ? NodeTrust.INSECURE : new GroupAuthority(scratch.folder("certificates"));
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

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
        name = "read",
        sortOptions = false,
        description = {
            "Reads through mounts of its own, cold and warm, large and small files, and sets each figure beside that"
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
            case SEQUENTIAL -> new ColdSequential(servers.isOwnWithTls());
            case MODELS -> new WholeModels();
            case STREAMS -> new InterleavedStreams();
            case RANDOM -> new ColdRandom();
            case SMALL -> new SmallFiles();
            case WARM -> new WarmReads(run.quick() ? 2 : 10);
        };
    }

    @Override
    public Integer call() throws Exception {
        Path home = Path.of(System.getProperty("penstock.home", ".")).toRealPath();
        DataSet data = dataOptions.dataSet(run.quick());
        Measurements results = new Measurements(System.err::println);
        List<Scenario<ReadRig>> scenarios = RunOptions.scenarios(only, this::scenario);
        String heading;
        try (Resources resources = new Resources()) {
            // Up to three copies of the data exist: the server's, the cache's and the bare files.
            Scratch scratch = resources.add(run.place().openScratch(3 * data.totalBytes()));
            Conditions machine = Conditions.current(home, scratch.root());
            S3Target server = servers.open(scratch, resources);
            heading = run.heading("read", machine, server, describe(data));
            System.err.println(heading);
            ReadRig rig = rig(home, data, server, scratch, resources, results);
            run.measure(scenarios, rig, rig::warmServer, () -> {});
        }
        List<ReportRow> rows = RunOptions.rows(scenarios, ReadRig.FIRST_READ);
        run.publish(home, "read", heading, "Reads, as a part of their ceilings", new ReportTable(results, rows));
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

    private ReadRig rig(
            Path home, DataSet data, S3Target server, Scratch scratch, Resources resources, Measurements results)
            throws Exception {
        BenchmarkFolder folder = dataOptions.folder(servers.bucket(), run.quick());
        ObjectStore store = folder.connect(server, run.place(), resources);
        Map<String, StoredObject> objects = new DataLoader(store, folder.keyPrefix()).ensure(data, server);
        FreshMounts mounts = folder.mounts(home, server, run.place(), scratch, resources);
        return new ReadRig(mounts, data, objects, store, scratch, results);
    }
}

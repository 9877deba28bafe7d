package io.penstock.benchmarks;

import io.penstock.embeddeds3.SyntheticObjects;
import io.penstock.tools.measure.Measurement;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
        name = "tree",
        sortOptions = false,
        description = {
            "Lists a bucket of very many objects, finds them, gets their attributes, and mounts it again; the server"
                    + " generates the names, and takes S3's time for each page.",
            "",
            "The ratio to a server in C takes gcc, pkg-config and libfuse3-dev. docs/BENCHMARKS.md explains the"
                    + " rows."
        })
final class TreeCommand implements Callable<Integer> {
    private static final int PER_FOLDER = 10_000;
    private static final int LARGE_FOLDER = 100_000;

    /** After this many listings of the large folder, the code of the server and of this JVM's client is compiled. */
    private static final int WARM_UPS = 10;

    /** Bytes on disk: the empty files, and a mount's log and cache, which has no pages. */
    private static final long SPACE = 1L << 30;

    @Option(
            names = "--objects",
            paramLabel = "<n>",
            description = "Objects of the bucket, 10,000 to a folder. Default: 1000000, with --quick 100000.")
    private @Nullable Long objects;

    @Option(
            names = "--list-latency",
            paramLabel = "<time>",
            defaultValue = "60ms",
            converter = Latency.class,
            description = "The minimum time of a page of a listing. Default: ${DEFAULT-VALUE}.")
    private Duration listLatency;

    @Option(
            names = "--concurrency",
            paramLabel = "<n>",
            defaultValue = "16",
            description = "Listing requests at once, of the mount and of the raw ceiling. Default: ${DEFAULT-VALUE}.")
    private int concurrency;

    @Mixin
    private RunOptions run;

    @Override
    public Integer call() throws Exception {
        SyntheticObjects whole = whole();
        SyntheticObjects large = new SyntheticObjects(LARGE_FOLDER, LARGE_FOLDER);
        Measurements results = new Measurements(ReportFigures.NAMES, System.err::println);
        List<Scenario<TreeRig>> scenarios;
        String heading;
        String notes;
        try (BenchRun opened = run.open(SPACE)) {
            ListServer server = opened.resources()
                    .add(ListServer.start(Map.of(TreeScenarios.WHOLE, whole, TreeScenarios.LARGE, large), listLatency));
            heading = run.heading("tree", opened, server.server(), describe(whole));
            BenchFolder wholeBucket = new BenchFolder(opened, server.server(), TreeScenarios.WHOLE, "");
            BenchFolder largeBucket = new BenchFolder(opened, server.server(), TreeScenarios.LARGE, "");
            RawListing rawLarge = new RawListing(largeBucket.store(), large);
            for (int i = 0; i < WARM_UPS; i++) {
                Measurement _ = rawLarge.run(concurrency);
            }
            scenarios = new TreeScenarios(
                            new TreeScenarios.Bucket(whole, new RawListing(wholeBucket.store(), whole)),
                            new TreeScenarios.Bucket(large, rawLarge),
                            Reference.compile(BenchRun.home(), opened.scratch()),
                            concurrency)
                    .all();
            TreeRig rig = new TreeRig(wholeBucket, largeBucket, server, concurrency, results);
            run.measure(scenarios, rig);
            notes = rig.notes();
        }
        ReportTable report = new ReportTable(results, RunOptions.rows(scenarios));
        run.publish("tree", heading, "Names, and their ceilings", report, notes);
        return 0;
    }

    private SyntheticObjects whole() throws BenchException {
        long count = objects != null ? objects : run.quick() ? 100_000 : 1_000_000;
        if (concurrency < 1) {
            throw new BenchException("--concurrency " + concurrency + ": must be 1 or more");
        }
        try {
            return new SyntheticObjects(count, PER_FOLDER);
        } catch (IllegalArgumentException e) {
            throw new BenchException("--objects " + count + ": " + e.getMessage());
        }
    }

    private String describe(SyntheticObjects whole) {
        return String.format(
                Locale.ROOT,
                "%,d objects in folders of %,d, and a folder of %,d; %d listing requests at once",
                whole.count(),
                PER_FOLDER,
                LARGE_FOLDER,
                concurrency);
    }
}

package io.penstock.benchmarks;

import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
        name = "names",
        sortOptions = false,
        description = {
            "Makes, renames, replaces and removes small files through its own mounts, one by one and by folders,"
                    + " and compares each figure with the rate at which the mount's own client makes the requests"
                    + " alone.",
            "",
            "docs/BENCHMARKS.md explains the rows. The written files and objects are removed."
        })
final class NamesCommand implements Callable<Integer> {
    /** Bytes on disk per small file: its page in the cache, its object, and its part of an archive. */
    private static final long SPACE_PER_FILE = 256 << 10;

    @Mixin
    private ServerOptions servers;

    @Option(
            names = "--prefix",
            paramLabel = "<prefix>",
            defaultValue = "penstock-bench-names",
            description =
                    "Where the objects go in the bucket; all that is there is removed. Default: ${DEFAULT-VALUE}.")
    private String prefix;

    @Option(
            names = "--files",
            paramLabel = "<n>",
            description = "Files of 100 bytes that a row is about. Default: 10000, with --quick 1000.")
    private @Nullable Integer files;

    @Option(
            names = "--only",
            split = ",",
            paramLabel = "<group>",
            description = "Groups of rows: files, replaced, folders, archive. Default: all.")
    private List<Group> only = List.of(Group.values());

    @Mixin
    private RunOptions run;

    /** Rows that are measured together. */
    private enum Group {
        FILES,
        REPLACED,
        FOLDERS,
        ARCHIVE
    }

    private static Scenario<NamesRig> scenario(Group group) {
        return switch (group) {
            case FILES -> NamesScenarios.files();
            case REPLACED -> NamesScenarios.replaced();
            case FOLDERS -> NamesScenarios.folders();
            case ARCHIVE -> NamesScenarios.archive();
        };
    }

    @Override
    public Integer call() throws Exception {
        int count = count();
        Measurements results = new Measurements(ReportFigures.NAMES, System.err::println);
        List<Scenario<NamesRig>> scenarios = RunOptions.scenarios(only, NamesCommand::scenario);
        String heading;
        try (BenchRun opened = run.open(count * SPACE_PER_FILE)) {
            S3Target server = servers.open(opened);
            heading = run.heading(
                    "names", opened, server, String.format(Locale.ROOT, "%,d files of %d bytes", count, NamesRig.SIZE));
            NamesRig rig = new NamesRig(new BenchFolder(opened, server, servers.bucket(), prefix), count, results);
            AutoCloseable _ = opened.resources().add(rig::removeAll);
            rig.warmUp();
            run.measure(scenarios, rig, _ -> {}, NamesRig::removeAll);
        }
        ReportTable report = new ReportTable(results, RunOptions.rows(scenarios));
        run.publish("names", heading, "Operations on names, and their ceilings", report, "");
        return 0;
    }

    private int count() throws BenchException {
        int count = files != null ? files : run.quick() ? 1000 : 10_000;
        if (count < 10) {
            throw new BenchException("--files " + count + ": must be 10 or more");
        }
        return count;
    }
}

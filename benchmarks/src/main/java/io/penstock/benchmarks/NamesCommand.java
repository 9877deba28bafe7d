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
        name = "names",
        sortOptions = false,
        description = {
            "Makes, renames, replaces and removes small files through mounts of its own, one by one and by folders, and"
                    + " sets each figure beside the rate at which the mount's own client makes the requests alone.",
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
            case FILES -> new NamedFiles();
            case REPLACED -> new ReplacedFiles();
            case FOLDERS -> new WholeFolders();
            case ARCHIVE -> new ExtractedArchive();
        };
    }

    @Override
    public Integer call() throws Exception {
        Path home = Path.of(System.getProperty("penstock.home", ".")).toRealPath();
        int count = count();
        TreeResults results = new TreeResults(System.err::println);
        List<Scenario<NamesRig>> scenarios = RunOptions.scenarios(only, NamesCommand::scenario);
        String heading;
        try (Resources resources = new Resources()) {
            Scratch scratch = resources.add(run.place().openScratch(count * SPACE_PER_FILE));
            S3Target server = servers.open(scratch, resources);
            heading = run.heading(
                    "names",
                    Conditions.current(home, scratch.root()),
                    server,
                    String.format(Locale.ROOT, "%,d files of %d bytes", count, NamesRig.SIZE));
            System.err.println(heading);
            BenchmarkFolder folder = new BenchmarkFolder(servers.bucket(), prefix);
            ObjectStore store = folder.connect(server, run.place(), resources);
            measure(
                    scenarios,
                    new NamesRig(
                            folder.mounts(home, server, run.place(), scratch, resources),
                            count,
                            folder.keyPrefix(),
                            store,
                            resources.add(new ServerRequests(server)),
                            scratch,
                            results),
                    resources);
        }
        List<ReportRow> rows = RunOptions.rows(scenarios);
        String text = heading + "\n\n" + results.markdown(rows);
        run.publish(home, "names", text, "Operations on names, beside their ceilings", results.bars(rows));
        return 0;
    }

    private int count() throws BenchException {
        int count = files != null ? files : run.quick() ? 1000 : 10_000;
        if (count < 10) {
            throw new BenchException("--files " + count + ": must be 10 or more");
        }
        return count;
    }

    private void measure(List<Scenario<NamesRig>> scenarios, NamesRig rig, Resources resources) throws Exception {
        AutoCloseable _ = resources.add(rig::removeAll);
        rig.warmUp();
        run.measure(scenarios, rig, () -> {}, rig::removeAll);
    }
}

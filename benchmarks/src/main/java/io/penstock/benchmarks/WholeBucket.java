package io.penstock.benchmarks;

import io.penstock.embeddeds3.SyntheticObjects;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Random;
import java.util.function.LongFunction;

/** A bucket listed as a whole: building the tree, finding all files, and attributes of known files. */
final class WholeBucket implements Scenario<TreeRig> {
    static final String BUCKET = "whole";

    /**
     * Options for a mount that lists the whole bucket in the background, with names valid for as long as a round takes.
     */
    private static final String[] PRELOADING = {"-o", "metadata.preload=on,metadata.ttl=1h"};

    private static final String FIND_FIRST = "find -type f of all, first";
    private static final String FIND_AGAIN = "find -type f of all, again";
    private static final List<Integer> THREADS = List.of(1, 4);
    private static final int MOST_STATS = 40_000;

    private final SyntheticObjects objects;
    private final RawListing raw;
    private final SyntheticObjects local;
    private final Optional<Path> reference;
    private final String listed;
    private final String rawListing;

    /** Different names in each round, the same in every run. */
    private final Random random = new Random(1);

    /**
     * @param objects of {@link #BUCKET}
     * @param local the objects of the local folder
     * @param reference the server in C, if there is one
     */
    WholeBucket(
            SyntheticObjects objects,
            RawListing raw,
            SyntheticObjects local,
            Optional<Path> reference,
            int concurrency) {
        this.objects = objects;
        this.raw = raw;
        this.local = local;
        this.reference = reference;
        this.listed = "whole bucket listed, " + concurrency + " at once";
        this.rawListing = "raw listing of all pages × " + concurrency;
    }

    @Override
    public List<ReportRow> rows() {
        List<ReportRow> rows = new ArrayList<>();
        for (String name : List.of(listed, FIND_FIRST, FIND_AGAIN)) {
            rows.add(new ReportRow(name, new ReportRow.Ceiling(rawListing)));
        }
        for (int threads : THREADS) {
            rows.add(new ReportRow(
                    stat("known to the tree", threads),
                    new ReportRow.Ceiling(stat("that C looks up", threads)),
                    new ReportRow.Ceiling(stat("of a local folder", threads))));
        }
        return rows;
    }

    private static String stat(String files, int threads) {
        return "stat of random files " + files + ", " + threads + (threads == 1 ? " thread" : " threads");
    }

    @Override
    public void round(TreeRig rig) throws Exception {
        listRaw(rig);
        TreeMount mount = rig.mount(BUCKET, rig.emptyFolder("cache"), PRELOADING);
        build(rig, mount);
        statKnown(rig, mount);
        rig.measure(FIND_FIRST, mount.pid(), () -> find(mount.path()));
        rig.measure(FIND_AGAIN, mount.pid(), () -> find(mount.path()));
        rig.unmount(mount);
        if (reference.isPresent()) {
            statReference(rig, reference.get());
        }
        statLocal(rig);
    }

    private void listRaw(TreeRig rig) throws Exception {
        double before = rig.serverCpuSeconds();
        rig.measure(rawListing, ProcessHandle.current().pid(), () -> raw.run(rig.concurrency()));
        rig.note(
                "The server, for " + rawListing,
                String.format(Locale.ROOT, "%.1f CPU s", rig.serverCpuSeconds() - before));
    }

    private void build(TreeRig rig, TreeMount mount) throws Exception {
        rig.measure(
                listed,
                mount.pid(),
                () -> Measurement.ofWhole(
                        objects.count(), mount.awaitListed().time().toNanos()));
        ListingLog listing = mount.awaitListed();
        if (listing.objects() != objects.count()) {
            throw new BenchException(listing.objects() + " objects were listed of " + objects.count());
        }
        rig.note(
                "Memory of the names",
                String.format(
                        Locale.ROOT,
                        "%.1f bytes an object (%d MiB, by the mount's log)",
                        listing.memoryBytes() / (double) listing.objects(),
                        listing.memoryBytes() >> 20));
        rig.note(
                "Of the process, when they were listed",
                (ProcessUsage.of(mount.pid()).residentBytes() >> 20) + " MiB resident");
    }

    private Measurement find(Path folder) throws Exception {
        return TreeRig.shell(
                objects.count(), "[[ $(find \"$1\" -type f | wc -l) == " + objects.count() + " ]]", folder);
    }

    private void statKnown(TreeRig rig, TreeMount mount) throws Exception {
        // Compiles the code of a new process.
        FileReads.attributes(files(objects.count(), number -> mount.path().resolve(objects.key(number))), 1);
        for (int threads : THREADS) {
            List<Path> files = files(objects.count(), number -> mount.path().resolve(objects.key(number)));
            rig.measure(stat("known to the tree", threads), mount.pid(), () -> FileReads.attributes(files, threads));
        }
    }

    private void statReference(TreeRig rig, Path program) throws Exception {
        Path folder = rig.folder("reference");
        try (BridgeServer server = BridgeServer.ofReference(program, folder, 0)) {
            for (int threads : THREADS) {
                // It has a file for every number.
                List<Path> files = files(objects.count(), number -> folder.resolve(Long.toString(number)));
                rig.measure(stat("that C looks up", threads), server.pid(), () -> FileReads.attributes(files, threads));
            }
        }
    }

    private void statLocal(TreeRig rig) throws Exception {
        Path folder = rig.localFolder(local);
        for (int threads : THREADS) {
            List<Path> files = files(local.count(), number -> folder.resolve(TreeRig.name(local, number)));
            rig.measureLocal(stat("of a local folder", threads), () -> FileReads.attributes(files, threads));
        }
    }

    /** Distinct random files; in a large bucket, hardly any was chosen before. */
    private List<Path> files(long count, LongFunction<Path> path) {
        return random.longs(0, count)
                .distinct()
                .limit(Math.min(MOST_STATS, Math.ceilDiv(count, 4L)))
                .mapToObj(path)
                .toList();
    }
}

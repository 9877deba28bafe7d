package io.penstock.benchmarks;

import io.penstock.embeddeds3.SyntheticObjects;
import io.penstock.tools.measure.Measurement;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;
import java.util.function.LongFunction;

/** Rows of {@code bin/bench tree}: a bucket that is listed as a whole, a large folder, and mounts that know the names. */
final class TreeScenarios {
    /** The bucket of many folders. */
    static final String WHOLE = "whole";

    /** The bucket of one large folder. */
    static final String LARGE = "folder";

    /**
     * Options for a mount that lists the whole bucket in the background, with names valid for as long as a round takes.
     */
    private static final String[] PRELOADING = {"-o", "metadata.preload=on,metadata.ttl=1h"};

    /** Options with which a mount leaves its names in the cache folder. */
    private static final String[] KEEPING = {"-o", "metadata.preload=on,metadata.refresh=1h,metadata.ttl=1h"};

    /** The log line of a mount that starts with the names of the last one. */
    private static final String KNOWN = "are known from the last mount";

    private static final String FIND_FIRST = "find -type f of all, first";
    private static final String FIND_AGAIN = "find -type f of all, again";
    private static final List<Integer> THREADS = List.of(1, 4);
    private static final int MOST_STATS = 40_000;
    private static final int ONE_AFTER_ANOTHER = 1;
    private static final String FIRST = "first mount";
    private static final String AGAIN = "remount";

    private final Bucket whole;
    private final Bucket large;
    private final Optional<Path> reference;
    private final int concurrency;

    /** Different names in each round, the same in every run. */
    private final Random random = new Random(1);

    /** Made-up objects, and the raw listing of them. */
    record Bucket(SyntheticObjects objects, RawListing raw) {}

    /** @param reference the server in C, if there is one */
    TreeScenarios(Bucket whole, Bucket large, Optional<Path> reference, int concurrency) {
        this.whole = whole;
        this.large = large;
        this.reference = reference;
        this.concurrency = concurrency;
    }

    List<Scenario<TreeRig>> all() {
        return List.of(whole(), large(), remount());
    }

    /** A bucket listed as a whole: building the tree, finding all files, and attributes of known files. */
    private Scenario<TreeRig> whole() {
        String listed = "whole bucket listed, " + concurrency + " at once";
        String raw = "raw listing of all pages × " + concurrency;
        List<ReportRow> rows = new ArrayList<>();
        for (String name : List.of(listed, FIND_FIRST, FIND_AGAIN)) {
            rows.add(ReportRow.of(name, raw));
        }
        for (int threads : THREADS) {
            rows.add(ReportRow.of(
                    stat("known to the tree", threads),
                    stat("that C looks up", threads),
                    stat("of a local folder", threads)));
        }
        return new Scenario<>(rows, rig -> {
            double before = rig.serverCpuSeconds();
            rig.raw(raw, () -> whole.raw().run(concurrency));
            rig.note(
                    "The server, for " + raw,
                    String.format(Locale.ROOT, "%.1f CPU s", rig.serverCpuSeconds() - before));
            MountProcess mount = rig.mount(PRELOADING);
            build(rig, listed, mount);
            statKnown(rig, mount);
            rig.served(FIND_FIRST, mount, () -> find(mount.path()));
            rig.served(FIND_AGAIN, mount, () -> find(mount.path()));
            rig.unmount(mount);
            if (reference.isPresent()) {
                statReference(rig, reference.get());
            }
            statLocal(rig);
        });
    }

    private static String stat(String files, int threads) {
        return "stat of random files " + files + ", " + threads + (threads == 1 ? " thread" : " threads");
    }

    private void build(TreeRig rig, String listed, MountProcess mount) throws Exception {
        rig.served(listed, mount, () -> listed(mount));
        ListingLog listing = ListingLog.await(mount.log());
        if (listing.objects() != whole.objects().count()) {
            throw new BenchException(listing.objects() + " objects were listed of "
                    + whole.objects().count());
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

    /** Waits until all is listed. */
    private Measurement listed(MountProcess mount) throws Exception {
        return Measurement.ofWhole(
                whole.objects().count(), ListingLog.await(mount.log()).time().toNanos());
    }

    private Measurement find(Path folder) throws Exception {
        long count = whole.objects().count();
        return TreeRig.shell(count, "[[ $(find \"$1\" -type f | wc -l) == " + count + " ]]", folder);
    }

    private void statKnown(TreeRig rig, MountProcess mount) throws Exception {
        SyntheticObjects objects = whole.objects();
        // Compiles the code of a new process.
        FileReads.attributes(files(objects.count(), number -> mount.path().resolve(objects.key(number))), 1);
        for (int threads : THREADS) {
            List<Path> files = files(objects.count(), number -> mount.path().resolve(objects.key(number)));
            rig.served(stat("known to the tree", threads), mount, () -> FileReads.attributes(files, threads));
        }
    }

    private void statReference(TreeRig rig, Path program) throws Exception {
        Path folder = rig.scratch().folder("reference");
        try (BridgeServer server = BridgeServer.ofReference(program, folder, 0)) {
            for (int threads : THREADS) {
                // It has a file for every number.
                List<Path> files = files(whole.objects().count(), number -> folder.resolve(Long.toString(number)));
                rig.served(stat("that C looks up", threads), server.pid(), () -> FileReads.attributes(files, threads));
            }
        }
    }

    private void statLocal(TreeRig rig) throws Exception {
        SyntheticObjects local = large.objects();
        Path folder = rig.localFolder(local);
        for (int threads : THREADS) {
            List<Path> files = files(local.count(), number -> folder.resolve(TreeRig.name(local, number)));
            rig.bare(stat("of a local folder", threads), () -> FileReads.attributes(files, threads));
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

    /** A large folder: its first listing, the next one, and the attributes of all its files. */
    private Scenario<TreeRig> large() {
        SyntheticObjects objects = large.objects();
        String names = String.format(Locale.ROOT, "%,d names", objects.count());
        String first = "ls of " + names + ", first";
        String again = "ls of " + names + ", again";
        String withAttributes = "ls -l of " + names + ", after that";
        String local = "ls of a local folder";
        String localWithAttributes = "ls -l of a local folder";
        List<ReportRow> rows = List.of(
                ReportRow.of(first, rawLarge(concurrency), rawLarge(ONE_AFTER_ANOTHER)),
                ReportRow.of(again, local),
                ReportRow.of(withAttributes, localWithAttributes));
        return new Scenario<>(rows, rig -> {
            rig.raw(rawLarge(ONE_AFTER_ANOTHER), () -> large.raw().run(ONE_AFTER_ANOTHER));
            rig.raw(rawLarge(concurrency), () -> large.raw().run(concurrency));
            MountProcess mount = rig.mountLarge();
            Path folder = mount.path().resolve(objects.key(0)).resolveSibling("");
            rig.served(first, mount, () -> list("ls", folder));
            rig.served(again, mount, () -> list("ls", folder));
            rig.served(withAttributes, mount, () -> list("ls -l", folder));
            rig.unmount(mount);
            Path bare = rig.localFolder(objects);
            rig.bare(local, () -> list("ls", bare));
            rig.bare(localWithAttributes, () -> list("ls -l", bare));
        });
    }

    private String rawLarge(int atOnce) {
        return "raw listing of " + TreeRig.pages(large.objects()) + " pages × " + atOnce;
    }

    private Measurement list(String command, Path folder) throws Exception {
        return TreeRig.shell(large.objects().count(), command + " \"$1\"", folder);
    }

    private enum Question {
        LS("ls -l of a folder"),
        STAT("stat of a random file");

        private final String text;

        Question(String text) {
            this.text = text;
        }

        String fromCommand(String mount) {
            return mount + ", from the command to " + text;
        }

        String onceMounted(String mount) {
            return mount + ", " + text + " once it is mounted";
        }
    }

    /**
     * From the command to the first reply, with an empty cache folder, and with a folder where a mount that listed the
     * whole bucket has left its names.
     */
    private Scenario<TreeRig> remount() {
        List<ReportRow> rows = new ArrayList<>();
        for (Question question : Question.values()) {
            rows.add(ReportRow.of(question.fromCommand(AGAIN), question.fromCommand(FIRST)));
            rows.add(ReportRow.of(question.onceMounted(AGAIN), question.onceMounted(FIRST)));
        }
        return new Scenario<>(rows, rig -> {
            for (Question question : Question.values()) {
                long before = rig.requests();
                MountProcess mount = rig.mount(KEEPING);
                ask(rig, FIRST, question, mount, before);
                rig.unmount(mount);
            }
            MountProcess mount = rig.mount(KEEPING);
            // Waits until it is at rest: it writes the names after the line in the log.
            Sample _ = rig.measure(List.of(mount.pid()), () -> listed(mount));
            rig.unmount(mount);
            for (Question question : Question.values()) {
                long before = rig.requests();
                MountProcess again = rig.mountAgain(KEEPING);
                ask(rig, AGAIN, question, again, before);
                boolean knew = Files.readString(again.log()).contains(KNOWN);
                rig.note("A remount knew the names when it was asked", knew ? "yes" : "no");
                rig.unmount(again);
            }
        });
    }

    private void ask(TreeRig rig, String name, Question question, MountProcess mount, long requestsBefore)
            throws Exception {
        long mountedAt = System.nanoTime();
        String key = whole.objects().key(random.nextLong(whole.objects().count()));
        Path file = mount.path().resolve(key);
        Programs.run(
                switch (question) {
                    case LS -> List.of("ls", "-l", file.resolveSibling("").toString());
                    case STAT -> List.of("stat", file.toString());
                });
        long answeredAt = System.nanoTime();
        OptionalLong requests = OptionalLong.of(rig.requests() - requestsBefore);
        rig.add(
                question.fromCommand(name),
                new Sample(Measurement.ofWhole(1, answeredAt - mount.startedAt()), null, requests));
        rig.add(question.onceMounted(name), new Sample(Measurement.ofWhole(1, answeredAt - mountedAt), null, requests));
    }
}

package io.penstock.benchmarks;

import io.penstock.embeddeds3.SyntheticObjects;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * From the command to the first reply, with an empty cache folder, and with a folder where a mount that listed the
 * whole bucket has left its names.
 */
final class Remount implements Scenario<TreeRig> {
    private static final String FIRST = "first mount";
    private static final String AGAIN = "remount";

    /** The log line of a mount that starts with the names of the last one. */
    private static final String KNOWN = "are known from the last mount";

    /** Options with which a mount leaves its names in the cache folder. */
    private static final String[] KEEPING = {"-o", "metadata.preload=on,metadata.refresh=1h,metadata.ttl=1h"};

    private final SyntheticObjects objects;

    /** Different names in each round, the same in every run. */
    private final Random random = new Random(2);

    /** @param objects of {@link WholeBucket#BUCKET} */
    Remount(SyntheticObjects objects) {
        this.objects = objects;
    }

    private enum Question {
        LS("ls -l of a folder"),
        STAT("stat of a random file");

        final String text;

        Question(String text) {
            this.text = text;
        }
    }

    private static String fromCommand(String mount, Question question) {
        return mount + ", from the command to " + question.text;
    }

    private static String onceMounted(String mount, Question question) {
        return mount + ", " + question.text + " once it is mounted";
    }

    @Override
    public List<ReportRow> rows() {
        List<ReportRow> rows = new ArrayList<>();
        for (Question question : Question.values()) {
            rows.add(new ReportRow(fromCommand(AGAIN, question), new ReportRow.Ceiling(fromCommand(FIRST, question))));
            rows.add(new ReportRow(onceMounted(AGAIN, question), new ReportRow.Ceiling(onceMounted(FIRST, question))));
        }
        return rows;
    }

    @Override
    public void round(TreeRig rig) throws Exception {
        for (Question question : Question.values()) {
            rig.unmount(asked(rig, FIRST, question, rig.emptyFolder("cache")));
        }
        Path cache = rig.emptyFolder("cache");
        TreeMount mount = rig.mount(WholeBucket.BUCKET, cache, KEEPING);
        // Waits until it is at rest: it writes the names after the line in the log.
        ProcessUsage.measure(
                mount.pid(),
                () -> Measurement.ofWhole(
                        objects.count(), mount.awaitListed().time().toNanos()));
        rig.unmount(mount);
        for (Question question : Question.values()) {
            TreeMount again = asked(rig, AGAIN, question, cache);
            boolean knew = Files.readString(again.log()).contains(KNOWN);
            rig.note("A remount knew the names when it was asked", knew ? "yes" : "no");
            rig.unmount(again);
        }
    }

    private TreeMount asked(TreeRig rig, String name, Question question, Path cache) throws Exception {
        String key = objects.key(random.nextLong(objects.count()));
        long before = rig.requests();
        TreeMount mount = rig.mount(WholeBucket.BUCKET, cache, KEEPING);
        long mountedAt = System.nanoTime();
        Path file = mount.path().resolve(key);
        Programs.run(
                switch (question) {
                    case LS -> List.of("ls", "-l", file.resolveSibling("").toString());
                    case STAT -> List.of("stat", file.toString());
                });
        long answeredAt = System.nanoTime();
        long requests = rig.requests() - before;
        rig.add(fromCommand(name, question), Measurement.ofWhole(1, answeredAt - mount.startedAt()), requests);
        rig.add(onceMounted(name, question), Measurement.ofWhole(1, answeredAt - mountedAt), requests);
        return mount;
    }
}

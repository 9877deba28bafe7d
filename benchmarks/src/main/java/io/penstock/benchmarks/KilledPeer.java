package io.penstock.benchmarks;

import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * All nodes except one read, while that one is killed and restarted every few seconds, against the same without kills.
 * Costs and bytes are those of the readers.
 */
final class KilledPeer implements Scenario<ShareRig> {
    private static final long EVERY_SECONDS = 5;
    private static final long FIRST_MILLIS = 500;
    private static final long LOOK_MILLIS = 50;
    private static final String KILLED =
            "large files, all nodes but one, which is killed every " + EVERY_SECONDS + " s";
    private static final String UNHARMED = "large files, all nodes but one, which is well";

    @Override
    public List<ReportRow> rows() {
        return List.of(new ReportRow(KILLED, new ReportRow.Ceiling(UNHARMED)));
    }

    @Override
    public void round(ShareRig rig) throws Exception {
        measure(rig, UNHARMED, (_, readers) -> Readers.inStep().read(rig.reads(), ShareRig.folders(readers)));
        measure(rig, KILLED, (group, readers) -> whileKilling(rig, group, readers));
    }

    @FunctionalInterface
    private interface Reading {
        Measurement run(CacheGroup group, List<MountProcess> readers) throws Exception;
    }

    private static void measure(ShareRig rig, String name, Reading reading) throws Exception {
        CacheGroup group = rig.group(rig.nodes());
        List<MountProcess> readers = group.mounts().subList(0, rig.nodes() - 1);
        rig.shared(name, group, readers, SharedReads.shards(rig.data()), () -> reading.run(group, readers));
        group.unmount();
    }

    private static Measurement whileKilling(ShareRig rig, CacheGroup group, List<MountProcess> readers)
            throws Exception {
        AtomicBoolean over = new AtomicBoolean();
        try (ExecutorService killer = Executors.newSingleThreadExecutor()) {
            Future<Integer> kills = killer.submit(() -> kill(group, over));
            Measurement run;
            try {
                run = Readers.inStep().read(rig.reads(), ShareRig.folders(readers));
            } finally {
                over.set(true);
            }
            note(rig, kills.get());
            return run;
        }
    }

    private static int kill(CacheGroup group, AtomicBoolean over) throws Exception {
        Thread.sleep(FIRST_MILLIS);
        int kills = 0;
        while (!over.get()) {
            long next = System.nanoTime() + TimeUnit.SECONDS.toNanos(EVERY_SECONDS);
            group.restartLast();
            kills++;
            while (!over.get() && System.nanoTime() < next) {
                Thread.sleep(LOOK_MILLIS);
            }
        }
        return kills;
    }

    private static void note(ShareRig rig, int kills) throws BenchException {
        if (kills == 0) {
            throw new BenchException("all was read before a node could be killed: --shard-mib must be greater");
        }
        rig.note("Kills, each round", Integer.toString(kills));
    }
}

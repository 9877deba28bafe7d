package io.penstock.benchmarks;

import io.penstock.tools.measure.Measurement;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.ToLongFunction;

/** Rows of {@code bin/bench share}. */
final class ShareScenarios {
    private static final String ONE_ALONE = "large files, 1 node, without a group";

    /** Concurrent requests: those of one stream of a mount. */
    private static final int CONNECTIONS = 16;

    private static final long EVERY_SECONDS = 5;
    private static final long FIRST_MILLIS = 500;
    private static final long LOOK_MILLIS = 50;

    private ShareScenarios() {}

    static Scenario<ShareRig> inStep() {
        return together("large files, all nodes in step", Readers.inStep(), ShareScenarios::shards);
    }

    static Scenario<ShareRig> paced() {
        return together(
                "large files, all nodes in step, " + (Readers.PACE >> 20) + " MiB/s each",
                Readers.paced(),
                data -> DataSet.SHARDS * Readers.pacedSize(data));
    }

    static Scenario<ShareRig> shuffled() {
        return together(
                "large files, parts of 32 MiB, each node in its own order", Readers.shuffled(), ShareScenarios::shards);
    }

    static Scenario<ShareRig> smallFiles() {
        return together(
                "small files of 100 KiB, all nodes in step",
                Readers.smallFiles(),
                data -> (long) data.smallFiles() * DataSet.SMALL_SIZE);
    }

    private static long shards(DataSet data) {
        return DataSet.SHARDS * data.shardSize();
    }

    /** All nodes read the same for the first time, simultaneously: as a group, against the same mounts without one. */
    private static Scenario<ShareRig> together(String name, Readers readers, ToLongFunction<DataSet> bytes) {
        String direct = name + ", without a group";
        return new Scenario<>(List.of(ReportRow.of(name, direct)), rig -> {
            rig.direct(direct, rig.nodes(), readers);
            CacheGroup group = rig.group(rig.nodes());
            rig.shared(
                    name,
                    group,
                    group.mounts(),
                    bytes.applyAsLong(rig.data()),
                    () -> readers.read(rig, ShareRig.folders(group.mounts())));
            group.unmount();
        });
    }

    /**
     * One node reads data that its owners have in their caches. Only bytes from other nodes count; what the reader owns
     * itself is not counted, so the true rate is slightly higher.
     */
    static Scenario<ShareRig> peer() {
        String name = "large files, 1 node, from other nodes";
        String raw = ReadScenarios.rawName(DataSet.SHARDS, CONNECTIONS);
        return new Scenario<>(List.of(ReportRow.of(name, raw, ONE_ALONE)), rig -> {
            List<String> shards = rig.data().shards();
            rig.raw(raw, rig.wholes(shards, ReadRig.RANGE), CONNECTIONS);
            rig.direct(ONE_ALONE, 1, Readers.inStep());
            CacheGroup group = rig.group(rig.nodes());
            for (String shard : shards) {
                group.warm(shard);
            }
            MountProcess reader = group.mounts().getLast();
            rig.fromPeers(
                    name, group, shards(rig.data()), () -> Readers.inStep().read(rig, List.of(reader.path())));
            group.unmount();
        });
    }

    /**
     * All nodes except one read, while that one is killed and restarted every few seconds, against the same without
     * kills. Costs and bytes are those of the readers.
     */
    static Scenario<ShareRig> killed() {
        String killed = "large files, all nodes but one, which is killed every " + EVERY_SECONDS + " s";
        String unharmed = "large files, all nodes but one, which is well";
        return new Scenario<>(List.of(ReportRow.of(killed, unharmed)), rig -> {
            readBeside(rig, unharmed, (_, readers) -> readInStep(rig, readers));
            readBeside(rig, killed, (group, readers) -> readWhileKilling(rig, group, readers));
        });
    }

    @FunctionalInterface
    private interface Reading {
        Measurement run(CacheGroup group, List<MountProcess> readers) throws Exception;
    }

    private static void readBeside(ShareRig rig, String name, Reading reading) throws Exception {
        CacheGroup group = rig.group(rig.nodes());
        List<MountProcess> readers = group.mounts().subList(0, rig.nodes() - 1);
        rig.shared(name, group, readers, shards(rig.data()), () -> reading.run(group, readers));
        group.unmount();
    }

    private static Measurement readInStep(ShareRig rig, List<MountProcess> readers) throws Exception {
        return Readers.inStep().read(rig, ShareRig.folders(readers));
    }

    private static Measurement readWhileKilling(ShareRig rig, CacheGroup group, List<MountProcess> readers)
            throws Exception {
        AtomicBoolean over = new AtomicBoolean();
        try (ExecutorService killer = Executors.newSingleThreadExecutor()) {
            Future<Integer> killing = killer.submit(() -> kill(group, over));
            Measurement run;
            try {
                run = readInStep(rig, readers);
            } finally {
                over.set(true);
            }
            int kills = killing.get();
            if (kills == 0) {
                throw new BenchException("all was read before a node could be killed: --shard-mib must be greater");
            }
            rig.note("Kills, each round", Integer.toString(kills));
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

    /** A node that is alone in its group, against a mount that shares nothing. */
    static Scenario<ShareRig> alone() {
        String name = "large files, 1 node, alone in its group";
        return new Scenario<>(List.of(ReportRow.of(name, ONE_ALONE)), rig -> {
            rig.direct(ONE_ALONE, 1, Readers.inStep());
            CacheGroup group = rig.group(1);
            rig.shared(name, group, group.mounts(), shards(rig.data()), () -> readInStep(rig, group.mounts()));
            group.unmount();
        });
    }
}

package io.penstock.benchmarks;

import io.penstock.tools.measure.Measurement;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/** How readers read from several mounts at the same time. */
@FunctionalInterface
interface Readers {
    /** Threads per node that read large files. */
    int STREAMS = DataSet.SHARDS;

    /** Bytes per second of a paced node. */
    long PACE = 100 << 20;

    /** Maximum bytes that a paced thread reads of a file. */
    long PACED_SIZE = 256 << 20;

    /** @param nodes the mounts */
    Measurement read(ReadRig rig, List<Path> nodes) throws Exception;

    /** Each node reads all large files sequentially, one thread per file. */
    static Readers inStep() {
        return (rig, nodes) -> rig.fio()
                .run(
                        Fio.Shape.sequential(ReadRig.CALL),
                        jobs(rig.data(), nodes, rig.data().shardSize()));
    }

    /** The same for the first part of each file, at {@link #PACE} per second. */
    static Readers paced() {
        return (rig, nodes) -> rig.fio()
                .run(
                        Fio.Shape.sequential(ReadRig.CALL).paced(PACE / STREAMS),
                        jobs(rig.data(), nodes, pacedSize(rig.data())));
    }

    static long pacedSize(DataSet data) {
        return Math.min(PACED_SIZE, data.shardSize());
    }

    private static List<Fio.Job> jobs(DataSet data, List<Path> nodes, long size) {
        return nodes.stream()
                .flatMap(node -> data.shards().stream().map(shard -> new Fio.Job(node.resolve(shard), 0, size)))
                .toList();
    }

    /** Each node reads parts of 32 MiB of the large files, in a different order. */
    static Readers shuffled() {
        return (rig, nodes) -> {
            List<List<FileReads.Block>> orders = new ArrayList<>();
            for (int node = 0; node < nodes.size(); node++) {
                List<FileReads.Block> parts = parts(rig.data(), nodes.get(node));
                Collections.shuffle(parts, new Random(node));
                orders.add(parts);
            }
            return FileReads.parts(inTurn(orders), (int) DataSet.SHARD_GRAIN, ReadRig.CALL, STREAMS * nodes.size());
        };
    }

    private static List<FileReads.Block> parts(DataSet data, Path node) {
        List<FileReads.Block> parts = new ArrayList<>();
        for (String shard : data.shards()) {
            for (long at = 0; at < data.shardSize(); at += DataSet.SHARD_GRAIN) {
                parts.add(new FileReads.Block(node.resolve(shard), at));
            }
        }
        return parts;
    }

    /** Each node opens, reads and closes all small files, in the same order. */
    static Readers smallFiles() {
        return (rig, nodes) -> {
            List<String> names = new ArrayList<>(rig.data().small());
            Collections.shuffle(names, new Random(1));
            List<List<Path>> orders = nodes.stream()
                    .map(node -> names.stream().map(node::resolve).toList())
                    .toList();
            return FileReads.whole(inTurn(orders), DataSet.SMALL_SIZE, ReadRig.THREADS * nodes.size());
        };
    }

    /** The first item of each list, the second of each, and so on. All lists must have the same length. */
    static <T> List<T> inTurn(List<List<T>> lists) {
        List<T> all = new ArrayList<>();
        for (int i = 0; i < lists.getFirst().size(); i++) {
            for (List<T> list : lists) {
                all.add(list.get(i));
            }
        }
        return all;
    }
}

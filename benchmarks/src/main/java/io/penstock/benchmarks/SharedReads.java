package io.penstock.benchmarks;

import java.util.List;
import java.util.function.ToLongFunction;

/** All nodes read the same for the first time, simultaneously: as a group, against the same mounts without one. */
final class SharedReads implements Scenario<ShareRig> {
    private static final String DIRECT = ", without a group";

    private final String name;
    private final Readers readers;
    private final ToLongFunction<DataSet> bytes;

    private SharedReads(String name, Readers readers, ToLongFunction<DataSet> bytes) {
        this.name = name;
        this.readers = readers;
        this.bytes = bytes;
    }

    static SharedReads inStep() {
        return new SharedReads("large files, all nodes in step", Readers.inStep(), SharedReads::shards);
    }

    static SharedReads paced() {
        return new SharedReads(
                "large files, all nodes in step, " + (Readers.PACE >> 20) + " MiB/s each",
                Readers.paced(),
                data -> DataSet.SHARDS * Readers.pacedSize(data));
    }

    static SharedReads shuffled() {
        return new SharedReads(
                "large files, parts of 32 MiB, each node in its own order", Readers.shuffled(), SharedReads::shards);
    }

    static SharedReads smallFiles() {
        return new SharedReads(
                "small files of 100 KiB, all nodes in step",
                Readers.smallFiles(),
                data -> (long) data.smallFiles() * DataSet.SMALL_SIZE);
    }

    static long shards(DataSet data) {
        return DataSet.SHARDS * data.shardSize();
    }

    @Override
    public List<ReportRow> rows() {
        return List.of(new ReportRow(name, new ReportRow.Ceiling(name + DIRECT)));
    }

    @Override
    public void round(ShareRig rig) throws Exception {
        rig.direct(name + DIRECT, rig.nodes(), readers);
        CacheGroup group = rig.group(rig.nodes());
        rig.shared(
                name,
                group,
                group.mounts(),
                bytes.applyAsLong(rig.data()),
                () -> readers.read(rig.reads(), ShareRig.folders(group.mounts())));
        group.unmount();
    }
}

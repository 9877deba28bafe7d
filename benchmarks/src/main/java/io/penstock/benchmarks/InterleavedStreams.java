package io.penstock.benchmarks;

import java.nio.file.Path;
import java.util.List;

/**
 * Eight sequential streams that take turns on one descriptor, as tensor and column loaders read, against one stream
 * with the same thread and the same calls, both cold.
 */
final class InterleavedStreams implements Scenario<ReadRig> {
    private static final int STREAMS = 8;
    private static final int VISIT = 1 << 20;
    private static final String ONE = "cold, one stream, reads of 128 KiB";
    private static final String EIGHT = "cold, 8 streams on one descriptor, 1 MiB in turn";

    @Override
    public List<ReportRow> rows() {
        return List.of(
                new ReportRow(ONE, ColdSequential.rawCeiling(1, 16)),
                new ReportRow(EIGHT, new ReportRow.Ceiling(ONE), ColdSequential.rawCeiling(1, 16)));
    }

    @Override
    public void round(ReadRig rig) throws Exception {
        MountProcess mount = rig.mount();
        rig.served(ONE, mount, () -> read(rig, mount.path().resolve(rig.data().shard(0)), 1));
        rig.served(EIGHT, mount, () -> read(rig, mount.path().resolve(rig.data().shard(1)), STREAMS));
        rig.unmount(mount);
    }

    private static Measurement read(ReadRig rig, Path file, int streams) throws Exception {
        return FileReads.interleaved(file, rig.data().shardSize(), streams, VISIT, ReadRig.FUSE_REQUEST);
    }
}

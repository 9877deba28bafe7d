package io.penstock.benchmarks;

import java.util.List;

/**
 * One node reads what its owners have in their caches. Only bytes from other nodes count; what the reader owns itself
 * is not counted, so the true rate is slightly higher.
 */
final class PeerReads implements Scenario<ShareRig> {
    private static final String NAME = "large files, 1 node, from other nodes";

    /** Concurrent requests: those of one stream of a mount. */
    private static final int CONNECTIONS = 16;

    private static final String RAW =
            "raw GETs of 8 MiB × " + CONNECTIONS + ", " + ColdSequential.files(DataSet.SHARDS);

    @Override
    public List<ReportRow> rows() {
        return List.of(new ReportRow(NAME, new ReportRow.Ceiling(RAW), new ReportRow.Ceiling(LoneNode.DIRECT)));
    }

    @Override
    public void round(ShareRig rig) throws Exception {
        ReadRig reads = rig.reads();
        List<String> shards = rig.data().shards();
        reads.raw(RAW, RawGets.wholes(reads.versions(shards), ReadRig.RANGE), CONNECTIONS);
        rig.direct(LoneNode.DIRECT, 1, Readers.inStep());
        CacheGroup group = rig.group(rig.nodes());
        for (String shard : shards) {
            group.warm(shard);
        }
        MountProcess reader = group.mounts().getLast();
        rig.fromPeers(
                NAME,
                group,
                SharedReads.shards(rig.data()),
                () -> Readers.inStep().read(reads, List.of(reader.path())));
        group.unmount();
    }
}

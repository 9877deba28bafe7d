package io.penstock.benchmarks;

import java.util.List;

/** A node that is alone in its group, against a mount that shares nothing. */
final class LoneNode implements Scenario<ShareRig> {
    static final String DIRECT = "large files, 1 node, without a group";

    private static final String NAME = "large files, 1 node, alone in its group";

    @Override
    public List<ReportRow> rows() {
        return List.of(new ReportRow(NAME, new ReportRow.Ceiling(DIRECT)));
    }

    @Override
    public void round(ShareRig rig) throws Exception {
        rig.direct(DIRECT, 1, Readers.inStep());
        CacheGroup group = rig.group(1);
        rig.shared(
                NAME,
                group,
                group.mounts(),
                SharedReads.shards(rig.data()),
                () -> Readers.inStep().read(rig.reads(), ShareRig.folders(group.mounts())));
        group.unmount();
    }
}

package io.penstock.benchmarks;

import java.util.List;

/**
 * A file of weights loaded for the first time, as programs do: mapped and touched in order, like safetensors and GGUF,
 * and with O_DIRECT reads in a deep queue; against the minimum GETs for that.
 */
final class WholeModels implements Scenario<ReadRig> {
    /** Bytes per read of loaders that queue reads. */
    private static final int QUEUED = 16 << 20;

    private static final String MAPPED_ROW = "cold, mapped and touched in order, 1 file";
    private static final String QUEUED_ROW = "cold, O_DIRECT, 16 reads of 16 MiB at once, 1 file";

    @Override
    public List<ReportRow> rows() {
        return List.of(
                new ReportRow(MAPPED_ROW, ColdSequential.rawCeiling(1, 16), ColdSequential.bestRaw(1)),
                new ReportRow(QUEUED_ROW, ColdSequential.rawCeiling(1, 16), ColdSequential.bestRaw(1)));
    }

    @Override
    public void round(ReadRig rig) throws Exception {
        ColdSequential.rawGets(rig, 1, rig.versions(List.of(rig.data().shard(0))), List.of(16));
        load(rig, MAPPED_ROW, Fio.Shape.sequential(ReadRig.CALL).by(Fio.Calls.MAPPED));
        load(rig, QUEUED_ROW, Fio.Shape.sequential(QUEUED).by(Fio.Calls.QUEUED));
        ColdSequential.rawGets(rig, 1, rig.versions(List.of(rig.data().shard(0))), List.of(64));
    }

    private static void load(ReadRig rig, String name, Fio.Shape shape) throws Exception {
        MountProcess mount = rig.mount();
        rig.served(name, mount, () -> rig.fio().run(shape, rig.data().wholeShards(mount.path(), 1)));
        rig.unmount(mount);
    }
}

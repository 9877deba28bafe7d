package io.penstock.benchmarks;

import java.nio.file.Path;
import java.util.List;

/** A checkpoint that the program does not wait for: closed once it is on NVMe, against a bare file and fdatasync. */
final class StagedWrites implements WriteScenario {
    private static final String STAGED = "write 1 file, until closed, write.close=staged";
    private static final String FSYNCED = "write 1 file, until fdatasync";
    private static final String BARE = "bare disk, 1 file, until fdatasync";

    @Override
    public List<Row> rows() {
        return List.of(new Row(STAGED, new Row.Ceiling(BARE)), new Row(FSYNCED, new Row.Ceiling(BARE)));
    }

    @Override
    public void round(WriteRig rig) throws Exception {
        long size = rig.sizes().file();
        MountProcess staged = rig.mount("-o", "write.close=staged");
        rig.served(
                STAGED,
                staged,
                () -> FileWrites.sequential(WriteRig.files(staged, "staged", 1), size, FileWrites.End.CLOSE));
        rig.unmount(staged);
        Path bare = rig.bareFile();
        rig.bare(BARE, () -> FileWrites.sequential(List.of(bare), size, FileWrites.End.FDATASYNC));
        MountProcess synced = rig.mount("-o", "write.close=staged");
        rig.served(
                FSYNCED,
                synced,
                () -> FileWrites.sequential(WriteRig.files(synced, "synced", 1), size, FileWrites.End.FDATASYNC));
        rig.unmount(synced);
    }
}

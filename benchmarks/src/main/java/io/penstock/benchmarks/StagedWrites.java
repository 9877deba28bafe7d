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
        MountProcess mount = rig.mount("-o", "write.close=staged");
        // Both in one mount: where a disk is told of each deleted block, it is slow after the deletion of a cache.
        rig.awaitObject("warm-up", size / 4);
        write(rig, mount, STAGED, "staged", FileWrites.End.CLOSE);
        rig.awaitObject("staged0", size);
        write(rig, mount, FSYNCED, "synced", FileWrites.End.FDATASYNC);
        rig.unmount(mount);
        Path bare = rig.bareFile();
        rig.bare(BARE, () -> FileWrites.sequential(List.of(bare), size, FileWrites.End.FDATASYNC));
    }

    private static void write(WriteRig rig, MountProcess mount, String row, String name, FileWrites.End end)
            throws Exception {
        List<Path> file = WriteRig.files(mount, name, 1);
        rig.served(row, mount, () -> FileWrites.sequential(file, rig.sizes().file(), end));
    }
}

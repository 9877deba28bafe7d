package io.penstock.benchmarks;

import java.nio.file.Path;
import java.util.List;

/** A checkpoint that does not delay the program: closed once it is on NVMe, against a bare file and fdatasync. */
final class StagedWrites implements Scenario<WriteRig> {
    private static final String STAGED = "write 1 file, until closed, write.close=staged";
    private static final String FSYNCED = "write 1 file, until fdatasync";
    private static final String BARE = "bare disk, 1 file, until fdatasync";

    @Override
    public List<ReportRow> rows() {
        return List.of(
                new ReportRow(STAGED, new ReportRow.Ceiling(BARE)),
                new ReportRow(FSYNCED, new ReportRow.Ceiling(BARE)));
    }

    @Override
    public void round(WriteRig rig) throws Exception {
        long size = rig.sizes().file();
        // One mount, and the bare disk before and after it. A disk that discards each deleted block is slow after a
        // cache was deleted, for longer than a benchmark can wait.
        MountProcess mount = rig.mount("-o", "write.close=staged");
        rig.awaitObject("warm-up", size / 4);
        bare(rig, "before", size);
        write(rig, mount, STAGED, "staged", FileWrites.End.CLOSE);
        rig.awaitObject("staged0", size);
        write(rig, mount, FSYNCED, "synced", FileWrites.End.FDATASYNC);
        rig.awaitObject("synced0", size);
        bare(rig, "after", size);
        rig.unmount(mount);
    }

    private static void bare(WriteRig rig, String name, long size) throws Exception {
        List<Path> file = List.of(rig.bareFile(name));
        rig.bare(BARE, () -> FileWrites.sequential(file, size, FileWrites.End.FDATASYNC));
    }

    private static void write(WriteRig rig, MountProcess mount, String row, String name, FileWrites.End end)
            throws Exception {
        List<Path> file = WriteRig.files(mount, name, 1);
        rig.served(row, mount, () -> FileWrites.sequential(file, rig.sizes().file(), end));
    }
}

package io.penstock.benchmarks;

import java.nio.file.Path;
import java.util.List;

/** Random writes of 4 KiB to a large object, and the commit, for which the store copies the rest. */
final class RandomWrites implements Scenario<WriteRig> {
    private static final int BLOCK = 4096;
    private static final String RANDOM = "write 4 KiB at random into 1 file, until closed";

    @Override
    public List<ReportRow> rows() {
        return List.of(new ReportRow(RANDOM));
    }

    @Override
    public void round(WriteRig rig) throws Exception {
        long size = rig.sizes().file();
        MountProcess mount = rig.mount();
        Path file = WriteRig.files(mount, "random", 1).getFirst();
        FileWrites.sequential(List.of(file), size, FileWrites.End.CLOSE);
        rig.unmount(mount);
        MountProcess again = rig.mount(); // with none of it in the cache
        rig.served(
                RANDOM,
                again,
                () -> FileWrites.random(file, size, BLOCK, rig.sizes().randomWrites()));
        rig.unmount(again);
    }
}

package io.penstock.benchmarks;

import java.nio.file.Files;
import java.util.List;

/** Many small files, each created, written and closed, by 16 threads. */
final class SmallWrites implements Scenario<WriteRig> {
    private static final String SMALL = "write files of 100 KiB, 16 threads";
    private static final String RAW = "raw PUTs of 100 KiB × " + WriteRig.THREADS;

    @Override
    public List<ReportRow> rows() {
        return List.of(new ReportRow(SMALL, new ReportRow.Ceiling(RAW)));
    }

    @Override
    public void round(WriteRig rig) throws Exception {
        int count = rig.sizes().smallFiles();
        rig.raw(RAW, raw -> raw.wholes(rig.keys("raw-small/", count), DataSet.SMALL_SIZE, WriteRig.THREADS));
        MountProcess mount = rig.mount();
        Files.createDirectory(mount.path().resolve("small"));
        rig.served(
                SMALL,
                mount,
                () -> FileWrites.whole(WriteRig.files(mount, "small/", count), DataSet.SMALL_SIZE, WriteRig.THREADS));
        rig.unmount(mount);
    }
}

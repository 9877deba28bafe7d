package io.penstock.benchmarks;

import java.util.List;

/** One file, and eight at the same time, written sequentially and closed, against the minimum parts for that. */
final class StreamWrites implements Scenario<WriteRig> {
    /** The default numbers of parts that a mount sends concurrently, per file and in total. */
    static final int PER_FILE = 16;

    private static final int IN_ALL = 32;
    private static final int STREAMS = 8;

    @Override
    public List<ReportRow> rows() {
        return List.of(
                new ReportRow(name(1), new ReportRow.Ceiling(rawName(1, PER_FILE)), best(1)),
                new ReportRow(name(STREAMS), new ReportRow.Ceiling(rawName(STREAMS, IN_ALL)), best(STREAMS)));
    }

    private static String name(int files) {
        return "write " + ColdSequential.files(files) + ", until closed";
    }

    static String rawName(int files, int concurrency) {
        return "raw parts of 8 MiB × " + concurrency + ", " + ColdSequential.files(files);
    }

    private static ReportRow.Ceiling best(int files) {
        return new ReportRow.Ceiling(List.of(rawName(files, PER_FILE), rawName(files, IN_ALL)));
    }

    @Override
    public void round(WriteRig rig) throws Exception {
        for (int files : List.of(1, STREAMS)) {
            long size = rig.sizes().file() / files;
            rig.raw(rawName(files, PER_FILE), raw -> raw.parts(rig.keys("raw", files), size, WriteRig.PART, PER_FILE));
            MountProcess mount = rig.mount();
            rig.served(
                    name(files),
                    mount,
                    () -> FileWrites.sequential(WriteRig.files(mount, "file", files), size, FileWrites.End.CLOSE));
            rig.unmount(mount);
            rig.raw(rawName(files, IN_ALL), raw -> raw.parts(rig.keys("raw", files), size, WriteRig.PART, IN_ALL));
        }
    }
}

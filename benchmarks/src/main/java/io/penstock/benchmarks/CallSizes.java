package io.penstock.benchmarks;

import java.util.ArrayList;
import java.util.List;

/** A file written in small and in large calls, with and without the kernel's writeback cache. */
final class CallSizes implements Scenario<WriteRig> {
    private static final List<Integer> KIB = List.of(4, 1024);

    /** One part in this many of a large file is written: small calls take long. */
    private static final int PART = 4;

    @Override
    public List<ReportRow> rows() {
        List<ReportRow> rows = new ArrayList<>();
        for (int kib : KIB) {
            rows.add(new ReportRow(name(kib, false)));
            rows.add(new ReportRow(name(kib, true), new ReportRow.Ceiling(name(kib, false))));
        }
        return rows;
    }

    private static String name(int kib, boolean cached) {
        return "write 1 file by calls of " + kib + " KiB, until closed" + (cached ? ", fuse.writeback-cache" : "");
    }

    @Override
    public void round(WriteRig rig) throws Exception {
        for (int kib : KIB) {
            for (boolean cached : List.of(false, true)) {
                MountProcess mount = rig.mount("-o", "fuse.writeback-cache=" + cached);
                rig.served(
                        name(kib, cached),
                        mount,
                        () -> FileWrites.sequential(
                                WriteRig.files(mount, "calls", 1),
                                rig.sizes().file() / PART,
                                kib << 10,
                                FileWrites.End.CLOSE));
                rig.unmount(mount);
            }
        }
    }
}

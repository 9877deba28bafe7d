package io.penstock.benchmarks;

import io.penstock.objectstore.StoredObject;
import java.util.List;

/** A folder of many small files removed by {@code rm -r}, and another renamed by {@code mv}. */
final class WholeFolders implements Scenario<NamesRig> {
    /** Concurrent copies. */
    private static final int COPIES = 64;

    private static final String REMOVE = "rm -r of a folder";
    private static final String MOVE = "mv of a folder";
    private static final String RAW_REMOVE = "raw DeleteObject, one after another";
    private static final String RAW_MOVE = "raw CopyObject × 64, then DeleteObjects by the thousand";

    @Override
    public List<ReportRow> rows() {
        return List.of(
                new ReportRow(REMOVE, new ReportRow.Ceiling(RAW_REMOVE), new ReportRow.Ceiling(NamedFiles.RAW_DELETES)),
                new ReportRow(MOVE, new ReportRow.Ceiling(RAW_MOVE)));
    }

    @Override
    public void round(NamesRig rig) throws Exception {
        int count = rig.files();
        List<String> removed = rig.provide("raw/", count);
        rig.raw(RAW_REMOVE, () -> rig.names().removals(removed, 1));
        List<String> _ = rig.provide("removed/", count);
        List<String> _ = rig.provide("moved/", count);
        MountProcess mount = rig.mount();
        rig.served(
                REMOVE,
                mount,
                () -> TreeRig.shell(count, "rm -r \"$1\"", mount.path().resolve("removed")));
        List<String> _ = rig.provide("raw/", count);
        List<StoredObject> objects = rig.list("raw/");
        rig.raw(RAW_MOVE, () -> rig.names().move(objects, key -> key + "-moved", COPIES));
        rig.served(
                MOVE,
                mount,
                () -> TreeRig.shell(count, "mv \"$1\" \"$1-away\"", mount.path().resolve("moved")));
        rig.unmount(mount);
    }
}

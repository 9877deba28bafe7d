package io.penstock.benchmarks;

import io.penstock.benchmarks.FileNames.Rename;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Files that a program replaces: it writes a temporary file and renames it over the old one. */
final class ReplacedFiles implements Scenario<NamesRig> {
    private static final List<String> CLOSES = List.of("visible", "staged");

    @Override
    public List<ReportRow> rows() {
        List<ReportRow> rows = new ArrayList<>();
        for (String close : CLOSES) {
            for (Rename order : Rename.values()) {
                rows.add(new ReportRow(name(order, close), new ReportRow.Ceiling(NamedFiles.RAW_PUTS)));
            }
        }
        return rows;
    }

    private static String name(Rename order, String close) {
        String when = order == Rename.WHILE_OPEN ? "while it is open" : "after its close";
        return "temporary file renamed over a file " + when + ", write.close=" + close;
    }

    @Override
    public void round(NamesRig rig) throws Exception {
        int count = Math.ceilDiv(rig.files(), 10);
        for (String close : CLOSES) {
            for (Rename order : Rename.values()) {
                // Shorter than their replacements, to distinguish the two.
                Measurement _ = rig.puts().wholes(rig.keys("replaced/", count), NamesRig.SIZE - 1, NamesRig.THREADS);
                MountProcess mount = rig.mount("-o", "write.close=" + close);
                List<Path> files = WriteRig.files(mount, "replaced/", count);
                rig.served(name(order, close), mount, () -> {
                    Measurement replaced = FileNames.replace(files, NamesRig.SIZE, order, NamesRig.THREADS);
                    rig.awaitObjects("replaced/", count);
                    return replaced;
                });
                rig.unmount(mount);
            }
        }
    }
}

package io.penstock.benchmarks;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** An archive of small files that GNU tar extracts with their modes, owners and times. */
final class ExtractedArchive implements Scenario<NamesRig> {
    private static final String VISIBLE = "tar x of small files";
    private static final String STAGED = "tar x of small files, write.close=staged";
    private static final String RAW = "raw PUTs of 100 bytes, one after another";
    private static final int PER_FOLDER = 1000;

    @Override
    public List<ReportRow> rows() {
        return List.of(
                new ReportRow(VISIBLE, new ReportRow.Ceiling(RAW)), new ReportRow(STAGED, new ReportRow.Ceiling(RAW)));
    }

    @Override
    public void round(NamesRig rig) throws Exception {
        int count = 2 * rig.files();
        Path archive = archive(rig.scratch(), count);
        List<String> raw = rig.keys("raw/", rig.files());
        rig.raw(RAW, () -> rig.puts().wholes(raw, NamesRig.SIZE, 1));
        extract(rig, VISIBLE, "visible", archive, count);
        extract(rig, STAGED, "staged", archive, count);
    }

    /** The first call creates it. */
    private static Path archive(Scratch scratch, int count) throws Exception {
        Path archive = scratch.root().resolve("files.tar");
        if (!Files.exists(archive)) {
            Path tree = scratch.emptyFolder("tree");
            for (int i = 0; i < count; i++) {
                Path folder = Files.createDirectories(tree.resolve("folder" + i / PER_FOLDER));
                Files.write(folder.resolve("file" + i), RandomBytes.of("archived", i, NamesRig.SIZE));
            }
            Programs.run(List.of("tar", "-cf", archive.toString(), "-C", tree.toString(), "."));
            Path _ = scratch.emptyFolder("tree");
        }
        return archive;
    }

    private static void extract(NamesRig rig, String row, String close, Path archive, int count) throws Exception {
        MountProcess mount = rig.mount("-o", "write.close=" + close);
        Path folder = Files.createDirectory(mount.path().resolve(close));
        rig.served(row, mount, () -> {
            long start = System.nanoTime();
            Programs.run(List.of("tar", "-xpf", archive.toString(), "-C", folder.toString()));
            long nanos = System.nanoTime() - start;
            rig.awaitObjects(close + "/", count);
            return Measurement.ofWhole(count, nanos);
        });
        rig.unmount(mount);
    }
}

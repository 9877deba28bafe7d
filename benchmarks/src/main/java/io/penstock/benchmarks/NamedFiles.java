package io.penstock.benchmarks;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;

/** Small files that 16 threads create, stat, rename and remove one by one. */
final class NamedFiles implements Scenario<NamesRig> {
    /** The ceiling for creating files. */
    static final String RAW_PUTS = "raw PUTs of 100 bytes × 16";

    /** The ceiling for removing files, except in batches of a thousand. */
    static final String RAW_DELETES = "raw DeleteObject × 16";

    private static final String CREATE = "create, write and close files of 100 bytes, 16 threads";
    private static final String STAGED = "the same, write.close=staged";
    private static final String STAT = "stat of files in a mount just started, 16 threads";
    private static final String STAT_AGAIN = "stat of the same files, again";
    private static final String RENAME = "rename of files, 16 threads";
    private static final String RENAME_APART = "rename of files, 16 threads, each in a folder of its own";
    private static final String UNLINK = "unlink of files, 16 threads";
    private static final String RAW_HEADS = "raw HEADs × 16";
    private static final String RAW_RENAMES = "raw CopyObject and DeleteObject × 16";
    private static final String RAW_RENAMES_IN_TURN = "raw CopyObject and DeleteObject, one after another";

    @Override
    public List<ReportRow> rows() {
        return List.of(
                new ReportRow(CREATE, new ReportRow.Ceiling(RAW_PUTS)),
                new ReportRow(STAGED, new ReportRow.Ceiling(RAW_PUTS)),
                new ReportRow(STAT, new ReportRow.Ceiling(RAW_HEADS)),
                new ReportRow(STAT_AGAIN, new ReportRow.Ceiling(RAW_HEADS)),
                new ReportRow(RENAME, new ReportRow.Ceiling(RAW_RENAMES), new ReportRow.Ceiling(RAW_RENAMES_IN_TURN)),
                new ReportRow(RENAME_APART, new ReportRow.Ceiling(RAW_RENAMES)),
                new ReportRow(UNLINK, new ReportRow.Ceiling(RAW_DELETES)));
    }

    @Override
    public void round(NamesRig rig) throws Exception {
        create(rig, STAGED, "staged", "-o", "write.close=staged");
        int threads = NamesRig.THREADS;
        List<String> raw = rig.keys("raw/", rig.files());
        rig.raw(RAW_PUTS, () -> rig.puts().wholes(raw, NamesRig.SIZE, threads));
        create(rig, CREATE, "files");

        MountProcess mount = rig.mount();
        List<Path> files = WriteRig.files(mount, "files/file", rig.files());
        List<Path> renamed = WriteRig.files(mount, "files/renamed", rig.files());
        rig.raw(RAW_HEADS, () -> rig.names().attributes(raw, threads));
        rig.served(STAT, mount, () -> FileReads.attributes(files, threads));
        rig.served(STAT_AGAIN, mount, () -> FileReads.attributes(files, threads));
        rig.raw(RAW_RENAMES, () -> rig.names().renames(rig.list("raw/"), key -> key + "-renamed", threads));
        rig.served(RENAME, mount, () -> FileNames.rename(files, renamed, threads));
        // Within one folder, the kernel makes one rename at a time.
        rig.raw(RAW_RENAMES_IN_TURN, () -> rig.names().renames(rig.list("raw/"), key -> key + "-again", 1));
        List<String> left = raw.stream().map(key -> key + "-renamed-again").toList();
        rig.raw(RAW_DELETES, () -> rig.names().removals(left, threads));
        rig.served(UNLINK, mount, () -> FileNames.unlink(renamed, mount.path().resolve("files"), threads));
        rig.unmount(mount);
        renameApart(rig);
    }

    /** Uses a separate mount and separate objects, so that it does not affect the other rows. */
    private static void renameApart(NamesRig rig) throws Exception {
        List<String> names = apart("file", rig.files());
        rig.provide(names);
        MountProcess mount = rig.mount();
        List<Path> files = names.stream().map(mount.path()::resolve).toList();
        List<Path> renamed = apart("renamed", rig.files()).stream()
                .map(mount.path()::resolve)
                .toList();
        // The mount then knows files and folders, as in the other rename.
        Programs.run(List.of("ls", "-lR", mount.path().resolve("apart").toString()));
        rig.served(RENAME_APART, mount, () -> FileNames.renameDealt(files, renamed, NamesRig.THREADS));
        rig.unmount(mount);
    }

    /** Names distributed over as many folders as there are threads. */
    private static List<String> apart(String name, int count) {
        return IntStream.range(0, count)
                .mapToObj(i -> "apart/" + i % NamesRig.THREADS + "/" + name + i)
                .toList();
    }

    private static void create(NamesRig rig, String row, String folder, String... options) throws Exception {
        MountProcess mount = rig.mount(options);
        Files.createDirectory(mount.path().resolve(folder));
        List<Path> files = WriteRig.files(mount, folder + "/file", rig.files());
        rig.served(row, mount, () -> {
            Measurement written = FileWrites.whole(files, NamesRig.SIZE, NamesRig.THREADS);
            rig.awaitObjects(folder + "/file", files.size());
            return written;
        });
        rig.unmount(mount);
    }
}

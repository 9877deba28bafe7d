package io.penstock.benchmarks;

import io.penstock.benchmarks.FileNames.Rename;
import io.penstock.objectstore.StoredObject;
import io.penstock.tools.measure.Measurement;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/** Rows of {@code bin/bench names}. */
final class NamesScenarios {
    /** The ceiling for creating files. */
    private static final String RAW_PUTS = "raw PUTs of 100 bytes × 16";

    /** The ceiling for removing files, except in batches of a thousand. */
    private static final String RAW_DELETES = "raw DeleteObject × 16";

    private static final String RENAME_APART = "rename of files, 16 threads, each in a folder of its own";
    private static final List<String> CLOSES = List.of("visible", "staged");

    /** Concurrent copies. */
    private static final int COPIES = 64;

    private static final int PER_FOLDER = 1000;
    private static final int THREADS = NamesRig.THREADS;

    private NamesScenarios() {}

    /** Small files that 16 threads create, stat, rename and remove one by one. */
    static Scenario<NamesRig> files() {
        String create = "create, write and close files of 100 bytes, 16 threads";
        String staged = "the same, write.close=staged";
        String stat = "stat of files in a mount just started, 16 threads";
        String statAgain = "stat of the same files, again";
        String rename = "rename of files, 16 threads";
        String unlink = "unlink of files, 16 threads";
        String rawHeads = "raw HEADs × 16";
        String rawRenames = "raw CopyObject and DeleteObject × 16";
        String rawRenamesInTurn = "raw CopyObject and DeleteObject, one after another";
        List<ReportRow> rows = List.of(
                ReportRow.of(create, RAW_PUTS),
                ReportRow.of(staged, RAW_PUTS),
                ReportRow.of(stat, rawHeads),
                ReportRow.of(statAgain, rawHeads),
                ReportRow.of(rename, rawRenames, rawRenamesInTurn),
                ReportRow.of(RENAME_APART, rawRenames),
                ReportRow.of(unlink, RAW_DELETES));
        return new Scenario<>(rows, rig -> {
            create(rig, staged, "staged", "-o", "write.close=staged");
            List<String> raw = rig.keys("raw/", rig.files());
            rig.raw(RAW_PUTS, () -> rig.puts().wholes(raw, NamesRig.SIZE, THREADS));
            create(rig, create, "files");
            MountProcess mount = rig.mount();
            List<Path> files = WriteRig.files(mount, "files/file", rig.files());
            List<Path> renamed = WriteRig.files(mount, "files/renamed", rig.files());
            rig.raw(rawHeads, () -> rig.names().attributes(raw, THREADS));
            rig.served(stat, mount, () -> FileReads.attributes(files, THREADS));
            rig.served(statAgain, mount, () -> FileReads.attributes(files, THREADS));
            rig.raw(rawRenames, () -> rig.names().renames(rig.list("raw/"), key -> key + "-renamed", THREADS));
            rig.served(rename, mount, () -> FileNames.rename(files, renamed, THREADS));
            // Within one folder, the kernel makes one rename at a time.
            rig.raw(rawRenamesInTurn, () -> rig.names().renames(rig.list("raw/"), key -> key + "-again", 1));
            List<String> left = raw.stream().map(key -> key + "-renamed-again").toList();
            rig.raw(RAW_DELETES, () -> rig.names().removals(left, THREADS));
            rig.served(
                    unlink, mount, () -> FileNames.unlink(renamed, mount.path().resolve("files"), THREADS));
            rig.unmount(mount);
            renameApart(rig);
        });
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
        rig.served(RENAME_APART, mount, () -> FileNames.renameDealt(files, renamed, THREADS));
        rig.unmount(mount);
    }

    /** Names distributed over as many folders as there are threads. */
    private static List<String> apart(String name, int count) {
        return IntStream.range(0, count)
                .mapToObj(i -> "apart/" + i % THREADS + "/" + name + i)
                .toList();
    }

    private static void create(NamesRig rig, String row, String folder, String... options) throws Exception {
        MountProcess mount = rig.mount(options);
        Files.createDirectory(mount.path().resolve(folder));
        List<Path> files = WriteRig.files(mount, folder + "/file", rig.files());
        rig.served(row, mount, () -> {
            Measurement written = FileWrites.whole(files, NamesRig.SIZE, THREADS);
            rig.awaitObjects(folder + "/file", files.size());
            return written;
        });
        rig.unmount(mount);
    }

    /** Files that a program replaces: it writes a temporary file and renames it over the old one. */
    static Scenario<NamesRig> replaced() {
        List<ReportRow> rows = new ArrayList<>();
        for (String close : CLOSES) {
            for (Rename order : Rename.values()) {
                rows.add(ReportRow.of(replacedName(order, close), RAW_PUTS));
            }
        }
        return new Scenario<>(rows, rig -> {
            int count = Math.ceilDiv(rig.files(), 10);
            for (String close : CLOSES) {
                for (Rename order : Rename.values()) {
                    // Shorter than their replacements, to distinguish the two.
                    Measurement _ = rig.puts().wholes(rig.keys("replaced/", count), NamesRig.SIZE - 1, THREADS);
                    MountProcess mount = rig.mount("-o", "write.close=" + close);
                    List<Path> files = WriteRig.files(mount, "replaced/", count);
                    rig.served(replacedName(order, close), mount, () -> {
                        Measurement replaced = FileNames.replace(files, NamesRig.SIZE, order, THREADS);
                        rig.awaitObjects("replaced/", count);
                        return replaced;
                    });
                    rig.unmount(mount);
                }
            }
        });
    }

    private static String replacedName(Rename order, String close) {
        String when = order == Rename.WHILE_OPEN ? "while it is open" : "after its close";
        return "temporary file renamed over a file " + when + ", write.close=" + close;
    }

    /** A folder of many small files removed by {@code rm -r}, and another renamed by {@code mv}. */
    static Scenario<NamesRig> folders() {
        String remove = "rm -r of a folder";
        String move = "mv of a folder";
        String rawRemove = "raw DeleteObject, one after another";
        String rawMove = "raw CopyObject × 64, then DeleteObjects by the thousand";
        List<ReportRow> rows = List.of(ReportRow.of(remove, rawRemove, RAW_DELETES), ReportRow.of(move, rawMove));
        return new Scenario<>(rows, rig -> {
            int count = rig.files();
            List<String> removed = rig.provide("raw/", count);
            rig.raw(rawRemove, () -> rig.names().removals(removed, 1));
            List<String> _ = rig.provide("removed/", count);
            List<String> _ = rig.provide("moved/", count);
            MountProcess mount = rig.mount();
            rig.served(
                    remove,
                    mount,
                    () -> TreeRig.shell(count, "rm -r \"$1\"", mount.path().resolve("removed")));
            List<String> _ = rig.provide("raw/", count);
            List<StoredObject> objects = rig.list("raw/");
            rig.raw(rawMove, () -> rig.names().move(objects, key -> key + "-moved", COPIES));
            rig.served(
                    move,
                    mount,
                    () -> TreeRig.shell(
                            count, "mv \"$1\" \"$1-away\"", mount.path().resolve("moved")));
            rig.unmount(mount);
        });
    }

    /** An archive of small files that GNU tar extracts with their modes, owners and times. */
    static Scenario<NamesRig> archive() {
        String visible = "tar x of small files";
        String staged = "tar x of small files, write.close=staged";
        String inTurn = "raw PUTs of 100 bytes, one after another";
        return new Scenario<>(List.of(ReportRow.of(visible, inTurn), ReportRow.of(staged, inTurn)), rig -> {
            int count = 2 * rig.files();
            Path archive = archive(rig.scratch(), count);
            List<String> raw = rig.keys("raw/", rig.files());
            rig.raw(inTurn, () -> rig.puts().wholes(raw, NamesRig.SIZE, 1));
            extract(rig, visible, "visible", archive, count);
            extract(rig, staged, "staged", archive, count);
        });
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

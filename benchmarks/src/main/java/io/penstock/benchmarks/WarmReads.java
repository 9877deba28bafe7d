package io.penstock.benchmarks;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Files that are completely in the cache, against the same reads of bare files on the same disk. Through FUSE, bytes
 * can come from three places: the disk; Penstock's side of the mount (its memory, or its files in the kernel's page
 * cache) after the mount's own pages are dropped; and the mount's pages in the kernel. With passthrough, which only
 * root can use, the kernel reads the cache's files itself.
 */
final class WarmReads {
    private static final List<Integer> FILES = List.of(1, DataSet.SHARDS);
    private static final List<Integer> BLOCKS = List.of(4 << 10, 256 << 10);

    private static final String THROUGH_FUSE = "warm";
    private static final String PASSED_THROUGH = "passed through,";

    /** For random reads: enough for tens of thousands, too little for most pages to be read twice. */
    private final int randomSeconds;

    private final boolean passesThrough = KernelCaches.canBeDropped();

    WarmReads(int randomSeconds) {
        this.randomSeconds = randomSeconds;
    }

    Scenario<ReadRig> scenario() {
        return new Scenario<>(rows(), this::round);
    }

    private List<ReportRow> rows() {
        List<ReportRow> rows = new ArrayList<>();
        for (int files : FILES) {
            rows.add(ReportRow.of(
                    sequential(THROUGH_FUSE, files, "NVMe"),
                    bare("disk", files, ReadRig.FUSE_REQUEST),
                    bare("disk", files, ReadRig.CALL)));
            rows.add(ReportRow.of(
                    sequential(THROUGH_FUSE, files, "memory"), bare("page cache", files, ReadRig.FUSE_REQUEST)));
            rows.add(ReportRow.of(
                    sequential(THROUGH_FUSE, files, "the page cache"), bare("page cache", files, ReadRig.CALL)));
        }
        for (int block : BLOCKS) {
            rows.add(ReportRow.of(random(THROUGH_FUSE, block), bareRandom(block)));
        }
        if (passesThrough) {
            for (int files : FILES) {
                rows.add(ReportRow.of(sequential(PASSED_THROUGH, files, "NVMe"), bare("disk", files, ReadRig.CALL)));
                rows.add(ReportRow.of(
                        sequential(PASSED_THROUGH, files, "the page cache"), bare("page cache", files, ReadRig.CALL)));
            }
            for (int block : BLOCKS) {
                rows.add(ReportRow.of(random(PASSED_THROUGH, block), bareRandom(block)));
            }
        }
        return rows;
    }

    private static String sequential(String way, int files, String from) {
        return way + " sequential, " + ReadScenarios.files(files) + ", from " + from;
    }

    private static String random(String way, int block) {
        return way + " random " + (block >> 10) + " KiB, " + ReadRig.THREADS + " threads, from NVMe";
    }

    private static String bare(String place, int files, int call) {
        return "bare " + place + ", " + ReadScenarios.files(files) + ", reads of " + (call >> 10) + " KiB";
    }

    private static String bareRandom(int block) {
        return "bare disk, random " + (block >> 10) + " KiB, " + ReadRig.THREADS + " threads";
    }

    private void round(ReadRig rig) throws Exception {
        rig.bareFiles();
        MountProcess mount = mount(rig, "fuse.passthrough=off");
        for (int files : FILES) {
            bareSequential(rig, files, ReadRig.FUSE_REQUEST);
            sequential(rig, mount, files);
            bareSequential(rig, files, ReadRig.CALL);
        }
        for (int block : BLOCKS) {
            bareRandom(rig, block);
            random(THROUGH_FUSE, rig, mount, block);
        }
        rig.unmount(mount);
        if (passesThrough) {
            mount = mount(rig, "fuse.passthrough=verified");
            for (int files : FILES) {
                passedThrough(rig, mount, files);
            }
            for (int block : BLOCKS) {
                random(PASSED_THROUGH, rig, mount, block);
            }
            rig.unmount(mount);
        }
    }

    /** A mount with all shards in its cache. */
    private static MountProcess mount(ReadRig rig, String option) throws Exception {
        MountProcess mount = rig.mount("-o", option);
        rig.fio().run(Fio.Shape.sequential(ReadRig.CALL), rig.data().wholeShards(mount.path(), DataSet.SHARDS));
        return mount;
    }

    private static void bareSequential(ReadRig rig, int files, int call) throws Exception {
        Fio.Shape shape = Fio.Shape.sequential(call);
        List<Fio.Job> jobs = rig.data().wholeShards(rig.bareFiles(), files);
        KernelCaches.drop();
        rig.bare(bare("disk", files, call), () -> rig.fio().run(shape, jobs));
        rig.bare(bare("page cache", files, call), () -> rig.fio().run(shape.withKernelPages(), jobs));
    }

    private static void sequential(ReadRig rig, MountProcess mount, int files) throws Exception {
        Fio.Shape shape = Fio.Shape.sequential(ReadRig.CALL);
        List<Fio.Job> jobs = rig.data().wholeShards(mount.path(), files);
        rig.readWarmUpShard(mount);
        KernelCaches.drop();
        rig.served(
                sequential(THROUGH_FUSE, files, "NVMe"), mount, () -> rig.fio().run(shape, jobs));
        rig.served(
                sequential(THROUGH_FUSE, files, "memory"),
                mount,
                () -> rig.fio().run(shape, jobs));
        rig.served(
                sequential(THROUGH_FUSE, files, "the page cache"),
                mount,
                () -> rig.fio().run(shape.withKernelPages(), jobs));
    }

    private static void passedThrough(ReadRig rig, MountProcess mount, int files) throws Exception {
        Fio.Shape shape = Fio.Shape.sequential(ReadRig.CALL).withKernelPages();
        List<Fio.Job> jobs = rig.data().wholeShards(mount.path(), files);
        KernelCaches.drop();
        rig.served(
                sequential(PASSED_THROUGH, files, "NVMe"),
                mount,
                () -> rig.fio().run(shape, jobs));
        rig.served(
                sequential(PASSED_THROUGH, files, "the page cache"),
                mount,
                () -> rig.fio().run(shape, jobs));
    }

    private void bareRandom(ReadRig rig, int block) throws Exception {
        Fio.Shape shape = Fio.Shape.random(block, randomSeconds);
        Path bare = rig.bareFiles();
        KernelCaches.drop();
        rig.bare(bareRandom(block), () -> rig.fio().run(shape, rig.data().parts(bare, ReadRig.THREADS)));
    }

    private void random(String way, ReadRig rig, MountProcess mount, int block) throws Exception {
        Fio.Shape shape = Fio.Shape.random(block, randomSeconds);
        rig.readWarmUpShard(mount);
        KernelCaches.drop();
        rig.served(
                random(way, block), mount, () -> rig.fio().run(shape, rig.data().parts(mount.path(), ReadRig.THREADS)));
    }
}

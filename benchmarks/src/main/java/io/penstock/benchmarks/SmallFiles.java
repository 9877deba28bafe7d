package io.penstock.benchmarks;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/** Many small files, opened, read and closed in random order by 16 threads: an epoch of training. */
final class SmallFiles implements Scenario<ReadRig> {
    private static final String COLD = "small files of 100 KiB, cold";
    private static final String NVME = "small files of 100 KiB, from NVMe";
    private static final String PAGE_CACHE = "small files of 100 KiB, from the page cache";
    private static final String RAW = "raw GETs of 100 KiB objects × " + ReadRig.THREADS;
    private static final String BARE_DISK = "bare disk, small files";
    private static final String BARE_PAGE_CACHE = "bare page cache, small files";

    /** A different order in each round, the same in every run. */
    private final Random random = new Random(1);

    @Override
    public List<ReportRow> rows() {
        return List.of(
                new ReportRow(COLD, new ReportRow.Ceiling(RAW)),
                new ReportRow(NVME, new ReportRow.Ceiling(BARE_DISK)),
                new ReportRow(PAGE_CACHE, new ReportRow.Ceiling(BARE_PAGE_CACHE)));
    }

    @Override
    public void round(ReadRig rig) throws Exception {
        List<String> names = new ArrayList<>(rig.data().small());
        Collections.shuffle(names, random);
        Path bare = rig.bareFiles();
        rig.raw(RAW, RawGets.wholes(rig.versions(names), DataSet.SMALL_SIZE), ReadRig.THREADS);

        MountProcess mount = rig.mount();
        rig.served(COLD, mount, () -> read(mount.path(), names));
        rig.readWarmUpShard(mount);
        KernelCaches.drop();
        rig.served(NVME, mount, () -> read(mount.path(), names));
        rig.served(PAGE_CACHE, mount, () -> read(mount.path(), names));

        KernelCaches.drop();
        rig.bare(BARE_DISK, () -> read(bare, names));
        rig.bare(BARE_PAGE_CACHE, () -> read(bare, names));
        rig.unmount(mount);
    }

    private static Measurement read(Path folder, List<String> names) throws Exception {
        List<Path> files = names.stream().map(folder::resolve).toList();
        return FileReads.whole(files, DataSet.SMALL_SIZE, ReadRig.THREADS);
    }
}

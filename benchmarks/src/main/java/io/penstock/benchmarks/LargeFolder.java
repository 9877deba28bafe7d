package io.penstock.benchmarks;

import io.penstock.embeddeds3.SyntheticObjects;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;

/** One folder with very many names in a bucket not listed before: {@code ls}, again, and with attributes. */
final class LargeFolder implements Scenario<TreeRig> {
    static final String BUCKET = "folder";

    private static final int ONE_AFTER_ANOTHER = 1;
    private static final String LOCAL_LS = "ls of a local folder";
    private static final String LOCAL_LS_L = "ls -l of a local folder";

    private final SyntheticObjects objects;
    private final RawListing raw;
    private final int concurrency;
    private final String first;
    private final String again;
    private final String withAttributes;

    /** @param objects of {@link #BUCKET}, all in one folder */
    LargeFolder(SyntheticObjects objects, RawListing raw, int concurrency) {
        this.objects = objects;
        this.raw = raw;
        this.concurrency = concurrency;
        String names = String.format(Locale.ROOT, "%,d names", objects.count());
        this.first = "ls of " + names + ", first";
        this.again = "ls of " + names + ", again";
        this.withAttributes = "ls -l of " + names + ", after that";
    }

    @Override
    public List<ReportRow> rows() {
        return List.of(
                new ReportRow(
                        first,
                        new ReportRow.Ceiling(rawListing(concurrency)),
                        new ReportRow.Ceiling(rawListing(ONE_AFTER_ANOTHER))),
                new ReportRow(again, new ReportRow.Ceiling(LOCAL_LS)),
                new ReportRow(withAttributes, new ReportRow.Ceiling(LOCAL_LS_L)));
    }

    private String rawListing(int concurrency) {
        return "raw listing of " + TreeRig.pages(objects) + " pages × " + concurrency;
    }

    @Override
    public void round(TreeRig rig) throws Exception {
        long self = ProcessHandle.current().pid();
        rig.measure(rawListing(ONE_AFTER_ANOTHER), self, () -> raw.run(ONE_AFTER_ANOTHER));
        rig.measure(rawListing(concurrency), self, () -> raw.run(concurrency));
        TreeMount mount = rig.mount(BUCKET, rig.emptyFolder("cache"));
        Path folder = mount.path().resolve(objects.key(0)).resolveSibling("");
        rig.measure(first, mount.pid(), () -> list("ls", folder));
        rig.measure(again, mount.pid(), () -> list("ls", folder));
        rig.measure(withAttributes, mount.pid(), () -> list("ls -l", folder));
        rig.unmount(mount);
        Path local = rig.localFolder(objects);
        rig.measureLocal(LOCAL_LS, () -> list("ls", local));
        rig.measureLocal(LOCAL_LS_L, () -> list("ls -l", local));
    }

    private Measurement list(String command, Path folder) throws Exception {
        return TreeRig.shell(objects.count(), command + " \"$1\"", folder);
    }
}

package io.penstock.benchmarks;

import io.penstock.core.ObjectVersion;
import java.util.List;

/** One file, and four at once, read from front to back for the first time, against the GETs that this takes at least. */
final class ColdSequential implements Scenario<ReadRig> {
    /** 16 and 64 are the GETs that a mount of up to 8 processors has in flight by default, for one stream and for four. */
    private static final List<Integer> CONCURRENCIES = List.of(8, 16, 32, 64);

    @Override
    public List<ReportRow> rows() {
        return List.of(
                new ReportRow(name(1), rawCeiling(1, 16), bestRaw(1)),
                new ReportRow(name(4), rawCeiling(4, 64), bestRaw(4)));
    }

    private static String name(int files) {
        return "cold sequential, " + files(files);
    }

    static String files(int count) {
        return count == 1 ? "1 file" : count + " files";
    }

    static ReportRow.Ceiling rawCeiling(int files, int concurrency) {
        return new ReportRow.Ceiling(rawName(files, concurrency));
    }

    static ReportRow.Ceiling bestRaw(int files) {
        return new ReportRow.Ceiling(CONCURRENCIES.stream()
                .map(concurrency -> rawName(files, concurrency))
                .toList());
    }

    private static String rawName(int files, int concurrency) {
        return "raw GETs of 8 MiB × " + concurrency + ", " + files(files);
    }

    @Override
    public void round(ReadRig rig) throws Exception {
        for (int files : List.of(1, DataSet.SHARDS)) {
            List<ObjectVersion> versions = rig.versions(rig.data().shards().subList(0, files));
            // Half of the ceilings before, half after: a machine that changes its speed during the run does so for
            // both.
            rawGets(rig, files, versions, CONCURRENCIES.subList(0, 2));
            MountProcess mount = rig.mount();
            rig.served(
                    name(files),
                    mount,
                    () -> rig.fio()
                            .run(Fio.Shape.sequential(ReadRig.CALL), rig.data().wholeShards(mount.path(), files)));
            rig.unmount(mount);
            rawGets(rig, files, versions, CONCURRENCIES.subList(2, 4));
        }
    }

    static void rawGets(ReadRig rig, int files, List<ObjectVersion> versions, List<Integer> concurrencies)
            throws Exception {
        for (int concurrency : concurrencies) {
            rig.raw(rawName(files, concurrency), RawGets.wholes(versions, ReadRig.RANGE), concurrency);
        }
    }
}

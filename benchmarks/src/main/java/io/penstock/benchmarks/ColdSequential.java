package io.penstock.benchmarks;

import io.penstock.core.ObjectVersion;
import java.util.List;
import java.util.stream.Stream;

/** One file, and four at the same time, read sequentially for the first time, against the minimum GETs for that. */
final class ColdSequential implements Scenario<ReadRig> {
    /** 16 and 64 are the default GETs in flight of a mount with up to 8 processors, for one stream and for four. */
    private static final List<Integer> CONCURRENCIES = List.of(8, 16, 32, 64);

    private final boolean withCurl;

    /** @param withCurl whether to measure curl too, with another TLS library; needs a server whose keys it can have */
    ColdSequential(boolean withCurl) {
        this.withCurl = withCurl;
    }

    @Override
    public List<ReportRow> rows() {
        return Stream.of(1, DataSet.SHARDS).map(this::row).toList();
    }

    private ReportRow row(int files) {
        ReportRow.Ceiling usual = rawCeiling(files, files == 1 ? 16 : 64);
        return withCurl
                ? new ReportRow(name(files), usual, bestRaw(files), new ReportRow.Ceiling(curlName(files)))
                : new ReportRow(name(files), usual, bestRaw(files));
    }

    private static String curlName(int files) {
        return "GETs of 8 MiB by curl × 16, " + files(files);
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
            // Half of the ceilings run before, half after: a change of the machine's speed then affects both.
            rawGets(rig, files, versions, CONCURRENCIES.subList(0, 2));
            MountProcess mount = rig.mount();
            rig.served(
                    name(files),
                    mount,
                    () -> rig.fio()
                            .run(Fio.Shape.sequential(ReadRig.CALL), rig.data().wholeShards(mount.path(), files)));
            rig.unmount(mount);
            if (withCurl) {
                rig.curl(curlName(files), RawGets.wholes(versions, ReadRig.RANGE), 16);
            }
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

package io.penstock.benchmarks;

import io.penstock.tools.measure.Measurement;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Shared by the scenarios of nodes that share their caches: mounts with and without a group, and where bytes came from. */
final class ShareRig extends ReadRig {
    private final @Nullable GroupAuthority authority;
    private final int nodes;
    private final ShareResults results;

    /**
     * @param authority that certifies the nodes; null to share in the clear
     * @param nodes per group
     */
    ShareRig(
            BenchFolder folder,
            DataSet data,
            @Nullable GroupAuthority authority,
            int nodes,
            Measurements measurements,
            ShareResults results)
            throws Exception {
        super(folder, data, measurements);
        this.authority = authority;
        this.nodes = nodes;
        this.results = results;
    }

    int nodes() {
        return nodes;
    }

    /** Measures mounts that share nothing. */
    void direct(String name, int count, Readers readers) throws Exception {
        List<MountProcess> direct = new ArrayList<>();
        for (int number = 1; number <= count; number++) {
            direct.add(folder().mount(CacheGroup.name(number), List.of()));
        }
        warmUp(direct);
        served(name, direct, () -> readers.read(this, folders(direct)));
        for (MountProcess mount : direct) {
            unmount(mount);
        }
    }

    /** A group with empty caches, except for the warm-up shard, which compiles its code. */
    CacheGroup group(int count) throws Exception {
        CacheGroup group = CacheGroup.start(folder(), authority, count);
        warmUp(group.mounts());
        return group;
    }

    private void warmUp(List<MountProcess> all) throws Exception {
        String shard = data().warmUpShard();
        List<Fio.Job> jobs = folders(all).stream()
                .map(mounted -> new Fio.Job(mounted.resolve(shard), 0, data().shardSize()))
                .toList();
        fio().run(Fio.Shape.sequential(CALL), jobs);
    }

    static List<Path> folders(List<MountProcess> mounts) {
        return mounts.stream().map(MountProcess::path).toList();
    }

    /** Measures reads that the nodes serve, and where their bytes come from. */
    void shared(String name, CacheGroup group, List<MountProcess> readers, long bytes, Sample.Work work)
            throws Exception {
        Served served = measure(name, group, readers, work);
        add(name, served.sample());
        results.add(name, served.traffic(), bytes);
    }

    /** The same, with the rate and cost of only the bytes that other nodes sent. */
    void fromPeers(String name, CacheGroup group, long bytes, Sample.Work work) throws Exception {
        Served served = measure(name, group, group.mounts(), work);
        Measurement run = served.sample().measurement();
        Measurement sent = new Measurement(
                served.traffic().fromPeers(), run.operations(), run.nanos(), run.p50Nanos(), run.p99Nanos());
        add(name, new Sample(sent, served.sample().cost()));
        results.add(name, served.traffic(), bytes);
    }

    private record Served(Sample sample, GroupTraffic traffic) {}

    private Served measure(String name, CacheGroup group, List<MountProcess> readers, Sample.Work work)
            throws Exception {
        GroupTraffic before = group.traffic(readers);
        Sample sample = measure(readers.stream().map(MountProcess::pid).toList(), work);
        GroupTraffic traffic = group.traffic(readers).since(before);
        if (before.members() > 1 && traffic.fromPeers() == 0) {
            throw new BenchException(
                    name + ": no byte came from another node; fell back to the store: " + traffic.causes());
        }
        return new Served(sample, traffic);
    }
}

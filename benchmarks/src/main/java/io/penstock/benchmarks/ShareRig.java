package io.penstock.benchmarks;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Shared by the scenarios of nodes that share their caches: the data, mounts with and without a group, and results. */
final class ShareRig {
    private final ReadRig reads;
    private final FreshMounts mounts;
    private final NodeTrust trust;
    private final int nodes;
    private final ShareResults results;

    /** @param nodes per group */
    ShareRig(ReadRig reads, FreshMounts mounts, NodeTrust trust, int nodes, ShareResults results) {
        this.reads = reads;
        this.mounts = mounts;
        this.trust = trust;
        this.nodes = nodes;
        this.results = results;
    }

    ReadRig reads() {
        return reads;
    }

    DataSet data() {
        return reads.data();
    }

    int nodes() {
        return nodes;
    }

    /** Measures mounts that share nothing. */
    void direct(String name, int count, Readers readers) throws Exception {
        List<MountProcess> direct = new ArrayList<>();
        for (int number = 1; number <= count; number++) {
            direct.add(mounts.mount(CacheGroup.name(number), List.of()));
        }
        warmUp(direct);
        reads.served(name, direct, () -> readers.read(reads, folders(direct)));
        for (MountProcess mount : direct) {
            mounts.unmount(mount);
        }
    }

    /** A group with empty caches, except for the warm-up shard, which compiles its code. */
    CacheGroup group(int count) throws Exception {
        CacheGroup group = CacheGroup.start(mounts, trust, count);
        warmUp(group.mounts());
        return group;
    }

    private void warmUp(List<MountProcess> all) throws Exception {
        String shard = data().warmUpShard();
        List<Fio.Job> jobs = folders(all).stream()
                .map(folder -> new Fio.Job(folder.resolve(shard), 0, data().shardSize()))
                .toList();
        reads.fio().run(Fio.Shape.sequential(ReadRig.CALL), jobs);
    }

    static List<Path> folders(List<MountProcess> mounts) {
        return mounts.stream().map(MountProcess::path).toList();
    }

    /** Measures reads that the nodes serve, and where their bytes come from. */
    void shared(String name, CacheGroup group, List<MountProcess> nodes, long bytes, Sample.Work work)
            throws Exception {
        Served served = measure(name, group, nodes, work);
        add(name, served.sample(), served.traffic(), bytes);
    }

    /** The same, with the rate and cost of only the bytes that other nodes sent. */
    void fromPeers(String name, CacheGroup group, long bytes, Sample.Work work) throws Exception {
        Served served = measure(name, group, group.mounts(), work);
        Measurement run = served.sample().measurement();
        Measurement sent = new Measurement(
                served.traffic().fromPeers(), run.operations(), run.nanos(), run.p50Nanos(), run.p99Nanos());
        add(name, new Sample(sent, served.sample().cost()), served.traffic(), bytes);
    }

    private void add(String name, Sample sample, GroupTraffic traffic, long bytes) {
        reads.add(name, sample);
        results.add(name, traffic, bytes);
    }

    private record Served(Sample sample, GroupTraffic traffic) {}

    private Served measure(String name, CacheGroup group, List<MountProcess> nodes, Sample.Work work) throws Exception {
        GroupTraffic before = group.traffic(nodes);
        Sample sample = reads.measure(nodes, work);
        GroupTraffic traffic = group.traffic(nodes).since(before);
        if (before.members() > 1 && traffic.fromPeers() == 0) {
            throw new BenchException(
                    name + ": no byte came from another node; fell back to the store: " + traffic.causes());
        }
        return new Served(sample, traffic);
    }

    void note(String what, String figure) {
        results.note(what, figure);
    }
}

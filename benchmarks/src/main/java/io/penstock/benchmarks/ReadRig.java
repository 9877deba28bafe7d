package io.penstock.benchmarks;

import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.ObjectStore;
import io.penstock.objectstore.StoredObject;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** Shared by the read scenarios: the data in the bucket and on the bare disk, mounts, and a place for results. */
final class ReadRig {
    /** Bytes per GET: the default of {@code readahead.range-size}. */
    static final int RANGE = 8 << 20;

    /** Bytes per read call of a sequential reader. */
    static final int CALL = 1 << 20;

    /** Bytes per FUSE request of libfuse 2. */
    static final int FUSE_REQUEST = 128 << 10;

    /** Threads for random reads and for small files. */
    static final int THREADS = 16;

    static final ReportRow FIRST_READ =
            new ReportRow("cold sequential, 1 file, by a process just started", ColdSequential.rawCeiling(1, 16));

    private final FreshMounts mounts;
    private final DataSet data;
    private final Map<String, StoredObject> objects;
    private final RawGets raw;
    private final CurlGets curl;
    private final Fio fio;
    private final Scratch scratch;
    private final Measurements results;

    /** @param objects the data set's objects by name */
    ReadRig(
            FreshMounts mounts,
            DataSet data,
            Map<String, StoredObject> objects,
            ObjectStore store,
            Scratch scratch,
            Measurements results)
            throws Exception {
        this.mounts = mounts;
        this.data = data;
        this.objects = objects;
        this.raw = new RawGets(store);
        this.curl = new CurlGets(mounts.server(), mounts.bucket(), scratch.folder("curl"));
        this.fio = new Fio(scratch.folder("fio"));
        this.scratch = scratch;
        this.results = results;
    }

    DataSet data() {
        return data;
    }

    Fio fio() {
        return fio;
    }

    ObjectVersion version(String name) {
        return Objects.requireNonNull(objects.get(name), name).version();
    }

    List<ObjectVersion> versions(List<String> names) {
        return names.stream().map(this::version).toList();
    }

    /**
     * Makes the server and this JVM's client read everything once. A server on this machine then serves from memory, as
     * a remote one would serve from its own disks. With a remote server, only the client must be warm.
     */
    void warmServer() throws Exception {
        List<String> names = new ArrayList<>(List.of(data.warmUpShard()));
        if (mounts.server().own()) {
            names.addAll(data.shards());
            names.addAll(data.small());
        }
        raw.run(RawGets.wholes(versions(names), RANGE), THREADS);
    }

    /** Mounts with an empty cache, and reads the warm-up shard through the mount. */
    MountProcess mount(String... options) throws Exception {
        MountProcess mount = mounts.mount(options);
        served(FIRST_READ.name(), mount, () -> readWarmUpShard(mount));
        return mount;
    }

    /** Reads the shard that no row reads; the mount then has it in memory. */
    Measurement readWarmUpShard(MountProcess mount) throws Exception {
        Path file = mount.path().resolve(data.warmUpShard());
        return fio.run(Fio.Shape.sequential(CALL), List.of(new Fio.Job(file, 0, data.shardSize())));
    }

    void unmount(MountProcess mount) throws Exception {
        mounts.unmount(mount);
    }

    /** Measures reads that a mount serves. */
    void served(String name, MountProcess mount, Sample.Work work) throws Exception {
        served(name, List.of(mount), work);
    }

    /** Measures reads that several mounts serve. */
    void served(String name, List<MountProcess> mounts, Sample.Work work) throws Exception {
        add(name, measure(mounts, work));
    }

    /** Measures reads that the mounts serve, without adding them to the results. */
    Sample measure(List<MountProcess> mounts, Sample.Work work) throws Exception {
        KernelCaches.sync();
        return ProcessUsage.measure(mounts.stream().map(MountProcess::pid).toList(), work);
    }

    void add(String name, Sample sample) {
        results.add(name, sample);
    }

    /** Measures requests that this JVM makes itself. */
    void raw(String name, List<RawGets.Request> requests, int concurrency) throws Exception {
        KernelCaches.sync();
        results.add(name, ProcessUsage.measure(ProcessHandle.current().pid(), () -> raw.run(requests, concurrency)));
    }

    /** Measures requests that curl makes. */
    void curl(String name, List<RawGets.Request> requests, int concurrency) throws Exception {
        bare(name, () -> curl.run(requests, concurrency));
    }

    /** Measures reads that only the kernel serves. */
    void bare(String name, Sample.Work work) throws Exception {
        KernelCaches.sync();
        results.add(name, new Sample(work.run(), null));
    }

    /** Plain files with the same names and sizes on the cache folder's disk. The first call writes them. */
    Path bareFiles() throws Exception {
        Path folder = scratch.root().resolve("bare");
        if (!Files.exists(folder)) {
            System.err.println("writing the bare files");
            for (String name : data.sizes().keySet()) {
                if (!name.equals(data.warmUpShard())) {
                    RandomBytes.write(folder.resolve(name), name, data.sizes().get(name));
                }
            }
        }
        return folder;
    }
}

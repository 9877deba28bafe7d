package io.penstock.benchmarks;

import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.StoredObject;
import io.penstock.tools.measure.Measurement;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** Shared by the read scenarios: the data in the bucket and on the bare disk. */
class ReadRig extends Rig {
    /** Bytes per GET: the default of {@code readahead.range-size}. */
    static final int RANGE = 8 << 20;

    /** Bytes per read call of a sequential reader. */
    static final int CALL = 1 << 20;

    /** Bytes per FUSE request of libfuse 2. */
    static final int FUSE_REQUEST = 128 << 10;

    /** Threads for random reads and for small files. */
    static final int THREADS = 16;

    static final ReportRow FIRST_READ =
            ReportRow.of("cold sequential, 1 file, by a process just started", ReadScenarios.rawName(1, 16));

    private final DataSet data;
    private final Map<String, StoredObject> objects;
    private final RawGets raw;
    private final CurlGets curl;
    private final Fio fio;

    /** Uploads the objects that are missing. */
    ReadRig(BenchFolder folder, DataSet data, Measurements results) throws Exception {
        super(folder, results);
        this.data = data;
        this.objects = new DataLoader(folder.store(), folder.keyPrefix()).ensure(data, folder.server());
        this.raw = new RawGets(folder.store());
        this.curl = new CurlGets(folder.server(), folder.bucket(), scratch().folder("curl"));
        this.fio = new Fio(scratch().folder("fio"));
    }

    DataSet data() {
        return data;
    }

    Fio fio() {
        return fio;
    }

    private ObjectVersion version(String name) {
        return Objects.requireNonNull(objects.get(name), name).version();
    }

    /** GETs of these objects as wholes. */
    List<RawGets.Request> wholes(List<String> names, long rangeSize) {
        return RawGets.wholes(names.stream().map(this::version).toList(), rangeSize);
    }

    RawGets.Request block(String name, long offset, int length) {
        return new RawGets.Request(version(name), new ByteRange(offset, length));
    }

    /**
     * Makes the server and this JVM's client read everything once. A server on this machine then serves from memory, as
     * a remote one would serve from its own disks. With a remote server, only the client must be warm.
     */
    void warmServer() throws Exception {
        List<String> names = new ArrayList<>(List.of(data.warmUpShard()));
        if (folder().server().own()) {
            names.addAll(data.shards());
            names.addAll(data.small());
        }
        raw.run(wholes(names, RANGE), THREADS);
    }

    /** Mounts with an empty cache, and reads the warm-up shard through the mount. */
    @Override
    MountProcess mount(String... options) throws Exception {
        MountProcess mount = super.mount(options);
        served(FIRST_READ.name(), mount, () -> readWarmUpShard(mount));
        return mount;
    }

    /** Reads the shard that no row reads; the mount then has it in memory. */
    Measurement readWarmUpShard(MountProcess mount) throws Exception {
        Path file = mount.path().resolve(data.warmUpShard());
        return fio.run(Fio.Shape.sequential(CALL), List.of(new Fio.Job(file, 0, data.shardSize())));
    }

    /** Measures requests that this JVM makes itself. */
    void raw(String name, List<RawGets.Request> requests, int concurrency) throws Exception {
        raw(name, () -> raw.run(requests, concurrency));
    }

    /** Measures requests that curl makes. */
    void curl(String name, List<RawGets.Request> requests, int concurrency) throws Exception {
        bare(name, () -> curl.run(requests, concurrency));
    }

    /** Plain files with the same names and sizes on the cache folder's disk. The first call writes them. */
    Path bareFiles() throws Exception {
        Path folder = scratch().root().resolve("bare");
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

package io.penstock.benchmarks;

import io.penstock.objectstore.ObjectStore;
import io.penstock.objectstore.ObjectStoreException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;

/** Shared by the write scenarios: mounts, the raw client, the bare disk, and a place for results. */
final class WriteRig {
    /** Bytes per part: the default of {@code upload.part-size}. */
    static final int PART = 8 << 20;

    /** Threads that write small files. */
    static final int THREADS = 16;

    private static final Duration UPLOAD_TIMEOUT = Duration.ofMinutes(10);

    static final ReportRow FIRST_WRITE = new ReportRow(
            "write 1 file, by a process just started",
            new ReportRow.Ceiling(StreamWrites.rawName(1, StreamWrites.PER_FILE)));

    private final FreshMounts mounts;
    private final Sizes sizes;
    private final String prefix;
    private final ObjectStore store;
    private final RawPuts raw;
    private final Scratch scratch;
    private final Measurements results;

    /** Keys that existed before. */
    private final Set<String> kept = new HashSet<>();

    /**
     * How much is written.
     *
     * @param file bytes per large file
     * @param smallFiles number of files of {@link DataSet#SMALL_SIZE} bytes
     * @param randomWrites number of writes of 4 KiB
     */
    record Sizes(long file, int smallFiles, int randomWrites) {}

    /** @param prefix of the keys that the ceilings write, with its slash; the mounted one */
    WriteRig(FreshMounts mounts, Sizes sizes, String prefix, ObjectStore store, Scratch scratch, Measurements results) {
        this.mounts = mounts;
        this.sizes = sizes;
        this.prefix = prefix;
        this.store = store;
        this.raw = new RawPuts(store);
        this.scratch = scratch;
        this.results = results;
    }

    Sizes sizes() {
        return sizes;
    }

    /**
     * Mounts with an empty cache, and writes a file through the mount, so that its code is compiled. Without options,
     * this is measured as the first write of a process.
     */
    MountProcess mount(String... options) throws Exception {
        MountProcess mount = mounts.mount(options);
        Path warmUp = mount.path().resolve("warm-up");
        Sample.Work first = () -> FileWrites.sequential(List.of(warmUp), sizes.file() / 4, FileWrites.End.CLOSE);
        if (options.length == 0) {
            served(FIRST_WRITE.name(), mount, first);
        } else {
            Measurement _ = first.run();
        }
        return mount;
    }

    void unmount(MountProcess mount) throws Exception {
        mounts.unmount(mount);
    }

    /** Measures writes that a mount serves. */
    void served(String name, MountProcess mount, Sample.Work work) throws Exception {
        KernelCaches.sync();
        results.add(name, ProcessUsage.measure(mount.pid(), work));
    }

    /** Measures requests that this JVM makes itself. */
    void raw(String name, Raw work) throws Exception {
        KernelCaches.sync();
        results.add(name, ProcessUsage.measure(ProcessHandle.current().pid(), () -> work.run(raw)));
    }

    /** Work of the raw client. */
    @FunctionalInterface
    interface Raw {
        Measurement run(RawPuts raw) throws Exception;
    }

    /** Measures writes that only the kernel serves. */
    void bare(String name, Sample.Work work) throws Exception {
        KernelCaches.sync();
        results.add(name, new Sample(work.run(), null));
    }

    /** Adds a measurement made during another one. */
    void add(String name, Measurement measurement) {
        results.add(name, new Sample(measurement, null));
    }

    /** Keeps a large object of this name if it exists already. */
    void keep(String name) throws Exception {
        String key = prefix + name;
        if (isThere(key, sizes.file())) {
            kept.add(key);
        }
    }

    /** Creates a large object of this name. */
    void provide(String name) throws Exception {
        String key = prefix + name;
        if (!kept.contains(key)) {
            raw.parts(List.of(key), sizes.file(), PART, StreamWrites.PER_FILE);
        }
    }

    /** Waits until a background upload is complete. */
    void awaitObject(String name, long size) throws Exception {
        Instant deadline = Instant.now().plus(UPLOAD_TIMEOUT);
        while (!isThere(prefix + name, size)) {
            if (Instant.now().isAfter(deadline)) {
                throw new BenchException(name + " has not been uploaded for " + UPLOAD_TIMEOUT.toMinutes() + " min");
            }
            Thread.sleep(100);
        }
    }

    private boolean isThere(String key, long size) throws Exception {
        try {
            return store.head(key).version().size() == size;
        } catch (ObjectStoreException.NotFound e) {
            return false;
        }
    }

    /** The path for a bare file of this name, on the same disk as the cache; {@link #removeAll} removes it. */
    Path bareFile(String name) throws Exception {
        return scratch.folder("bare").resolve(name);
    }

    /** This many keys below the mounted prefix. */
    List<String> keys(String name, int count) {
        return keys(prefix, name, count);
    }

    static List<String> keys(String prefix, String name, int count) {
        return IntStream.range(0, count).mapToObj(i -> prefix + name + i).toList();
    }

    static List<Path> files(MountProcess mount, String name, int count) {
        return IntStream.range(0, count)
                .mapToObj(i -> mount.path().resolve(name + i))
                .toList();
    }

    /** Removes all written files and objects, so that the next round starts like this one. */
    void removeAll() throws Exception {
        scratch.emptyFolder("bare");
        raw.remove(RawListing.objects(store, prefix).stream()
                .map(object -> object.version().key())
                .filter(key -> !kept.contains(key))
                .toList());
    }
}

package io.penstock.benchmarks;

import io.penstock.objectstore.ObjectStoreException;
import io.penstock.tools.measure.Measurement;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;

/** Shared by the write scenarios: the raw client, and the objects that are written. */
final class WriteRig extends Rig {
    /** Bytes per part: the default of {@code upload.part-size}. */
    static final int PART = 8 << 20;

    /** Threads that write small files. */
    static final int THREADS = 16;

    private static final Duration UPLOAD_TIMEOUT = Duration.ofMinutes(10);

    static final ReportRow FIRST_WRITE =
            ReportRow.of("write 1 file, by a process just started", WriteScenarios.rawName(1, WriteScenarios.PER_FILE));

    private final Sizes sizes;
    private final RawPuts puts;

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

    WriteRig(BenchFolder folder, Sizes sizes, Measurements results) {
        super(folder, results);
        this.sizes = sizes;
        this.puts = new RawPuts(folder.store());
    }

    Sizes sizes() {
        return sizes;
    }

    RawPuts puts() {
        return puts;
    }

    /**
     * Mounts with an empty cache, and writes a file through the mount, so that its code is compiled. Without options,
     * this is measured as the first write of a process.
     */
    @Override
    MountProcess mount(String... options) throws Exception {
        MountProcess mount = super.mount(options);
        Path warmUp = mount.path().resolve("warm-up");
        Sample.Work first = () -> FileWrites.sequential(List.of(warmUp), sizes.file() / 4, FileWrites.End.CLOSE);
        if (options.length == 0) {
            served(FIRST_WRITE.name(), mount, first);
        } else {
            Measurement _ = first.run();
        }
        return mount;
    }

    /** Keeps a large object of this name if it exists already. */
    void keep(String name) throws Exception {
        String key = folder().keyPrefix() + name;
        if (isThere(key, sizes.file())) {
            kept.add(key);
        }
    }

    /** Creates a large object of this name. */
    void provide(String name) throws Exception {
        String key = folder().keyPrefix() + name;
        if (!kept.contains(key)) {
            puts.parts(List.of(key), sizes.file(), PART, WriteScenarios.PER_FILE);
        }
    }

    /** Waits until a background upload is complete. */
    void awaitObject(String name, long size) throws Exception {
        Instant deadline = Instant.now().plus(UPLOAD_TIMEOUT);
        while (!isThere(folder().keyPrefix() + name, size)) {
            if (Instant.now().isAfter(deadline)) {
                throw new BenchException(name + " has not been uploaded for " + UPLOAD_TIMEOUT.toMinutes() + " min");
            }
            Thread.sleep(100);
        }
    }

    private boolean isThere(String key, long size) throws Exception {
        try {
            return folder().store().head(key).version().size() == size;
        } catch (ObjectStoreException.NotFound e) {
            return false;
        }
    }

    /** The path for a bare file of this name, on the same disk as the cache; {@link #removeAll} removes it. */
    Path bareFile(String name) throws Exception {
        return scratch().folder("bare").resolve(name);
    }

    /** This many keys below the mounted folder. */
    List<String> keys(String name, int count) {
        return keys(folder().keyPrefix(), name, count);
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
        scratch().emptyFolder("bare");
        puts.remove(RawListing.objects(folder().store(), folder().keyPrefix()).stream()
                .map(object -> object.version().key())
                .filter(key -> !kept.contains(key))
                .toList());
    }
}

package io.penstock.benchmarks;

import io.penstock.objectstore.ListRequest;
import io.penstock.objectstore.StoredObject;
import io.penstock.tools.measure.Measurement;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalLong;

/** Shared by the scenarios of operations on names: the raw client, and the requests that the server counts. */
final class NamesRig extends Rig {
    /** Bytes per file. */
    static final int SIZE = 100;

    /** Threads that create, rename and remove files, and concurrent requests of the raw client. */
    static final int THREADS = WriteRig.THREADS;

    /** The warm-up of each new mount uses this many times fewer files than the measurement. */
    private static final int WARM_UP = 10;

    private static final Duration UPLOAD_TIMEOUT = Duration.ofMinutes(10);

    private final int files;
    private final RawPuts puts;
    private final RawNames names;
    private final ServerRequests server;

    /** Requests that this rig makes during a measurement. */
    private long own;

    /** @param files number per row */
    NamesRig(BenchFolder folder, int files, Measurements results) {
        super(folder, results);
        this.files = files;
        this.puts = new RawPuts(folder.store());
        this.names = new RawNames(folder.store());
        this.server = folder.run().resources().add(new ServerRequests(folder.server()));
    }

    int files() {
        return files;
    }

    RawPuts puts() {
        return puts;
    }

    RawNames names() {
        return names;
    }

    /** Mounts with an empty cache, and makes each kind of call, so that its code is compiled. */
    @Override
    MountProcess mount(String... options) throws Exception {
        MountProcess mount = super.mount(options);
        int count = Math.ceilDiv(files, WARM_UP);
        Path folder = Files.createDirectory(mount.path().resolve("warm-up"));
        List<Path> made = WriteRig.files(mount, "warm-up/", count);
        List<Path> renamed = WriteRig.files(mount, "warm-up/renamed", count);
        Measurement _ = FileWrites.whole(made, SIZE, THREADS);
        Measurement _ = FileReads.attributes(made, THREADS);
        Measurement _ = FileNames.rename(made, renamed, THREADS);
        Path moved = Files.move(folder, mount.path().resolve("warm-up-moved"), StandardCopyOption.ATOMIC_MOVE);
        Measurement _ = FileNames.unlink(WriteRig.files(mount, "warm-up-moved/renamed", count), moved, THREADS);
        Files.delete(moved);
        return mount;
    }

    /** Makes each kind of request with the raw client, so that its code is compiled. */
    void warmUp() throws Exception {
        List<String> keys = provide("warm-up/", Math.ceilDiv(files, WARM_UP));
        Measurement _ = names.attributes(keys, THREADS);
        Measurement _ = names.renames(list("warm-up/"), key -> key + "-renamed", THREADS);
        removeAll();
    }

    /** This many keys below the mounted folder. */
    List<String> keys(String name, int count) {
        return WriteRig.keys(folder().keyPrefix(), name, count);
    }

    /** Creates these objects; returns the keys. */
    List<String> provide(String name, int count) throws Exception {
        List<String> keys = keys(name, count);
        Measurement _ = puts.wholes(keys, SIZE, THREADS);
        return keys;
    }

    /** Creates an object for each of these names below the mounted folder. */
    void provide(List<String> below) throws Exception {
        Measurement _ =
                puts.wholes(below.stream().map(folder().keyPrefix()::concat).toList(), SIZE, THREADS);
    }

    /** The objects below a folder, whose name ends with a slash. */
    List<StoredObject> list(String folder) throws Exception {
        List<StoredObject> objects = RawListing.objects(folder().store(), folder().keyPrefix() + folder);
        own += Math.max(1, Math.ceilDiv(objects.size(), ListRequest.MAX_KEYS));
        return objects;
    }

    /** Waits until the folder has exactly this many objects of {@link #SIZE} bytes; others are markers. */
    void awaitObjects(String folder, int count) throws Exception {
        Instant deadline = Instant.now().plus(UPLOAD_TIMEOUT);
        while (!areThere(list(folder), count)) {
            if (Instant.now().isAfter(deadline)) {
                throw new BenchException(
                        folder + " does not have its " + count + " files after " + UPLOAD_TIMEOUT.toMinutes() + " min");
            }
            Thread.sleep(500);
        }
    }

    private static boolean areThere(List<StoredObject> objects, int count) {
        long[] sizes = objects.stream()
                .mapToLong(object -> object.version().size())
                .filter(size -> size > 0)
                .toArray();
        return sizes.length == count && Arrays.stream(sizes).allMatch(size -> size == SIZE);
    }

    @Override
    Sample measure(List<Long> pids, Sample.Work work) throws Exception {
        OptionalLong before = requests();
        Sample sample = super.measure(pids, work);
        OptionalLong after = requests();
        return before.isPresent() && after.isPresent()
                ? sample.with(OptionalLong.of(after.getAsLong() - before.getAsLong()))
                : sample;
    }

    /** Requests of all clients except this rig. */
    private OptionalLong requests() throws IOException, InterruptedException {
        OptionalLong all = server.count();
        return all.isPresent() ? OptionalLong.of(all.getAsLong() - own) : all;
    }

    /** Removes all objects, so that the next scenario starts like this one. */
    void removeAll() throws Exception {
        puts.remove(RawListing.objects(folder().store(), folder().keyPrefix()).stream()
                .map(object -> object.version().key())
                .toList());
    }
}

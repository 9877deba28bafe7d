package io.penstock.benchmarks;

import io.penstock.embeddeds3.SyntheticObjects;
import io.penstock.objectstore.ListRequest;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Shared by the scenarios of names: the server, mounts of its buckets, a local folder, and the results. One thread. */
final class TreeRig {
    private final Path penstock;
    private final ListServerProcess server;
    private final List<String> options;
    private final int concurrency;
    private final Scratch scratch;
    private final Resources resources;
    private final TreeResults results;
    private final FreeMemory freeMemory;

    /** Figures for which there is no table, by name; the last round's remain. */
    private final Map<String, String> notes = new LinkedHashMap<>();

    /**
     * @param penstock the launcher
     * @param options of {@code penstock mount}, for all mounts
     * @param concurrency listing requests in flight
     * @param resources closes any remaining mounts at the end
     */
    TreeRig(
            Path penstock,
            ListServerProcess server,
            List<String> options,
            int concurrency,
            Scratch scratch,
            Resources resources,
            TreeResults results)
            throws IOException {
        this.penstock = penstock;
        this.server = server;
        this.options = List.copyOf(options);
        this.concurrency = concurrency;
        this.scratch = scratch;
        this.resources = resources;
        this.results = results;
        this.freeMemory = resources.add(new FreeMemory(scratch.root()));
    }

    int concurrency() {
        return concurrency;
    }

    Path folder(String name) throws IOException {
        return scratch.folder(name);
    }

    Path emptyFolder(String name) throws IOException {
        return scratch.emptyFolder(name);
    }

    /**
     * Returns when the mount serves requests.
     *
     * @param cache its cache folder, which an earlier mount of the bucket may have used
     * @param further more options
     */
    TreeMount mount(String bucket, Path cache, String... further) throws Exception {
        freeMemory.fill();
        List<String> all =
                new ArrayList<>(List.of("--cache=" + cache, "-o", "metadata.list-concurrency=" + concurrency));
        all.addAll(List.of(further));
        all.addAll(options);
        Path log = Files.createTempFile(scratch.root(), "mount-", ".log");
        long startedAt = System.nanoTime();
        MountProcess mount =
                resources.add(MountProcess.start(penstock, bucket, scratch.folder("mnt"), server.server(), all, log));
        mount.awaitReady();
        return new TreeMount(mount, log, startedAt);
    }

    void unmount(TreeMount mount) throws Exception {
        resources.close(mount.process());
        if (Mounts.isMounted(mount.path())) {
            throw new BenchException("penstock did not unmount " + mount.path());
        }
    }

    /** Measures the work of a process, or work on the mount that it serves. */
    void measure(String name, long pid, Sample.Work work) throws Exception {
        long before = requests();
        Sample sample = ProcessUsage.measure(pid, work);
        results.add(name, new NamesSample(sample, requests() - before));
    }

    /** Measures work without a server; its processes are not counted. */
    void measureLocal(String name, Sample.Work work) throws Exception {
        add(name, work.run(), 0);
    }

    /** User and system time of the server so far. */
    double serverCpuSeconds() throws IOException {
        return ProcessUsage.of(server.pid()).cpuTicks() / ProcessUsage.TICKS_PER_SECOND;
    }

    /** The number of requests to the server so far. */
    long requests() throws IOException, BenchException {
        return server.requests();
    }

    /** Adds the caller's measurement. */
    void add(String name, Measurement measurement, long requests) {
        results.add(name, new NamesSample(new Sample(measurement, null), requests));
    }

    /** Runs a shell command line and discards its output; each of the names counts as an operation. */
    static Measurement shell(long names, String command, Path folder) throws IOException, InterruptedException {
        long start = System.nanoTime();
        Programs.run(List.of("bash", "-c", command + " >/dev/null", "bash", folder.toString()));
        return Measurement.ofWhole(names, System.nanoTime() - start);
    }

    void note(String name, String text) {
        notes.put(name, text);
    }

    Map<String, String> notes() {
        return notes;
    }

    /** A folder on the disk with an empty file for each name in {@code objects}. The first call creates it. */
    Path localFolder(SyntheticObjects objects) throws IOException {
        Path folder = scratch.root().resolve("local");
        if (!Files.exists(folder)) {
            System.err.println("making " + objects.count() + " empty files");
            Files.createDirectory(folder);
            for (long number = 0; number < objects.count(); number++) {
                Files.createFile(folder.resolve(name(objects, number)));
            }
        }
        return folder;
    }

    /** A file's name without its folder. */
    static String name(SyntheticObjects objects, long number) {
        String key = objects.key(number);
        return key.substring(key.lastIndexOf('/') + 1);
    }

    /** The number of pages of a listing. */
    static long pages(SyntheticObjects objects) {
        return Math.ceilDiv(objects.count(), ListRequest.MAX_KEYS);
    }
}

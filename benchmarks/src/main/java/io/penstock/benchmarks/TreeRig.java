package io.penstock.benchmarks;

import io.penstock.embeddeds3.SyntheticObjects;
import io.penstock.objectstore.ListRequest;
import io.penstock.tools.measure.Measurement;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalLong;

/** Shared by the scenarios of many names: the server that makes them up, and a local folder. */
final class TreeRig extends Rig {
    private final BenchFolder large;
    private final ListServer server;
    private final int concurrency;

    /**
     * @param whole the bucket of many folders
     * @param large the bucket of one large folder
     * @param concurrency listing requests in flight
     */
    TreeRig(BenchFolder whole, BenchFolder large, ListServer server, int concurrency, Measurements results) {
        super(whole, results);
        this.large = large;
        this.server = server;
        this.concurrency = concurrency;
    }

    @Override
    MountProcess mount(String... further) throws Exception {
        return super.mount(listing(further));
    }

    /** The same, with the cache of the last mount. */
    MountProcess mountAgain(String... further) throws Exception {
        folder().run().freeMemory().fill();
        return folder().mountAgain("mnt", List.of(listing(further)));
    }

    MountProcess mountLarge() throws Exception {
        return large.mount(listing());
    }

    private String[] listing(String... further) {
        List<String> options = new ArrayList<>(List.of("-o", "metadata.list-concurrency=" + concurrency));
        options.addAll(Arrays.asList(further));
        return options.toArray(String[]::new);
    }

    @Override
    Sample measure(List<Long> pids, Sample.Work work) throws Exception {
        long before = requests();
        Sample sample = ProcessUsage.measure(pids, work); // no sync before it: a mount may be listing already
        return sample.with(OptionalLong.of(requests() - before));
    }

    /** Measures work that the process of this id serves. */
    void served(String name, long pid, Sample.Work work) throws Exception {
        add(name, measure(List.of(pid), work));
    }

    @Override
    void bare(String name, Sample.Work work) throws Exception {
        add(name, new Sample(work.run(), null, OptionalLong.of(0)));
    }

    /** User and system time of the server so far. */
    double serverCpuSeconds() throws IOException {
        return ProcessUsage.of(server.pid()).cpuTicks() / ProcessUsage.TICKS_PER_SECOND;
    }

    /** The number of requests to the server so far. */
    long requests() throws IOException, BenchException {
        return server.requests();
    }

    /** Runs a shell command line and discards its output; each of the names counts as an operation. */
    static Measurement shell(long names, String command, Path folder) throws IOException, InterruptedException {
        long start = System.nanoTime();
        Programs.run(List.of("bash", "-c", command + " >/dev/null", "bash", folder.toString()));
        return Measurement.ofWhole(names, System.nanoTime() - start);
    }

    /** A folder on the disk with an empty file for each name in {@code objects}. The first call creates it. */
    Path localFolder(SyntheticObjects objects) throws IOException {
        Path folder = scratch().root().resolve("local");
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

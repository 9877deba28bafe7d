package io.penstock.benchmarks;

import io.penstock.objectstore.ObjectStore;
import io.penstock.objectstore.s3.S3ObjectStore;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The folder of a bucket that a benchmark uses, with the mount's own S3 client for the raw ceilings, and mounts that show
 * only this folder, each with a new process. One thread at a time.
 */
final class BenchFolder {
    private final BenchRun run;
    private final S3Target server;
    private final String bucket;
    private final String name;
    private final ObjectStore store;

    /** @param name all keys begin with it and a slash; empty for the whole bucket */
    BenchFolder(BenchRun run, S3Target server, String bucket, String name) throws Exception {
        this.run = run;
        this.server = server;
        this.bucket = bucket;
        this.name = name.replaceAll("^/+|/+$", "");
        this.store = run.resources()
                .add(S3ObjectStore.connect(server.config(bucket, run.place().httpClient()), keyPrefix()));
    }

    BenchRun run() {
        return run;
    }

    S3Target server() {
        return server;
    }

    String bucket() {
        return bucket;
    }

    String keyPrefix() {
        return name.isEmpty() ? "" : name + "/";
    }

    ObjectStore store() {
        return store;
    }

    /** Mounts with an empty cache. Returns when the mount serves requests. */
    MountProcess mount(String... further) throws Exception {
        return mount("mnt", List.of(further));
    }

    /** The same, under another name, next to other mounts. */
    MountProcess mount(String mountName, List<String> further) throws Exception {
        run.freeMemory().fill();
        run.scratch().emptyFolder(cache(mountName));
        return mountAgain(mountName, further);
    }

    /** The same, with the cache of the last mount of this name. */
    MountProcess mountAgain(String mountName, List<String> further) throws Exception {
        List<String> options =
                new ArrayList<>(List.of("--cache=" + run.scratch().folder(cache(mountName))));
        options.addAll(further);
        options.addAll(run.place().mountOptions()); // last, so that the user's hold
        MountProcess mount = run.resources()
                .add(MountProcess.start(
                        name.isEmpty() ? bucket : bucket + "/" + name,
                        run.scratch().folder(mountName),
                        server,
                        options,
                        run.log(mountName)));
        return mount.awaitReady();
    }

    private static String cache(String mountName) {
        return "cache-" + mountName;
    }

    /**
     * Runs a penstock command about a mount, and returns its output.
     *
     * @param command such as {@code share status}
     */
    static String ask(MountProcess mount, String command, String... arguments)
            throws IOException, InterruptedException {
        List<String> line = new ArrayList<>(List.of(BenchRun.penstock().toString()));
        line.addAll(Arrays.asList(command.split(" ", -1)));
        line.add(mount.path().toString());
        line.addAll(List.of(arguments));
        return Programs.run(line);
    }

    void unmount(MountProcess mount) throws Exception {
        run.resources().close(mount);
        if (Mounts.isMounted(mount.path())) {
            throw new BenchException("penstock did not unmount " + mount.path());
        }
    }
}

package io.penstock.benchmarks;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Mounts of one bucket, each with a new process and an empty cache. One thread at a time. */
final class FreshMounts {
    private final Path penstock;
    private final String source;
    private final S3Target server;
    private final List<String> options;
    private final Scratch scratch;
    private final Resources resources;
    private final FreeMemory freeMemory;

    /**
     * @param penstock the launcher
     * @param source BUCKET/PREFIX
     * @param options further options of {@code penstock mount}
     * @param resources closes any remaining mounts at the end
     */
    FreshMounts(
            Path penstock, String source, S3Target server, List<String> options, Scratch scratch, Resources resources)
            throws IOException {
        this.penstock = penstock;
        this.source = source;
        this.server = server;
        this.options = List.copyOf(options);
        this.scratch = scratch;
        this.resources = resources;
        this.freeMemory = resources.add(new FreeMemory(scratch.root()));
    }

    String bucket() {
        return source.substring(0, source.indexOf('/'));
    }

    S3Target server() {
        return server;
    }

    /** Returns when the mount serves requests. */
    MountProcess mount(String... further) throws Exception {
        return mount("mnt", List.of(further));
    }

    /** The same, under another name, next to other mounts. */
    MountProcess mount(String name, List<String> further) throws Exception {
        freeMemory.fill();
        scratch.emptyFolder(cache(name));
        return mountAgain(name, further);
    }

    /** The same, with the cache of the last mount of this name. */
    MountProcess mountAgain(String name, List<String> further) throws Exception {
        List<String> all = new ArrayList<>(List.of("--cache=" + scratch.folder(cache(name))));
        all.addAll(options);
        all.addAll(further);
        MountProcess mount = resources.add(MountProcess.start(
                penstock,
                source,
                scratch.folder(name),
                server,
                all,
                scratch.root().resolve(name + ".log")));
        mount.awaitReady();
        return mount;
    }

    private static String cache(String name) {
        return "cache-" + name;
    }

    /**
     * Runs a penstock command about a mount, and returns its output.
     *
     * @param command such as {@code share status}
     */
    String ask(MountProcess mount, String command, String... arguments) throws IOException, InterruptedException {
        List<String> line = new ArrayList<>(List.of(penstock.toString()));
        line.addAll(Arrays.asList(command.split(" ", -1)));
        line.add(mount.path().toString());
        line.addAll(List.of(arguments));
        return Programs.run(line);
    }

    void unmount(MountProcess mount) throws Exception {
        resources.close(mount);
        if (Mounts.isMounted(mount.path())) {
            throw new BenchException("penstock did not unmount " + mount.path());
        }
    }
}

package io.penstock.benchmarks;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Mounts of one bucket, one after another, each by a new process and with an empty cache. One thread. */
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
     * @param options of {@code penstock mount}, further ones
     * @param resources closes the mounts that are left at the end
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

    S3Target server() {
        return server;
    }

    /** Returns when the mount serves requests. */
    MountProcess mount(String... further) throws Exception {
        freeMemory.fill();
        List<String> all = new ArrayList<>(List.of("--cache=" + scratch.emptyFolder("cache")));
        all.addAll(options);
        all.addAll(List.of(further));
        MountProcess mount = resources.add(MountProcess.start(
                penstock,
                source,
                scratch.folder("mnt"),
                server,
                all,
                scratch.root().resolve("mount.log")));
        mount.awaitReady();
        return mount;
    }

    void unmount(MountProcess mount) throws Exception {
        resources.close(mount);
        if (Mounts.isMounted(mount.path())) {
            throw new BenchException("penstock did not unmount " + mount.path());
        }
    }
}

package io.penstock.tools.bench;

import com.fasterxml.jackson.databind.JsonNode;
import io.penstock.serve.control.ControlClient;
import io.penstock.serve.control.JobStatus;
import io.penstock.serve.control.Json;
import io.penstock.serve.control.MountStatistics;
import io.penstock.serve.state.RunningMount;
import io.penstock.settings.ByteSizes;
import io.penstock.settings.Configuration;
import io.penstock.settings.Host;
import io.penstock.settings.Settings;
import io.penstock.settings.process.RefusedException;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** A Penstock mount. Its control commands empty its cache. */
final class PenstockMount implements MeasuredFolder {
    private static final Duration LOOK = Duration.ofMillis(50);

    /** The longest wait for background uploads, or for memory to be freed. */
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final RunningMount mount;
    private final Configuration configuration;
    private final Whose whose;
    private final ControlClient control;

    /** Who uses the mount. */
    enum Whose {
        /** Only the benchmark: the mount's limits may be changed. */
        OWN,
        /** Other programs. */
        OTHERS
    }

    PenstockMount(RunningMount mount, Configuration configuration, Whose whose) {
        this.mount = mount;
        this.configuration = configuration;
        this.whose = whose;
        this.control = new ControlClient(mount.socket(Host.current()));
    }

    @Override
    public Location location() {
        return switch (whose) {
            case OWN ->
                new Location(Location.Kind.MOUNT, mount.source(), "temporary mount of the bucket, with an empty cache");
            case OTHERS ->
                new Location(
                        Location.Kind.MOUNT,
                        mount.mountPoint().toString(),
                        "mount " + mount.mountPoint(),
                        "uses the mount's cache, which may evict other data");
        };
    }

    @Override
    public Path path() {
        return mount.mountPoint();
    }

    @Override
    public FolderWork.Kept kept() {
        return FolderWork.Kept.BY_CLOSE;
    }

    /** The features negotiated with the kernel, as text. */
    String negotiated() {
        return mount.description();
    }

    @Override
    public boolean becomesCold() {
        return true;
    }

    /**
     * Waits for closed files that are not uploaded yet (write.close=staged): their data cannot be evicted. Nothing
     * opens the files after that, because the mount would take it for a read, and read ahead.
     */
    @Override
    public void forget(FolderWork work) throws IOException, RefusedException, InterruptedException {
        MeasuredFolder.dropPages(work.files());
        long until = System.nanoTime() + PATIENCE.toNanos();
        while (!evict(work.folder())) {
            if (System.nanoTime() > until) {
                throw new RefusedException(mount.mountPoint() + " did not upload the written files within "
                        + PATIENCE.toSeconds() + " s; try again when its backlog is shorter (see penstock mounts)");
            }
            Thread.sleep(LOOK);
        }
    }

    /** @return whether everything was evicted */
    private boolean evict(Path folder) throws IOException, RefusedException, InterruptedException {
        int job = ask("evict", Map.of("paths", List.of(folder.toString())))
                .path("job")
                .asInt();
        JobStatus status = Json.read(ask("job", Map.of("job", job)), JobStatus.class);
        while (status.state() == JobStatus.State.RUNNING) {
            Thread.sleep(LOOK);
            status = Json.read(ask("job", Map.of("job", job)), JobStatus.class);
        }
        if (status.error() != null) {
            throw new RefusedException(mount.mountPoint() + " could not evict the files: " + status.error());
        }
        return status.problemCount() == 0;
    }

    /** Frees memory by lowering its limit, but not in mounts of others, which would lose their cached data too. */
    @Override
    public void forgetMemory(FolderWork work) throws IOException, RefusedException, InterruptedException {
        MeasuredFolder.dropPages(work.files());
        if (whose == Whose.OWN) {
            long least = Math.max(64L << 20, configuration.get(Settings.RANGE_SIZE));
            setMemory(ByteSizes.print(least));
            long until = System.nanoTime() + PATIENCE.toNanos();
            while (Json.read(ask("stats", Map.of()), MountStatistics.class)
                                    .cache()
                                    .memoryBytes()
                            > least
                    && System.nanoTime() < until) {
                Thread.sleep(LOOK);
            }
            setMemory(configuration.show(Settings.MEMORY));
        }
    }

    @Override
    public void release(FolderWork work) throws IOException, RefusedException, InterruptedException {
        if (whose == Whose.OTHERS) {
            boolean _ = evict(work.folder()); // data still being uploaded after an interrupt is dropped with its file
        }
    }

    private void setMemory(String size) throws IOException, RefusedException {
        JsonNode _ = ask("set", Map.of("settings", List.of(Settings.MEMORY.key() + "=" + size)));
    }

    private JsonNode ask(String command, Object arguments) throws IOException, RefusedException {
        return control.ask(command, arguments);
    }
}

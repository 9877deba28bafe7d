package io.penstock.tools.bench;

import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.s3.S3ObjectStore;
import io.penstock.serve.mount.MountPlan;
import io.penstock.serve.mount.Target;
import io.penstock.serve.state.RunningMount;
import io.penstock.settings.Configuration;
import io.penstock.settings.ConfigurationException;
import io.penstock.settings.SettingSource;
import io.penstock.settings.Settings;
import io.penstock.settings.WriteSettings;
import io.penstock.settings.process.Folders;
import io.penstock.settings.process.Reason;
import io.penstock.settings.process.RefusedException;
import io.penstock.tools.measure.RangeSpeed;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * Measures a bucket and a disk, and then folders against them. Everything it creates is removed, even after an
 * interrupt. Its objects in the bucket are below one prefix, which no mount shows. For a single use by one thread.
 */
public final class Bench {
    /** The benchmark reports failures; it does not wait until a request succeeds. */
    private static final String RETRIES = "10s";

    private final Plan plan;
    private final Output output;
    private final BenchData data = new BenchData(ThreadLocalRandom.current().nextLong());
    private final Results results;
    private List<RangeSpeed> ranges = List.of();

    /** As requested; later with no more in the large file than the bucket took within the time limit. */
    private Workload workload;

    /**
     * What to measure.
     *
     * @param target the bucket; null if the folder's bucket is unknown
     * @param configuration the settings of the mount, or those used to reach the bucket
     * @param measured the folders; at least one
     */
    public record Plan(@Nullable Target target, Configuration configuration, List<Measured> measured) {}

    /** A folder to measure. */
    public sealed interface Measured {
        /** The bucket, through a mount made for the benchmark. */
        record OwnMount() implements Measured {}

        /** A mount that programs use. */
        record Mounted(RunningMount mount) implements Measured {}

        /** Any folder. */
        record Folder(Path path) implements Measured {}
    }

    public Bench(Plan plan, Workload workload, Output output) {
        this.plan = plan;
        this.workload = workload;
        this.output = output;
        this.results = new Results(output);
    }

    /** @throws RefusedException if something cannot be measured, or the bytes read differ from those written */
    public void run() throws RefusedException, ObjectStoreException, ConfigurationException, InterruptedException {
        try (Cleanup cleanup = new Cleanup(output::warning)) {
            try {
                measureAll(cleanup);
            } catch (IOException e) {
                throw new RefusedException(Reason.of(e));
            } catch (InterruptedException e) {
                output.warning("interrupted; removing the benchmark's files");
                throw e;
            }
        }
        output.end(results, workload);
    }

    private void measureAll(Cleanup cleanup)
            throws IOException, RefusedException, ObjectStoreException, ConfigurationException, InterruptedException {
        output.begin(workload);
        DiskFolder disk = diskFolder();
        cleanup.add("the folder " + disk.path(), disk::remove);
        for (Measured measured : plan.measured()) {
            requireRoom(measured, disk);
        }
        Target target = plan.target();
        String prefix = target == null ? "" : target.prefix() + ".penstock/bench-" + UUID.randomUUID() + "/";
        Ceilings ceilings = new Ceilings(data, results, output);
        if (target != null) {
            measureBucket(target, prefix, ceilings, cleanup);
        }
        ceilings.disk(disk, workload);
        for (Measured measured : plan.measured()) {
            measure(folder(measured, disk, prefix, cleanup), cleanup);
        }
    }

    /** On the disk of the cache; for a folder whose bucket is unknown, on the folder's disk if that is local. */
    private DiskFolder diskFolder() throws IOException, RefusedException {
        if (plan.target() == null && plan.measured().getFirst() instanceof Measured.Folder(Path path)) {
            String type = Files.getFileStore(path).type();
            if (!Folders.isOfNetwork(type) && !type.startsWith("fuse")) {
                return DiskFolder.in(path);
            }
        }
        return DiskFolder.besideCache(plan.configuration().get(Settings.CACHE_DIR));
    }

    private void requireRoom(Measured measured, DiskFolder disk) throws IOException, RefusedException {
        switch (measured) {
            case Measured.Folder(Path path) ->
                DiskFolder.requireRoom(path, workload.allBytes(), "use a smaller --size");
            case Measured.OwnMount() ->
                DiskFolder.requireRoom(
                        disk.path(),
                        // The staged data, the cached data, and the measurement of the disk.
                        3 * workload.allBytes() + plan.configuration().get(Settings.CACHE_MIN_FREE),
                        "set --cache to a folder on another disk, or use a smaller --size");
            case Measured.Mounted _ -> {} // its cache makes room
        }
    }

    private void measureBucket(Target target, String prefix, Ceilings ceilings, Cleanup cleanup)
            throws IOException, RefusedException, ObjectStoreException, ConfigurationException, InterruptedException {
        Configuration configuration = plan.configuration()
                .with(SettingSource.ofOptions(
                        Map.of(Settings.RETRY_DEADLINE, RETRIES, WriteSettings.RETRY_DEADLINE, RETRIES), Map.of()));
        S3ObjectStore store = S3ObjectStore.connect(
                MountPlan.of(target, Path.of("/"), configuration).s3(), target.prefix());
        cleanup.add("the connection to the bucket", store::close);
        RawBucket bucket = new RawBucket(store, prefix, workload, data);
        bucket.requireWritable();
        cleanup.add("the objects below s3://" + target.bucket() + "/" + prefix, bucket::remove);
        bucket.warmUp();
        String at = configuration
                .find(Settings.ENDPOINT)
                .map(endpoint -> " at " + endpoint)
                .orElse("");
        Location location = new Location(Location.Kind.BUCKET, target.source(), "bucket " + target.source() + at);
        ranges = ceilings.bucket(location, bucket, workload, configuration);
        workload = workload.within(bucket.largeBytes());
    }

    private MeasuredFolder folder(Measured measured, DiskFolder disk, String prefix, Cleanup cleanup)
            throws IOException, RefusedException, InterruptedException {
        Configuration configuration = plan.configuration();
        return switch (measured) {
            case Measured.Folder(Path path) -> new MeasuredFolder.Plain(path);
            case Measured.Mounted(RunningMount mount) ->
                new PenstockMount(mount, configuration, PenstockMount.Whose.OTHERS);
            case Measured.OwnMount() -> {
                OwnMount own = new OwnMount(disk.path());
                cleanup.add("the mount below " + disk.path(), own::stop);
                output.await("mounting");
                Target files = new Target(configuration.bucket(), prefix + "files/");
                yield new PenstockMount(own.start(files, configuration), configuration, PenstockMount.Whose.OWN);
            }
        };
    }

    private void measure(MeasuredFolder folder, Cleanup cleanup)
            throws IOException, RefusedException, ObjectStoreException, InterruptedException {
        Location location = folder.location();
        output.begin(location);
        FolderWork work = new FolderWork(folder.path(), workload, data, folder.kept());
        cleanup.add("the folder " + work.folder(), work::remove);
        cleanup.add("cached data of the folder " + work.folder(), () -> folder.release(work));
        boolean cold = folder.becomesCold();
        List<Row> rows = new ArrayList<>();
        rows.add(results.measure(location, Step.LARGE_WRITE, work::writeLarge));
        rows.add(results.measure(location, Step.SMALL_WRITE, work::writeSmall));
        folder.forget(work);
        rows.add(results.measure(location, cold ? Step.LARGE_READ_COLD : Step.LARGE_READ_FIRST, work::readLarge));
        rows.add(results.measure(location, cold ? Step.SMALL_READ_COLD : Step.SMALL_READ_FIRST, work::readSmall));
        folder.forgetMemory(work);
        rows.add(results.measure(location, Step.LARGE_READ_AGAIN, work::readLarge));
        rows.add(results.measure(location, Step.SMALL_READ_AGAIN, work::readSmall));
        rows.add(results.measure(location, Step.STAT, work::stat));
        if (folder instanceof PenstockMount mount) {
            Diagnosis diagnosis = new Diagnosis(results, ranges, workload, plan.configuration(), mount.negotiated());
            rows.forEach(row -> diagnosis.of(row).ifPresent(text -> output.diagnosis(row, text)));
        }
    }
}

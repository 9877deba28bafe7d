package io.penstock.tools.bench;

import io.penstock.objectstore.ObjectStoreException;
import io.penstock.settings.Configuration;
import io.penstock.settings.Settings;
import io.penstock.settings.WriteSettings;
import io.penstock.settings.process.RefusedException;
import io.penstock.tools.measure.DiskTrial;
import io.penstock.tools.measure.Measurement;
import io.penstock.tools.measure.RangeMeasurement;
import io.penstock.tools.measure.RangeSpeed;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/** Measures what folders are compared with: a bucket without a mount, and a disk. Confined to one thread. */
final class Ceilings {
    /** The longest measurement at each number of concurrent GETs. */
    private static final Duration RANGES_TIME = Duration.ofSeconds(2);

    private static final List<Step> RANGES =
            List.of(Step.BUCKET_RANGES_1, Step.BUCKET_RANGES_16, Step.BUCKET_RANGES_64);

    /** The disk trial uses at most 1/{@code PART_OF_DISK} of the free space. */
    private static final int PART_OF_DISK = 4;

    private static final int WARM_UPS = 4;
    private static final Workload WARM_UP = new Workload(32L << 20, 100, 64 << 10, 4, Duration.ofMillis(200));

    private final BenchData data;
    private final Results results;
    private final Output output;

    Ceilings(BenchData data, Results results, Output output) {
        this.data = data;
        this.results = results;
        this.output = output;
    }

    /** @return the speed of ranges, by ascending concurrency */
    List<RangeSpeed> bucket(Location location, RawBucket bucket, Workload workload, Configuration configuration)
            throws RefusedException, ObjectStoreException, InterruptedException {
        output.begin(location);
        results.measure(location, Step.BUCKET_UPLOAD, () -> bucket.upload(configuration.get(WriteSettings.PART_SIZE)));
        Duration time = workload.limit().compareTo(RANGES_TIME) < 0 ? workload.limit() : RANGES_TIME;
        RangeMeasurement measurement = bucket.ranges(configuration.get(Settings.RANGE_SIZE), time);
        List<RangeSpeed> ranges = new ArrayList<>();
        for (int i = 0; i < RANGES.size(); i++) {
            int concurrency = RangeMeasurement.CONCURRENCIES.get(i);
            results.measureRate(location, RANGES.get(i), () -> {
                ranges.add(measurement.at(concurrency));
                return ranges.getLast().mib();
            });
        }
        results.measure(location, Step.BUCKET_SMALL_PUT, bucket::putSmall);
        results.measure(location, Step.BUCKET_SMALL_GET, bucket::getSmall);
        return ranges;
    }

    /** Measures the disk itself, and a folder on it as programs use it. */
    void disk(DiskFolder disk, Workload workload)
            throws IOException, RefusedException, ObjectStoreException, InterruptedException {
        Path parent = Objects.requireNonNull(disk.path().getParent());
        Location location = new Location(Location.Kind.DISK, parent.toString(), "disk of " + parent);
        output.begin(location);
        try (DiskTrial trial = new DiskTrial(disk.path())) {
            output.await("measuring");
            DiskTrial.Speed speed = trial.run(disk.usableBytes() / PART_OF_DISK).speed();
            if (speed == null) {
                output.note("no direct I/O, or hardly any free space: the rates below may be those of memory");
            } else {
                results.measureRate(location, Step.DISK_WRITE_DIRECT, speed::writeMib);
                results.measureRate(location, Step.DISK_READ_DIRECT, speed::readMib);
                results.measureRate(location, Step.DISK_RANDOM_4K, speed::randomReads);
            }
        }
        warmUp(disk, workload);
        FolderWork work = new FolderWork(disk.path(), workload, data, FolderWork.Kept.BY_FSYNC);
        results.measure(location, Step.DISK_LARGE_WRITE, work::writeLarge);
        results.measure(location, Step.DISK_SMALL_WRITE, work::writeSmall);
        MeasuredFolder.dropPages(work.files());
        results.measure(location, Step.DISK_LARGE_READ, work::readLarge);
        results.measure(location, Step.DISK_SMALL_READ, work::readSmall);
        results.measure(location, Step.DISK_STAT, work::stat);
        work.remove();
    }

    /** Lets the JVM compile the measured code; otherwise the first rows would be slower. */
    private void warmUp(DiskFolder disk, Workload workload)
            throws IOException, RefusedException, ObjectStoreException, InterruptedException {
        for (int i = 0; i < WARM_UPS; i++) {
            FolderWork work =
                    new FolderWork(disk.path(), WARM_UP.within(workload.largeBytes()), data, FolderWork.Kept.BY_CLOSE);
            Measurement _ = work.writeLarge();
            Measurement _ = work.writeSmall();
            Measurement _ = work.readLarge();
            Measurement _ = work.readSmall();
            Measurement _ = work.stat();
            work.remove();
        }
    }
}

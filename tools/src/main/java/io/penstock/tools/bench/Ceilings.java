package io.penstock.tools.bench;

import io.penstock.objectstore.ObjectStoreException;
import io.penstock.settings.Configuration;
import io.penstock.settings.Settings;
import io.penstock.settings.WriteSettings;
import io.penstock.settings.process.RefusedException;
import io.penstock.tools.measure.DiskTrial;
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
    private static final Amounts WARM_UP = new Amounts(32L << 20, 100, 64 << 10, 4, Duration.ofMillis(200));

    private final BenchData data;
    private final Results results;
    private final Output output;

    Ceilings(BenchData data, Results results, Output output) {
        this.data = data;
        this.results = results;
        this.output = output;
    }

    /** @return the speed of ranges, by ascending concurrency */
    List<RangeSpeed> bucket(Place place, RawBucket bucket, Amounts amounts, Configuration configuration)
            throws RefusedException, ObjectStoreException, InterruptedException {
        output.begin(place);
        results.measure(place, Step.BUCKET_UPLOAD, () -> bucket.upload(configuration.get(WriteSettings.PART_SIZE)));
        Duration time = amounts.limit().compareTo(RANGES_TIME) < 0 ? amounts.limit() : RANGES_TIME;
        RangeMeasurement measurement = bucket.ranges(configuration.get(Settings.RANGE_SIZE), time);
        List<RangeSpeed> ranges = new ArrayList<>();
        for (int i = 0; i < RANGES.size(); i++) {
            int concurrency = RangeMeasurement.CONCURRENCIES.get(i);
            results.measure(place, RANGES.get(i), () -> {
                ranges.add(measurement.at(concurrency));
                return Done.ofRate(ranges.getLast().mib());
            });
        }
        results.measure(place, Step.BUCKET_SMALL_PUT, bucket::putSmall);
        results.measure(place, Step.BUCKET_SMALL_GET, bucket::getSmall);
        return ranges;
    }

    /** Measures the disk itself, and a folder on it as programs use it. */
    void disk(DiskFolder disk, Amounts amounts)
            throws IOException, RefusedException, ObjectStoreException, InterruptedException {
        Path parent = Objects.requireNonNull(disk.path().getParent());
        Place place = new Place(Place.Kind.DISK, parent.toString(), "disk of " + parent);
        output.begin(place);
        try (DiskTrial trial = new DiskTrial(disk.path())) {
            output.await("measuring");
            DiskTrial.Speed speed = trial.run(disk.usableBytes() / PART_OF_DISK).speed();
            if (speed == null) {
                output.note("no direct I/O, or hardly any free space: the rates below may be those of memory");
            } else {
                results.measure(place, Step.DISK_WRITE_DIRECT, () -> Done.ofRate(speed.writeMib()));
                results.measure(place, Step.DISK_READ_DIRECT, () -> Done.ofRate(speed.readMib()));
                results.measure(place, Step.DISK_RANDOM_4K, () -> Done.ofRate(speed.randomReads()));
            }
        }
        warmUp(disk, amounts);
        FolderWork work = new FolderWork(disk.path(), amounts, data, FolderWork.Kept.BY_FSYNC);
        results.measure(place, Step.DISK_LARGE_WRITE, work::writeLarge);
        results.measure(place, Step.DISK_SMALL_WRITE, work::writeSmall);
        Subject.dropPages(work.files());
        results.measure(place, Step.DISK_LARGE_READ, work::readLarge);
        results.measure(place, Step.DISK_SMALL_READ, work::readSmall);
        results.measure(place, Step.DISK_STAT, work::stat);
        work.remove();
    }

    /** Lets the JVM compile the measured code; otherwise the first rows would be slower. */
    private void warmUp(DiskFolder disk, Amounts amounts)
            throws IOException, RefusedException, ObjectStoreException, InterruptedException {
        for (int i = 0; i < WARM_UPS; i++) {
            FolderWork work =
                    new FolderWork(disk.path(), WARM_UP.within(amounts.largeBytes()), data, FolderWork.Kept.BY_CLOSE);
            List<Done> _ = List.of(work.writeLarge(), work.writeSmall(), work.readLarge(), work.readSmall());
            Done _ = work.stat();
            work.remove();
        }
    }
}

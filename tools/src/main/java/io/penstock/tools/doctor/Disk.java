package io.penstock.tools.doctor;

import io.penstock.settings.ByteSizes;
import io.penstock.settings.Configuration;
import io.penstock.settings.Origin;
import io.penstock.settings.Setting;
import io.penstock.settings.Settings;
import io.penstock.settings.WriteSettings;
import io.penstock.settings.process.Folders;
import io.penstock.tools.measure.DiskTrial;
import io.penstock.tools.measure.DiskTrial.Outcome;
import io.penstock.tools.measure.Text;
import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The disk of the cache or the staging folder. Leaves nothing on it. */
record Disk(Configuration configuration, Setting<Path> folder, Setting<Long> size, boolean staging) {
    /** Most networks are faster than a disk below this. */
    private static final double SLOW_READ_MIB = 200;

    /** A disk below this is rotating or shared. */
    private static final double SLOW_RANDOM_READS = 5_000;

    /**
     * A folder of a mount, and its disk.
     *
     * @param folder as configured
     * @param existing the folder, or its nearest ancestor that exists
     * @param writable whether this process may create files in {@code existing}
     * @param type the file system's type, such as {@code ext4}
     * @param device its number; two folders with the same number are on the same file system
     * @param totalBytes the size of the file system
     * @param usableBytes the bytes that this user may still write
     * @param empty whether the folder is empty, or does not exist
     * @param trial the result of a trial with a temporary file; null if there was none
     */
    record Facts(
            Path folder,
            Path existing,
            boolean writable,
            String type,
            long device,
            long totalBytes,
            long usableBytes,
            boolean empty,
            @Nullable Outcome trial) {

        boolean exists() {
            return folder.equals(existing);
        }
    }

    /** How thoroughly a disk is examined. */
    enum Depth {
        /** Nothing is written. */
        LOOK,
        /** A temporary file of a few bytes shows the features of the file system. */
        TRY,
        /** A temporary file also shows its speed. */
        MEASURE
    }

    static Facts read(Path folder, Depth depth) throws IOException, InterruptedException {
        Path existing = Folders.existing(folder);
        FileStore store = Files.getFileStore(existing);
        boolean isWritable = Files.isWritable(existing);
        @Nullable Outcome trial = null;
        if (depth != Depth.LOOK && isWritable && store.getUsableSpace() > 0) {
            try (DiskTrial file = new DiskTrial(existing)) {
                trial = file.run(depth == Depth.MEASURE ? store.getUsableSpace() / 4 : 0);
            }
        }
        return new Facts(
                folder,
                existing,
                isWritable,
                store.type(),
                Folders.device(folder),
                store.getTotalSpace(),
                store.getUsableSpace(),
                !folder.equals(existing) || isEmpty(folder),
                trial);
    }

    private static boolean isEmpty(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.findAny().isEmpty();
        }
    }

    static Disk ofCache(Configuration configuration) {
        return new Disk(configuration, Settings.CACHE_DIR, Settings.CACHE_SIZE, false);
    }

    static Disk ofStaging(Configuration configuration) {
        return new Disk(configuration, WriteSettings.STAGING, WriteSettings.STAGING_SIZE, true);
    }

    void check(Facts disk, Findings findings) {
        if (!disk.writable()) {
            findings.error(
                    disk.folder() + (disk.exists() ? "" : " cannot be created: " + disk.existing())
                            + " is not writable by this user",
                    "The mount is refused",
                    "Set " + folder + " to a folder on a local disk that this user owns, or have root create it and"
                            + " chown it");
        }
        fileSystem(disk, findings);
        space(disk, findings);
        Outcome trial = disk.trial();
        if (trial != null) {
            features(disk, trial, findings);
        }
        if (findings.isEmpty()) {
            findings.ok(disk.folder() + (disk.exists() ? "" : ", which the mount will create,") + " on " + disk.type()
                    + ", " + ByteSizes.about(disk.usableBytes()) + " free");
        }
        if (trial != null && trial.speed() != null) {
            speed(trial.speed(), findings);
        }
    }

    private void fileSystem(Facts disk, Findings findings) {
        String on = disk.folder() + " is on " + disk.type();
        String elsewhere = "Set " + folder + " to a folder on a local NVMe disk";
        String type = disk.type().toLowerCase(Locale.ROOT);
        if (type.equals("tmpfs") || type.equals("ramfs")) {
            if (staging) {
                findings.error(on + ", which is memory", "A crash of the machine loses files after fsync", elsewhere);
            } else {
                findings.warning(
                        on + ", which is memory",
                        "The cache takes memory from programs, and is lost at a reboot",
                        elsewhere);
            }
        } else if (type.equals("overlay") || type.equals("aufs")) {
            String found = on + ", the file system of a container";
            if (staging) {
                findings.error(
                        found, "Data that is not uploaded yet is lost with the container", elsewhere + " (a volume)");
            } else {
                findings.warning(found, "The cache is lost with the container", elsewhere + " (a volume)");
            }
        } else if (Folders.isOfNetwork(type)) {
            findings.warning(
                    on + ", a network file system",
                    "It is hardly faster than the store, and slows down when others use it",
                    elsewhere);
        } else if (type.startsWith("fuse")) {
            findings.warning(on, "A hang of that file system hangs the mount", elsewhere);
        }
    }

    private void space(Facts disk, Findings findings) {
        long wanted = configuration.get(size);
        long left = staging ? 0 : configuration.get(Settings.CACHE_MIN_FREE);
        long there = Math.max(0, (disk.empty() ? disk.usableBytes() : disk.totalBytes()) - left);
        String free = ByteSizes.about(disk.usableBytes()) + " are free on the disk of " + disk.folder();
        if (disk.usableBytes() == 0 || (disk.empty() && there == 0)) {
            findings.error(
                    free + (left == 0 ? "" : ", and cache.min-free is " + ByteSizes.print(left)),
                    disk.usableBytes() == 0
                            ? "The mount is refused: it keeps its state there"
                            : "Nothing is cached: each read waits for the store",
                    "Free space, or set " + folder + " to a folder on another disk"
                            + (left == 0 ? "" : ", or lower cache.min-free"));
        } else if (wanted > there) {
            String found = size + " is " + ByteSizes.print(wanted) + ", but the disk has room for "
                    + ByteSizes.about(there) + (left == 0 ? "" : " in addition to cache.min-free");
            String why = staging
                    ? "A full disk makes writers wait sooner than the setting says"
                    : "The cache is smaller than the setting says";
            String remedy = "Lower " + size + ", or set " + folder + " to a folder on a larger disk";
            if (configuration.origin(size) instanceof Origin.Default) {
                findings.note(found, why, remedy);
            } else {
                findings.warning(found, why, remedy);
            }
        }
    }

    private void features(Facts disk, Outcome trial, Findings findings) {
        if (!trial.holes() && !staging) {
            findings.warning(
                    "the file system of " + disk.folder() + " (" + disk.type() + ") cannot punch holes",
                    "Space is freed only in whole objects, so more is evicted than needed",
                    "Set " + folder + " to a folder on ext4 or XFS");
        }
        if (!trial.direct()) {
            findings.note(
                    "the file system of " + disk.folder() + " (" + disk.type() + ") has no direct I/O",
                    "Cached data takes memory twice, and its speed cannot be measured",
                    "Set " + folder + " to a folder on ext4 or XFS");
        }
    }

    private void speed(DiskTrial.Speed speed, Findings findings) {
        String words = "sequential: %s MiB/s read, %s MiB/s written; random: %s reads of 4 KiB a second (p99 %s)"
                .formatted(
                        Text.number(Math.rint(speed.readMib())),
                        Text.number(Math.rint(speed.writeMib())),
                        Text.number(Math.rint(speed.randomReads())),
                        Text.time(speed.randomP99()));
        if (speed.readMib() < SLOW_READ_MIB || speed.randomReads() < SLOW_RANDOM_READS) {
            findings.warning(
                    "the disk is slow: " + words,
                    staging ? "Programs that write wait for it" : "A second read may be no faster than the first",
                    "Set " + folder
                            + " to a folder on a local NVMe disk; on a cloud disk, raise its throughput and IOPS");
        } else {
            findings.ok(words);
        }
    }
}

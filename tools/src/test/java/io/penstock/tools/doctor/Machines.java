package io.penstock.tools.doctor;

import io.penstock.settings.Configuration;
import io.penstock.settings.ConfigurationException;
import io.penstock.settings.ConfigurationFile;
import io.penstock.settings.Host;
import io.penstock.settings.MountOptionList;
import io.penstock.settings.SettingSource;
import io.penstock.tools.doctor.Machine.AotCache;
import io.penstock.tools.doctor.Machine.Device;
import io.penstock.tools.doctor.Machine.Kernel;
import io.penstock.tools.doctor.Machine.Limits;
import io.penstock.tools.measure.DiskTrial;
import io.penstock.tools.measure.DiskTrial.Outcome;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A machine without faults. */
final class Machines {
    static final long GIB = 1L << 30;
    static final Limits LIMITS = new Limits(1 << 20, 8 << 20, Long.MAX_VALUE);
    static final Machine.Facts SOUND = new Machine.Facts(
            true, Device.OPENS, true, true, true, new Kernel(6, 9), LIMITS, 256 * GIB, 8 * GIB, AotCache.USED);

    static final Outcome FAST =
            new Outcome(true, true, new DiskTrial.Speed(3_000, 6_000, 400_000, Duration.ofMillis(1)));
    static final Disk.Facts DISK = disk("ext4", 4096 * GIB, FAST);

    private Machines() {}

    /** The settings of a bucket on a machine where the user is root. */
    static Configuration settings(String mountOptions) {
        return settings(0, mountOptions);
    }

    static Configuration settings(int uid, String mountOptions) {
        try {
            return Configuration.of(
                    new Host(Map.of(), Path.of("/home/ann"), uid, uid, 256 * GIB, 16),
                    "data",
                    SettingSource.EMPTY,
                    MountOptionList.parse(List.of(mountOptions), "-o").settings(),
                    ConfigurationFile.NONE);
        } catch (ConfigurationException e) {
            throw new IllegalArgumentException(e);
        }
    }

    static Machine.Facts with(Device device) {
        return new Machine.Facts(
                true, device, true, true, true, SOUND.kernel(), LIMITS, 256 * GIB, 8 * GIB, AotCache.USED);
    }

    static Machine.Facts with(Kernel kernel) {
        return new Machine.Facts(
                true, Device.OPENS, true, true, true, kernel, LIMITS, 256 * GIB, 8 * GIB, AotCache.USED);
    }

    static Machine.Facts with(Limits limits) {
        return new Machine.Facts(
                true, Device.OPENS, true, true, true, SOUND.kernel(), limits, 256 * GIB, 8 * GIB, AotCache.USED);
    }

    static Machine.Facts with(AotCache cache) {
        return new Machine.Facts(
                true, Device.OPENS, true, true, true, SOUND.kernel(), LIMITS, 256 * GIB, 8 * GIB, cache);
    }

    static Machine.Facts withMemory(long bytes) {
        return new Machine.Facts(
                true, Device.OPENS, true, true, true, SOUND.kernel(), LIMITS, bytes, bytes / 8, AotCache.USED);
    }

    /** The facts of a user other than root. */
    static Machine.Facts ofUser(boolean hasFusermount, boolean userAllowOther) {
        return new Machine.Facts(
                false,
                Device.OPENS,
                false,
                hasFusermount,
                userAllowOther,
                SOUND.kernel(),
                LIMITS,
                256 * GIB,
                8 * GIB,
                AotCache.USED);
    }

    /** The facts of root in a container without the capability. */
    static Machine.Facts unprivileged() {
        return new Machine.Facts(
                true, Device.OPENS, false, true, true, SOUND.kernel(), LIMITS, 256 * GIB, 8 * GIB, AotCache.USED);
    }

    /** An empty disk of this size. */
    static Disk.Facts disk(String type, long bytes, @Nullable Outcome trial) {
        Path folder = Path.of("/nvme/penstock");
        return new Disk.Facts(folder, folder, true, type, 7, bytes, bytes, true, trial);
    }

    static Disk.Facts readOnlyDisk() {
        Path folder = Path.of("/nvme/penstock");
        return new Disk.Facts(folder, Path.of("/nvme"), false, "ext4", 7, 4096 * GIB, 4096 * GIB, true, null);
    }

    /** Another disk. */
    static Disk.Facts otherDisk() {
        Path folder = Path.of("/other/staging");
        return new Disk.Facts(folder, folder, true, "ext4", 8, 4096 * GIB, 4096 * GIB, true, FAST);
    }
}

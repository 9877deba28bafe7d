package io.penstock.tools.doctor;

import io.penstock.disk.ExposedFolder;
import io.penstock.serve.mount.MountPlan;
import io.penstock.settings.ByteSizes;
import io.penstock.settings.Configuration;
import io.penstock.settings.Settings;
import io.penstock.settings.WriteSettings;
import java.util.List;

/** The folders of a mount in relation to each other, and that of its log. */
record MountFolders(Configuration configuration) {
    /** Six files of 10 MB: the log and its rotated files. */
    private static final long LOGS = 60_000_000;

    /** The folders of a mount that writes. */
    record Facts(Disk.Facts cache, Disk.Facts staging) {}

    /** Whether the cache and the staging folder suit each other. */
    void both(Facts folders, Findings findings) {
        Disk.Facts cache = folders.cache();
        if (cache.device() != folders.staging().device()) {
            findings.warning(
                    "write.staging (" + folders.staging().folder() + ") is on another file system than cache.dir ("
                            + cache.folder() + ")",
                    "Written data cannot be moved to the cache, and is fetched again when it is read",
                    "Set write.staging to a folder on the disk of cache.dir");
            return;
        }
        long both = configuration.get(Settings.CACHE_SIZE) + configuration.get(WriteSettings.STAGING_SIZE);
        if (both > cache.totalBytes() || both < 0) {
            findings.note(
                    "cache.size and write.staging-size together exceed the size of their disk, "
                            + ByteSizes.about(cache.totalBytes()),
                    "The cache evicts pages while much is staged",
                    "Lower them until both fit, or use two disks");
        } else {
            findings.ok("cache.size and write.staging-size, "
                    + ByteSizes.print(configuration.get(Settings.CACHE_SIZE)) + " and "
                    + ByteSizes.print(configuration.get(WriteSettings.STAGING_SIZE)) + ", fit on one file system");
        }
    }

    /** Where the mount's log goes. */
    static void log(Disk.Facts disk, Findings findings) {
        String remedy = "Set " + Settings.LOG_FILE + " to a file on another disk";
        if (!disk.writable()) {
            findings.warning(
                    disk.folder() + (disk.exists() ? "" : " cannot be created: " + disk.existing())
                            + " is not writable by this user",
                    "Without a log, the cause of a later failure cannot be found",
                    remedy + ", or have root create " + disk.folder());
        } else if (disk.usableBytes() < LOGS) {
            findings.warning(
                    "the disk of " + disk.folder() + " has " + ByteSizes.about(disk.usableBytes()) + " free",
                    "The log and its rotated files take up to 60 MB",
                    "Free space, or: " + remedy);
        } else {
            findings.ok(disk.folder().toString());
        }
    }

    /** @param exposed the folders above in which other users can replace the cache or the staging folder */
    static void parents(List<ExposedFolder> exposed, Findings findings) {
        exposed.forEach(folder -> findings.warning(
                folder.fault(), "A mount would serve and upload files that they put there", MountPlan.mend(folder)));
        if (findings.isEmpty()) {
            findings.ok("no other user can replace the cache or the staging folder");
        }
    }
}

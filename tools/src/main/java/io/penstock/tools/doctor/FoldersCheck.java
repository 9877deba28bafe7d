package io.penstock.tools.doctor;

import io.penstock.settings.ByteSizes;
import io.penstock.settings.Configuration;
import io.penstock.settings.Settings;
import io.penstock.settings.WriteSettings;

/** Whether the cache and the staging folder suit each other. */
record FoldersCheck(Configuration configuration) implements Check<FoldersCheck.Facts> {
    /** The folders of a mount that writes. */
    record Facts(Disks.Facts cache, Disks.Facts staging) {}

    @Override
    public void examine(Facts folders, Findings findings) {
        Disks.Facts cache = folders.cache();
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
}

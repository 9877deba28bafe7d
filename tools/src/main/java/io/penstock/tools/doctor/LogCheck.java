package io.penstock.tools.doctor;

import io.penstock.settings.ByteSizes;
import io.penstock.settings.Settings;

/** Where the mount's log goes. */
final class LogCheck implements Check<Disks.Facts> {
    /** Six files of 10 MB: the log and its rotated files. */
    private static final long LOGS = 60_000_000;

    @Override
    public void examine(Disks.Facts disk, Findings findings) {
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
}

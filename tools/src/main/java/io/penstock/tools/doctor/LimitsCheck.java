package io.penstock.tools.doctor;

import io.penstock.settings.ByteSizes;
import io.penstock.settings.Configuration;
import io.penstock.settings.Settings;
import io.penstock.tools.doctor.Machine.Limits;

/** The limits of a process that the user starts. */
record LimitsCheck(Configuration configuration) implements Check<Machine.Facts> {
    /** A mount has up to two descriptors for each object in use, and one for each connection. */
    private static final long FEW_FILES = 16_384;

    /** The files that every mount has open: its log, indexes, jars and devices. */
    private static final long OWN_FILES = 256;

    private static final long SMALL_FILE = 4L << 30;

    @Override
    public void examine(Machine.Facts machine, Findings findings) {
        Limits limits = machine.limits();
        long least = configuration.get(Settings.CONNECTIONS) + OWN_FILES;
        String openFiles = "a process may have " + limits.openFiles() + " open files (ulimit -Hn)";
        String remedy = "Raise it: LimitNOFILE=1048576 in the systemd unit, or nofile in /etc/security/limits.conf";
        if (limits.openFiles() < least) {
            findings.error(
                    openFiles + ", fewer than the " + least + " that s3.connections and the mount's own files need",
                    "Requests fail with \"Too many open files\"",
                    remedy);
        } else if (limits.openFiles() < FEW_FILES) {
            findings.warning(
                    openFiles, "A mount needs up to two for each file in use, and one for each connection", remedy);
        }
        if (limits.fileBytes() < SMALL_FILE) {
            findings.warning(
                    "a process may write files of up to " + ByteSizes.about(limits.fileBytes()) + " (ulimit -f)",
                    "Larger files are neither cached whole nor staged",
                    "ulimit -f unlimited, or LimitFSIZE=infinity in the systemd unit");
        }
        if (findings.isEmpty()) {
            findings.ok(limits.openFiles() + " open files; files "
                    + (limits.fileBytes() == Long.MAX_VALUE
                            ? "of any size"
                            : "up to " + ByteSizes.about(limits.fileBytes()))
                    + "; locked memory "
                    + (limits.lockedBytes() == Long.MAX_VALUE ? "unlimited" : ByteSizes.about(limits.lockedBytes()))
                    + " (a mount locks none)");
        }
    }
}

package io.penstock.fuse;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.penstock.core.Errno;
import java.io.IOException;
import java.nio.file.Path;

/** Unmounts: as root with umount2(2), as any other user with fusermount, which is setuid root. */
final class Unmount {
    private static final String ALLOWED_USERS = " (root may, and the user who mounted it)";

    /** Part of strerror(EBUSY), which fusermount does not translate. */
    private static final String BUSY = "busy";

    private Unmount() {}

    /**
     * @return whether it was unmounted; false if it is busy
     * @throws MountException if unmounting failed for another reason
     */
    static boolean now(Path mountPoint) throws MountException, InterruptedException {
        String complaint = umount(mountPoint, Native.UMOUNT_NOFOLLOW, "-u");
        if (!complaint.isEmpty() && !complaint.contains(BUSY)) {
            throw new MountException("Cannot unmount " + mountPoint + ": " + complaint);
        }
        return complaint.isEmpty();
    }

    static void detach(Path mountPoint) throws MountException {
        try {
            String complaint = umount(mountPoint, Native.MNT_DETACH | Native.UMOUNT_NOFOLLOW, "-uz");
            if (!complaint.isEmpty()) {
                throw new MountException("Cannot detach " + mountPoint + ": " + complaint);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** @return why it failed; empty if it succeeded */
    private static String umount(Path mountPoint, int flags, String fusermountFlags)
            throws MountException, InterruptedException {
        if (Native.C.umount2(mountPoint.toString(), flags) == 0) {
            return "";
        }
        int error = Native.error();
        if (error == Errno.EPERM.number()) {
            String complaint = fusermount(fusermountFlags, mountPoint);
            return complaint.isEmpty() ? "" : complaint + ALLOWED_USERS;
        }
        if (error == Errno.EBUSY.number()) {
            return BUSY;
        }
        boolean isGone = error == Errno.EINVAL.number(); // no longer a mount point
        return isGone ? "" : "umount2 failed with error number " + error;
    }

    /** @return fusermount's error message; empty if it succeeded */
    private static String fusermount(String flags, Path mountPoint) throws MountException, InterruptedException {
        String program = Preflight.fusermount()
                .map(Path::toString)
                .orElseThrow(() -> new MountException("Unmounting needs fusermount, and it is not installed."));
        try {
            Process process = new ProcessBuilder(program, flags, "--", mountPoint.toString())
                    .redirectErrorStream(true)
                    .start();
            String output;
            try (var stdout = process.getInputStream()) {
                output = new String(stdout.readAllBytes(), UTF_8).strip();
            }
            int status = process.waitFor();
            return status == 0 ? "" : output.isEmpty() ? "fusermount ended with status " + status : output;
        } catch (IOException e) {
            throw new MountException("Cannot run " + program + ": " + e.getMessage(), e);
        }
    }
}

package io.penstock.fuse;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.penstock.core.Errno;
import java.io.IOException;
import java.nio.file.Path;

/** Unmounts: with umount2(2) as root, and with fusermount, which is setuid root, as another user. */
final class Unmount {
    enum Outcome {
        DONE,
        BUSY
    }

    private static final String ALLOWED_USERS = " (root may, and the user who mounted it)";

    private Unmount() {}

    /** @throws MountException if it failed for another reason than being busy */
    static Outcome now(Path mountPoint) throws MountException, InterruptedException {
        int error = LibC.umount2(mountPoint.toString(), LibC.UMOUNT_NOFOLLOW);
        if (error == Errno.EPERM.number()) {
            String complaint = fusermount("-u", "--", mountPoint.toString());
            if (complaint.isEmpty()) {
                return Outcome.DONE;
            }
            if (complaint.contains("busy")) { // strerror(EBUSY), which fusermount does not translate
                return Outcome.BUSY;
            }
            throw new MountException("Cannot unmount " + mountPoint + ": " + complaint + ALLOWED_USERS);
        }
        if (error == Errno.EBUSY.number()) {
            return Outcome.BUSY;
        }
        if (error != 0 && error != Errno.EINVAL.number()) { // EINVAL: it is no longer a mount point
            throw new MountException("Cannot unmount " + mountPoint + ": umount2 failed with error number " + error);
        }
        return Outcome.DONE;
    }

    static void detach(Path mountPoint) throws MountException {
        int error = LibC.umount2(mountPoint.toString(), LibC.MNT_DETACH | LibC.UMOUNT_NOFOLLOW);
        if (error == Errno.EPERM.number()) {
            try {
                String complaint = fusermount("-u", "-z", "--", mountPoint.toString());
                if (!complaint.isEmpty()) {
                    throw new MountException("Cannot detach " + mountPoint + ": " + complaint + ALLOWED_USERS);
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        } else if (error != 0 && error != Errno.EINVAL.number()) {
            throw new MountException("Cannot detach " + mountPoint + ": umount2 failed with error number " + error);
        }
    }

    /** @return fusermount's error message; empty if it succeeded */
    private static String fusermount(String... arguments) throws MountException, InterruptedException {
        String program = Preflight.fusermount()
                .map(Path::toString)
                .orElseThrow(() -> new MountException("Unmounting needs fusermount, and it is not installed."));
        String[] command = new String[arguments.length + 1];
        command[0] = program;
        System.arraycopy(arguments, 0, command, 1, arguments.length);
        try {
            Process process =
                    new ProcessBuilder(command).redirectErrorStream(true).start();
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

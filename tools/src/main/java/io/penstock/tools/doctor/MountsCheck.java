package io.penstock.tools.doctor;

import java.nio.file.Path;
import java.util.List;

/** The Penstock mounts on this machine. */
final class MountsCheck implements Check<MountsCheck.Mounts> {
    /**
     * Mount points.
     *
     * @param all those of all mounts
     * @param dead those of mounts whose process has ended
     */
    record Mounts(List<Path> all, List<Path> dead) {}

    @Override
    public void examine(Mounts mounts, Findings findings) {
        mounts.dead()
                .forEach(dead -> findings.warning(
                        "the process that served " + dead + " has ended",
                        "Programs get \"Transport endpoint is not connected\"",
                        "Mount again, which continues its uploads, or remove it: penstock umount " + dead));
        if (findings.isEmpty()) {
            findings.ok(
                    mounts.all().isEmpty()
                            ? "no mounts"
                            : mounts.all().size()
                                    + ", each served by its process; penstock doctor MOUNTPOINT examines one");
        }
    }
}

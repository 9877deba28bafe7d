package io.penstock.tools.doctor;

import io.penstock.settings.Configuration;
import io.penstock.settings.Settings;

/** Whether this user may mount a FUSE file system, and also for other users if the settings say so. */
record FuseCheck(Configuration configuration) implements Check<Machine.Facts> {
    private static final String WHY = "Nothing can be mounted";
    private static final String CONTAINER = "--device /dev/fuse --cap-add SYS_ADMIN";

    @Override
    public void examine(Machine.Facts machine, Findings findings) {
        switch (machine.device()) {
            case OPENS -> {}
            case MISSING ->
                findings.error(
                        "/dev/fuse does not exist",
                        WHY,
                        "Load the kernel's module as root: modprobe fuse; start a container with " + CONTAINER);
            case DENIED ->
                findings.error(
                        "this user may not open /dev/fuse",
                        WHY,
                        "As root, open it to all users, as udev does: chmod 666 /dev/fuse; start a container with "
                                + CONTAINER);
            case FAILS ->
                findings.error("/dev/fuse cannot be opened", WHY, "Load the kernel's module as root: modprobe fuse");
        }
        if (machine.root() && !machine.mayMount()) {
            findings.error(
                    "this process is root but lacks CAP_SYS_ADMIN",
                    WHY,
                    "Start the container with " + CONTAINER
                            + ", and --security-opt apparmor:unconfined where AppArmor forbids mounts");
        }
        if (!machine.root() && !machine.hasFusermount()) {
            findings.error(
                    "fusermount3 is not installed",
                    "Users other than root need it to mount",
                    "apt-get install fuse3, or dnf install fuse3");
        }
        if (!machine.root() && configuration.get(Settings.ALLOW_OTHER) && !machine.userAllowOther()) {
            findings.error(
                    "fuse.allow-other is set, but /etc/fuse.conf does not permit it to users other than root",
                    "The mount is refused",
                    "Add the line user_allow_other to /etc/fuse.conf, or mount without fuse.allow-other");
        }
        if (findings.isEmpty()) {
            findings.ok("/dev/fuse can be opened, and this user may mount");
        }
    }
}

package io.penstock.tools.doctor;

import io.penstock.fuse.Binding;
import io.penstock.settings.Configuration;
import io.penstock.settings.Settings;

/** What mounting takes: /dev/fuse, the right to use it, and the kernel. */
record Fuse(Configuration configuration) {
    private static final String WHY = "Nothing can be mounted";

    private static final String CONTAINER = "--device /dev/fuse --cap-add SYS_ADMIN";

    /** Whether this user may mount, and also for other users if the settings say so. */
    void device(Machine.Facts machine, Findings findings) {
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

    /** Features that the kernel's version lacks. */
    void kernel(Machine.Facts machine, Findings findings) {
        Binding binding = configuration.get(Settings.BINDING, Binding.class);
        boolean isOld = machine.kernel().isBefore(5, 4);
        if (isOld && binding == Binding.KERNEL) {
            findings.error(
                    machine.kernel() + " is older than 5.4, which fuse.binding=kernel needs",
                    "The mount is refused",
                    "Set fuse.binding to auto, or install a newer kernel");
        } else if (isOld) {
            findings.warning(
                    machine.kernel() + " is older than 5.4: mounts use libfuse 2",
                    "Each read and write takes more CPU time",
                    "Install a newer kernel");
        }
        if (!configuration.get(Settings.PASSTHROUGH).equals("off")) {
            passthrough(machine, findings);
        }
        if (configuration.get(Settings.READ_ONLY) && machine.kernel().isBefore(6, 9)) {
            findings.note(
                    machine.kernel() + " cannot keep a mount whose process dies; 6.9 and newer can",
                    "Programs then get \"Transport endpoint is not connected\", until it is mounted again",
                    "Install a newer kernel");
        }
        if (findings.isEmpty()) {
            findings.ok(machine.kernel().toString());
        }
    }

    private static void passthrough(Machine.Facts machine, Findings findings) {
        String why = "Cached files are read through Penstock, which takes more CPU time than reading the disk directly";
        if (machine.kernel().isBefore(6, 9)) {
            findings.note(
                    machine.kernel() + " does not support FUSE passthrough; 6.9 and newer do",
                    why,
                    "Install a newer kernel for reads at the disk's full speed");
        } else if (!machine.root()) {
            findings.note("passthrough needs root", why, "Mount as root for reads at the disk's full speed");
        }
    }
}

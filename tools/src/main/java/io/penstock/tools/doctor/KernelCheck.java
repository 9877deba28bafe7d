package io.penstock.tools.doctor;

import io.penstock.fuse.Binding;
import io.penstock.settings.Configuration;
import io.penstock.settings.Settings;

/** Features that the kernel's version lacks. */
record KernelCheck(Configuration configuration) implements Check<Machine.Facts> {
    @Override
    public void examine(Machine.Facts machine, Findings findings) {
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

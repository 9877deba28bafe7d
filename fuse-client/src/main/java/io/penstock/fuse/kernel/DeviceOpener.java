package io.penstock.fuse.kernel;

import io.penstock.fuse.MountException;
import io.penstock.fuse.MountOptions;
import io.penstock.fuse.Native;
import java.nio.file.Path;

/** Opens a device and mounts it. */
final class DeviceOpener {
    private static final String DEVICE = "/dev/fuse";

    /** Shown as {@code fuse.penstock}. */
    static final String SUBTYPE = "penstock";

    /** st_mode of the mount's root in octal, as the kernel expects it. */
    private static final String DIRECTORY_MODE = "40000";

    private DeviceOpener() {}

    /** Mounts: with mount(2) as root, else through fusermount3. */
    static Device mount(MountOptions options, Path mountPoint) throws MountException {
        return Native.C.geteuid() == 0 ? asRoot(options, mountPoint) : Fusermount.mount(options, mountPoint);
    }

    private static Device asRoot(MountOptions options, Path mountPoint) throws MountException {
        int fd = Native.C.open(DEVICE, Native.O_RDWR | Native.O_CLOEXEC);
        if (fd < 0) {
            throw new MountException(DEVICE + " cannot be opened: error number " + Native.error());
        }
        Device device = new Device(fd);
        long flags = Native.MS_NOSUID
                | Native.MS_NODEV
                | (options.readOnly() ? Native.MS_RDONLY : 0)
                | (options.noExec() ? Native.MS_NOEXEC : 0);
        // default_permissions: the kernel checks modes, and allow_other opens nothing by accident.
        String data = "fd=" + fd + ",rootmode=" + DIRECTORY_MODE + ",user_id=" + Native.C.geteuid() + ",group_id="
                + Native.C.getegid() + ",default_permissions" + (options.allowOther() ? ",allow_other" : "");
        if (Native.C.mount(options.source(), mountPoint.toString(), "fuse." + SUBTYPE, flags, data) != 0) {
            int error = Native.error();
            device.close();
            throw new MountException("The kernel refused to mount at " + mountPoint + ": error number " + error
                    + " of mount(2). The kernel's log may say more: dmesg | tail");
        }
        return device;
    }
}

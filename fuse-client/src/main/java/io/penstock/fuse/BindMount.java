package io.penstock.fuse;

import java.nio.file.Path;

/** Another place where a mount is seen. No call waits for the mount's server. */
public final class BindMount {
    private BindMount() {}

    /**
     * Makes a mount's root visible at another folder too.
     *
     * @param readOnly whether nobody may write there
     * @param noExec whether programs cannot be run, as on the mount itself
     * @throws MountException if that failed; nothing is mounted there then
     */
    public static void bind(KernelMount mount, Path folder, boolean readOnly, boolean noExec) throws MountException {
        mount(mount.mountPoint().toString(), folder, Native.MS_BIND);
        if (readOnly) {
            try {
                // All flags of the place are replaced.
                mount(
                        "none",
                        folder,
                        Native.MS_BIND
                                | Native.MS_REMOUNT
                                | Native.MS_RDONLY
                                | Native.MS_NOSUID
                                | Native.MS_NODEV
                                | (noExec ? Native.MS_NOEXEC : 0));
            } catch (MountException e) {
                new KernelMount(folder, mount.device()).detach();
                throw e;
            }
        }
    }

    private static void mount(String source, Path folder, long flags) throws MountException {
        if (Native.C.mount(source, folder.toString(), "none", flags, "") != 0) {
            throw new MountException("The kernel refused to show the mount at " + folder + ": error number "
                    + Native.error() + " of mount(2).");
        }
    }
}

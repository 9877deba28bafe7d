package io.penstock.fuse;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Which way of speaking to the kernel a mount takes. */
public enum Binding {
    /** The kernel's own protocol where it can be spoken, else libfuse 2. */
    AUTO,
    /** The kernel's own protocol over /dev/fuse: Linux 5.4 and newer. */
    KERNEL,
    /** libfuse 2 through jnr-fuse: slower, works wherever libfuse 2 does. */
    JNR;

    private static final Logger log = LoggerFactory.getLogger(Binding.class);

    /** Mounts in one of the ways. */
    @FunctionalInterface
    public interface Mounter {
        Mount mount() throws MountException, InterruptedException;
    }

    /**
     * Mounts in this way, and logs what it is and why.
     *
     * @throws MountException of the way that was taken
     */
    public Mount mount(Mounter kernel, Mounter jnr) throws MountException, InterruptedException {
        return switch (this) {
            case KERNEL -> logged(kernel.mount(), "as configured");
            case JNR -> logged(jnr.mount(), "as configured");
            case AUTO -> fastest(kernel, jnr);
        };
    }

    private static Mount fastest(Mounter kernel, Mounter jnr) throws MountException, InterruptedException {
        try {
            return logged(kernel.mount(), "the fastest that works here");
        } catch (UnsupportedKernelException e) {
            return logged(jnr.mount(), "the kernel binding does not work here: " + e.getMessage());
        }
    }

    private static Mount logged(Mount mount, String reason) {
        log.info("{} is served by {} ({})", mount.mountPoint(), mount.description(), reason);
        return mount;
    }
}

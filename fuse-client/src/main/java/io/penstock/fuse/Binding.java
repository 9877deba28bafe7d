package io.penstock.fuse;

import java.util.Locale;
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
     * What was taken.
     *
     * @param binding KERNEL or JNR
     * @param reason why that one, in words for the user
     */
    public record Taken(Binding binding, String reason, Mount mount) {
        /** {@code kernel (the fastest that works here)}. */
        public String choice() {
            return binding.name().toLowerCase(Locale.ROOT) + " (" + reason + ")";
        }
    }

    /**
     * Mounts in this way, and logs what it is and why.
     *
     * @throws MountException of the way that was taken
     */
    public Taken mount(Mounter kernel, Mounter jnr) throws MountException, InterruptedException {
        Taken taken = switch (this) {
            case KERNEL -> new Taken(KERNEL, "as configured", kernel.mount());
            case JNR -> new Taken(JNR, "as configured", jnr.mount());
            case AUTO -> fastest(kernel, jnr);
        };
        log.info(
                "{} is served by the binding {}: {}",
                taken.mount().mountPoint(),
                taken.choice(),
                taken.mount().description());
        return taken;
    }

    private static Taken fastest(Mounter kernel, Mounter jnr) throws MountException, InterruptedException {
        try {
            return new Taken(KERNEL, "the fastest that works here", kernel.mount());
        } catch (UnsupportedKernelException e) {
            return new Taken(JNR, "the kernel binding does not work here: " + e.getMessage(), jnr.mount());
        }
    }
}

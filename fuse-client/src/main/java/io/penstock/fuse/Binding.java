package io.penstock.fuse;

import java.util.Locale;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The protocol by which a mount speaks to the kernel. */
public enum Binding {
    /** The kernel's own protocol if this kernel speaks it, else libfuse 2. */
    AUTO,
    /** The kernel's own protocol over /dev/fuse: Linux 5.4 and newer. */
    KERNEL,
    /** libfuse 2 through jnr-fuse: slower, works wherever libfuse 2 does. */
    JNR;

    private static final Logger log = LoggerFactory.getLogger(Binding.class);

    /** Mounts with one of the bindings. */
    @FunctionalInterface
    public interface Mounter {
        Mount mount() throws MountException, InterruptedException;
    }

    /**
     * The binding in use.
     *
     * @param binding KERNEL or JNR
     * @param reason why this one was chosen, in words for the user
     */
    public record Taken(Binding binding, String reason, Mount mount) {
        /** {@code kernel (the fastest that works here)}. */
        public String choice() {
            return binding.name().toLowerCase(Locale.ROOT) + " (" + reason + ")";
        }
    }

    /**
     * Mounts with this binding, and logs which one it is and why.
     *
     * @throws MountException from the binding that was used
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

package io.penstock.fuse.jnr;

import io.penstock.filesystem.FileSystem;
import io.penstock.fuse.InheritedDevice;
import io.penstock.fuse.KernelMount;
import io.penstock.fuse.Mount;
import io.penstock.fuse.MountException;
import io.penstock.fuse.MountOptions;
import io.penstock.fuse.OptionalBinding;
import io.penstock.fuse.Preflight;
import io.penstock.fuse.calls.CallObserver;
import java.nio.file.Path;
import java.util.List;

/** Mounts through libfuse 2: on any Linux that has it, with or without root. */
public final class JnrBinding implements OptionalBinding {
    private static final int BYTES_PER_KIB = 1024;

    @Override
    public Mount mount(FileSystem fileSystem, MountOptions options, CallObserver observer)
            throws MountException, InterruptedException {
        if (InheritedDevice.descriptor(options.mountPoint()) != null) {
            throw new MountException(options.mountPoint() + ": only the kernel binding can serve a device that is"
                    + " open already. Mount with: --binding kernel");
        }
        if (options.writebackCache()) {
            throw new MountException("libfuse 2 cannot switch the kernel's writeback cache on. Mount with: --binding"
                    + " kernel, or without fuse.writeback-cache");
        }
        Path mountPoint = Preflight.check(options);
        LibFuse2 libfuse = LibFuse2.load(); // first: jnr-fuse loads it too, with a poorer message if it is missing
        Upcalls upcalls = new Upcalls(fileSystem, observer);
        List<String> arguments = Arguments.of(options, mountPoint);
        LibFuseSession session = LibFuseSession.start(libfuse, upcalls, mountPoint, arguments, options.threads());
        KernelMount kernel = session.kernel();
        boolean answers = false;
        try {
            session.awaitServing();
            answers = true;
        } finally {
            if (!answers) {
                kernel.detach(session.ended());
            }
        }
        long readahead = kernel.readahead(options.readaheadBytes());
        return new JnrMount(session, describe(upcalls, readahead, options.threads()));
    }

    private static String describe(Upcalls upcalls, long readahead, int threads) {
        return "libfuse 2 through jnr-fuse, kernel protocol 7." + upcalls.protocolMinor()
                + ", requests up to 128 KiB, kernel readahead " + readahead / BYTES_PER_KIB + " KiB, " + threads
                + " threads, no passthrough (libfuse 2 has none)";
    }
}

package io.penstock.fuse.kernel;

import io.penstock.filesystem.FileSystem;
import io.penstock.fuse.InheritedDevice;
import io.penstock.fuse.KernelMount;
import io.penstock.fuse.Mount;
import io.penstock.fuse.MountException;
import io.penstock.fuse.MountOptions;
import io.penstock.fuse.Native;
import io.penstock.fuse.Preflight;
import io.penstock.fuse.calls.CallObserver;
import java.nio.file.Path;
import java.util.function.Function;

/** Mounts with the kernel's own protocol: on Linux 5.4 and newer, with or without root. */
public final class KernelBinding {
    /** Maximum bytes of one request, if the kernel allows it: its default, 256 pages of 4 KiB. */
    private static final int MAX_REQUEST = 1 << 20;

    /** Threads that read the device: docs/adr/0006-kernel-binding.md has measurements of other numbers. */
    private static final int READERS = 4;

    private static final int BYTES_PER_KIB = 1024;

    private KernelBinding() {}

    /**
     * Mounts. The mount serves requests when this returns.
     *
     * @param fileSystem not closed with the mount
     * @param options the mount point may be {@code /dev/fd/N}: a device that a privileged parent has opened and mounted
     * @param observer notified of each call
     * @throws MountException if mounting failed; nothing is mounted then
     */
    public static Mount mount(FileSystem fileSystem, MountOptions options, CallObserver observer)
            throws MountException {
        return mount(connection -> new FileSystemOperations(fileSystem, connection), options, observer);
    }

    /**
     * Mounts a file system that the operations serve.
     *
     * @throws MountException if mounting failed; nothing is mounted then
     */
    static DeviceMount mount(
            Function<KernelConnection, Operations> operations, MountOptions options, CallObserver observer)
            throws MountException {
        Integer handedOver = InheritedDevice.descriptor(options.mountPoint());
        if (handedOver != null) {
            return serve(new Device(handedOver), operations, options, observer, InheritedDevice.mountPoint(handedOver));
        }
        Path mountPoint = Preflight.check(options);
        return serve(DeviceOpener.mount(options, mountPoint), operations, options, observer, mountPoint);
    }

    /** @param device mounted at this point, before its handshake; closed with the mount, or if this fails */
    static DeviceMount serve(
            Device device,
            Function<KernelConnection, Operations> operations,
            MountOptions options,
            CallObserver observer,
            Path mountPoint)
            throws MountException {
        KernelMount kernel = KernelMount.at(mountPoint);
        boolean answers = false;
        try {
            Path backingFolder = options.backingFolder();
            int stackDepth = PassthroughProbe.stackDepth(backingFolder);
            int pageSize = Native.C.getpagesize();
            NegotiatedInit negotiated =
                    new Handshake(device, MAX_REQUEST, pageSize, stackDepth, options.writebackCache()).agree();
            PassthroughProbe passthrough = PassthroughProbe.of(device, negotiated, backingFolder);
            Readahead readahead = new Readahead(kernel::readahead, options.readaheadBytes());
            String description = "the kernel's protocol " + Handshake.MAJOR + "." + negotiated.minor()
                    + " over /dev/fuse, requests up to " + negotiated.maxRequest() / BYTES_PER_KIB
                    + " KiB, kernel readahead " + readahead + ", " + READERS + " readers, "
                    + (negotiated.writesBack() ? "writeback cache, " : "")
                    + passthrough.description();
            CachingLimit longestValid = new CachingLimit(options.attributeTimeout());
            Operations answering = operations.apply(new KernelConnection(
                    negotiated, passthrough.backingFiles(), readahead, new Descriptors(kernel.device()), longestValid));
            Session session = Session.start(device, answering, observer, negotiated, READERS, kernel::detach);
            answers = true;
            return new DeviceMount(kernel, session, description, longestValid);
        } finally {
            if (!answers) {
                kernel.detach();
                device.close();
            }
        }
    }
}

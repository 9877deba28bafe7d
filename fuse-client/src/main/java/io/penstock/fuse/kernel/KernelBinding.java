package io.penstock.fuse.kernel;

import io.penstock.filesystem.FileSystem;
import io.penstock.fuse.InheritedDevice;
import io.penstock.fuse.KernelMount;
import io.penstock.fuse.Mount;
import io.penstock.fuse.MountException;
import io.penstock.fuse.MountOptions;
import io.penstock.fuse.Native;
import io.penstock.fuse.Preflight;
import io.penstock.fuse.Supervisor;
import io.penstock.fuse.calls.CallObserver;
import io.penstock.fuse.table.KernelTable;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** Mounts with the kernel's own protocol: on Linux 5.4 and newer, with or without root. */
public final class KernelBinding {
    /** Maximum bytes of one request, if the kernel allows it: its default, 256 pages of 4 KiB. */
    private static final int MAX_REQUEST = 1 << 20;

    /** Threads that read the device: docs/adr/0006-kernel-binding.md has measurements of other numbers. */
    private static final int READERS = 4;

    private static final int BYTES_PER_KIB = 1024;

    private KernelBinding() {}

    /** Makes the operations of a mount after its handshake. */
    @FunctionalInterface
    interface OperationsFactory {
        Operations of(KernelConnection connection) throws MountException;
    }

    /** The same for a mount that ends with this process. */
    public static Mount mount(FileSystem fileSystem, MountOptions options, CallObserver observer)
            throws MountException {
        return mount(fileSystem, options, observer, null, null);
    }

    /**
     * Mounts. The mount serves requests when this returns.
     *
     * @param fileSystem not closed with the mount
     * @param options the mount point may be {@code /dev/fd/N}: a device that a privileged parent has opened and
     *     mounted, or that a former process of this mount has left to its supervisor
     * @param observer notified of each call
     * @param tables the folder in which a successor finds what it must know, if this process has a supervisor; null if
     *     the mount is not to survive it
     * @param memory the descriptor of memory that the successor needs, too; null if there is none, or if it has it
     * @throws MountException if mounting failed; nothing is mounted then
     */
    public static Mount mount(
            FileSystem fileSystem,
            MountOptions options,
            CallObserver observer,
            @Nullable Path tables,
            @Nullable Integer memory)
            throws MountException {
        return mount(
                connection -> connection
                        .survival()
                        .of(new FileSystemOperations(fileSystem, connection), fileSystem, connection.inheritedFiles()),
                options,
                observer,
                Survival.start(Supervisor.current(), tables, memory));
    }

    /**
     * Checks that this process, a standby, could continue the mount now, although another process serves it.
     *
     * @param tables as for {@link #mount}
     * @throws MountException if it could not, as when that process is of another version
     */
    public static void checkTable(MountOptions options, Path tables) throws MountException {
        Integer device = InheritedDevice.descriptor(options.mountPoint());
        if (device == null) {
            throw new MountException("The former process has left no device.");
        }
        Survival.check(KernelTable.file(tables, InheritedDevice.mount(device).device()));
    }

    /**
     * Mounts a file system that the operations serve.
     *
     * @throws MountException if mounting failed; nothing is mounted then
     */
    static DeviceMount mount(
            OperationsFactory operations, MountOptions options, CallObserver observer, Survival.Start start)
            throws MountException {
        Integer handedOver = InheritedDevice.descriptor(options.mountPoint());
        if (handedOver != null) {
            KernelMount kernel = InheritedDevice.mount(handedOver);
            Native.C.fcntl(handedOver, Native.F_SETFD, Native.FD_CLOEXEC);
            return serve(new Device(handedOver), operations, options, observer, kernel, start);
        }
        Path mountPoint = Preflight.check(options);
        Device device = DeviceOpener.mount(options, mountPoint);
        return serve(device, operations, options, observer, KernelMount.at(mountPoint), start);
    }

    /**
     * @param device before its start; closed with the mount, or if this fails
     * @param kernel the device's mount, which ends if this fails: but not after an exception that the next process of
     *     the same mount may not meet
     */
    static DeviceMount serve(
            Device device,
            OperationsFactory operations,
            MountOptions options,
            CallObserver observer,
            KernelMount kernel,
            Survival.Start start)
            throws MountException {
        boolean answers = false;
        boolean mayContinue = false;
        try {
            Path backingFolder = options.backingFolder();
            int stackDepth = PassthroughProbe.stackDepth(backingFolder);
            int pageSize = Native.C.getpagesize();
            Handshake handshake = new Handshake(device, MAX_REQUEST, pageSize, stackDepth, options.writebackCache());
            Survival.Begun begun = start.begin(device, kernel, handshake);
            NegotiatedInit negotiated = begun.negotiated();
            Survival survival = begun.survival();
            PassthroughProbe passthrough = PassthroughProbe.of(device, negotiated, backingFolder);
            Readahead readahead = new Readahead(kernel::readahead, options.readaheadBytes());
            String description = "the kernel's protocol " + Handshake.MAJOR + "." + negotiated.minor()
                    + " over /dev/fuse, requests up to " + negotiated.maxRequest() / BYTES_PER_KIB
                    + " KiB, kernel readahead " + readahead + ", " + READERS + " readers, "
                    + (negotiated.writesBack() ? "writeback cache, " : "")
                    + passthrough.description() + survival.description();
            CachingLimit longestValid = new CachingLimit(options.attributeTimeout());
            Operations answering = operations.of(new KernelConnection(
                    negotiated,
                    passthrough.backingFiles(),
                    new DeviceBackingFiles(device),
                    readahead,
                    new Descriptors(kernel.device()),
                    longestValid,
                    survival));
            survival.begins(device);
            Runnable atEnd = () -> {
                kernel.detach();
                survival.ends();
            };
            Session session =
                    Session.start(device, answering, observer, negotiated, survival.notices(device), READERS, atEnd);
            answers = true;
            return new DeviceMount(kernel, session, description, longestValid, survival);
        } catch (RuntimeException | Error e) {
            mayContinue = Supervisor.current().inheritedDevice().isPresent();
            throw e;
        } finally {
            if (!answers) {
                if (!mayContinue) {
                    kernel.detach();
                }
                device.close();
            }
        }
    }
}

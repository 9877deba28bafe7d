package io.penstock.fuse;

import java.io.File;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;

/** Checks before mounting everything that can be refused, and says what to do. Both bindings use it. */
public final class Preflight {
    private static final Path DEVICE = Path.of("/dev/fuse");

    /** The bit of CAP_SYS_ADMIN: include/uapi/linux/capability.h. */
    private static final int CAP_SYS_ADMIN = 21;

    /** More than the kernel needs to refuse a call to a dead mount. */
    private static final Duration PATIENCE = Duration.ofSeconds(1);

    private Preflight() {}

    /** @return the mount point without symbolic links, as in mount tables */
    public static Path check(MountOptions options) throws MountException {
        if (InheritedDevice.descriptor(options.mountPoint()) != null) {
            return InheritedDevice.resolve(options.mountPoint()); // The parent that opened it has checked the rest.
        }
        Path mountPoint = mountPoint(options.mountPoint());
        device();
        if (Native.C.geteuid() == 0) {
            capability();
        } else {
            withoutRoot(options);
        }
        return mountPoint;
    }

    private static Path mountPoint(Path given) throws MountException {
        Path absolute = given.toAbsolutePath().normalize();
        notMounted(absolute); // before anything touches it: a dead mount fails every call
        try {
            Path real = absolute.toRealPath();
            notMounted(real);
            try (DirectoryStream<Path> entries = Files.newDirectoryStream(real)) {
                if (entries.iterator().hasNext()) {
                    throw new MountException("The mount point " + given
                            + " is not empty, and mounting would hide its content. Choose an empty directory.");
                }
            }
            return real;
        } catch (NoSuchFileException e) {
            throw new MountException("The mount point " + given + " does not exist. Create it: mkdir -p " + given);
        } catch (NotDirectoryException e) {
            throw new MountException("The mount point " + given + " is not a directory.");
        } catch (IOException e) {
            throw new MountException("The mount point " + given + " cannot be used: " + e.getMessage(), e);
        }
    }

    private static void notMounted(Path mountPoint) throws MountException {
        Optional<MountTable.Entry> mounted = KernelMount.read().at(mountPoint);
        if (mounted.isPresent()) {
            throw new MountException(
                    isDead(mountPoint)
                            ? mountPoint + " has the dead mount of a process that has ended"
                                    + " (\"Transport endpoint is not connected\"), with "
                                    + mounted.get().source() + " (type "
                                    + mounted.get().type() + "). Remove it: "
                                    + (mounted.get().isPenstock() ? "penstock umount " + mountPoint + ", or " : "")
                                    + "umount -l " + mountPoint
                            : mountPoint + " is already mounted, with "
                                    + mounted.get().source() + " (type "
                                    + mounted.get().type() + "). Unmount it first, or choose another directory.");
        }
    }

    /**
     * Whether this mount's server has ended. False if the kernel does not say so at once: a mount that survives its
     * server answers no call during a restart.
     */
    public static boolean isDead(Path mountPoint) {
        FutureTask<Boolean> asked = new FutureTask<>(() -> isRefused(mountPoint));
        Thread.ofPlatform().daemon().name("statfs").start(asked);
        try {
            return asked.get(PATIENCE.toNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException _) {
            return false;
        } catch (ExecutionException e) {
            throw new IllegalStateException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /** Makes a call that no kernel caches: attributes may outlive the server. */
    private static boolean isRefused(Path mountPoint) {
        try {
            Files.getFileStore(mountPoint).getTotalSpace();
            return false;
        } catch (IOException e) {
            return String.valueOf(e.getMessage()).contains("Transport endpoint is not connected"); // ENOTCONN
        }
    }

    /**
     * Needed even without root: libfuse 2 opens it before it runs fusermount, and fusermount3 opens it with its
     * caller's rights.
     */
    private static void device() throws MountException {
        try (FileChannel opened = FileChannel.open(DEVICE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            opened.isOpen();
        } catch (AccessDeniedException e) {
            throw new MountException(DEVICE + " may not be opened by this user. Let root open it to all users"
                    + " (chmod 666 " + DEVICE + ", as udev does), or mount as root.");
        } catch (IOException e) {
            String finding =
                    e instanceof NoSuchFileException ? "does not exist" : "cannot be opened: " + e.getMessage();
            throw new MountException(DEVICE + " " + finding + ". Load the kernel's module as root: modprobe fuse."
                    + " In a container, start it with --device /dev/fuse --cap-add SYS_ADMIN.");
        }
    }

    private static void capability() throws MountException {
        try {
            if (!mayMount()) {
                throw new MountException("This process is root but may not mount: it lacks CAP_SYS_ADMIN."
                        + " Start the container with --device /dev/fuse --cap-add SYS_ADMIN"
                        + " (and --security-opt apparmor:unconfined where AppArmor forbids mounts).");
            }
        } catch (IOException e) {
            throw new MountException("/proc/self/status cannot be read: " + e.getMessage(), e);
        }
    }

    /** Whether this process has CAP_SYS_ADMIN. */
    public static boolean mayMount() throws IOException {
        try (Stream<String> status = Files.lines(Path.of("/proc/self/status"))) {
            long effective = status.filter(line -> line.startsWith("CapEff:"))
                    .map(line -> Long.parseUnsignedLong(
                            line.substring("CapEff:".length()).strip(), 16))
                    .findFirst()
                    .orElse(-1L);
            return (effective >>> CAP_SYS_ADMIN & 1) != 0;
        }
    }

    private static void withoutRoot(MountOptions options) throws MountException {
        if (fusermount().isEmpty()) {
            throw new MountException("Mounting without root needs fusermount3, and it is not installed."
                    + " Debian and Ubuntu: apt-get install fuse3. RHEL and Fedora: dnf install fuse3.");
        }
        if (options.allowOther() && !userAllowOther()) {
            throw new MountException("allow_other without root must be permitted in /etc/fuse.conf:"
                    + " add the line user_allow_other to it, or mount without allow_other.");
        }
    }

    /** The installed program, of libfuse 3 or 2, that mounts and unmounts for users other than root. */
    public static Optional<Path> fusermount() {
        // libfuse 2 first tries its own folder, /bin, and then PATH.
        String path = System.getenv().getOrDefault("PATH", "") + File.pathSeparator + "/bin" + File.pathSeparator
                + "/usr/bin";
        return Stream.of("fusermount3", "fusermount")
                .flatMap(name -> Stream.of(path.split(File.pathSeparator, -1)).map(folder -> Path.of(folder, name)))
                .filter(Files::isExecutable)
                .findFirst();
    }

    /** Whether users other than root may let others use their mounts. */
    public static boolean userAllowOther() {
        try (Stream<String> lines = Files.lines(Path.of("/etc/fuse.conf"))) {
            return lines.anyMatch(line -> line.strip().equals("user_allow_other"));
        } catch (IOException e) {
            return false; // a missing file permits nothing
        }
    }
}

package io.penstock.fuse;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A device that a privileged parent has opened and mounted. Its name {@code /dev/fd/N} takes the place of a mount
 * point, as in mount.fuse3(8) for a server that runs without privileges.
 */
public final class InheritedDevice {
    private static final Pattern NAME = Pattern.compile("/dev/fd/(\\d{1,9})");

    /** The minor number of the mount's device, whose major number is 0: fuse_dev_show_fdinfo in fs/fuse/dev.c. */
    private static final String CONNECTION = "fuse_connection:";

    // struct pollfd: byte offsets; poll(2).
    private static final int POLLFD_REVENTS = 6;
    private static final int POLLFD_SIZE = 8;
    private static final int POLLERR = 8;

    private InheritedDevice() {}

    /** @return null if it is an ordinary mount point */
    public static @Nullable Integer descriptor(Path mountPoint) {
        Matcher name = NAME.matcher(mountPoint.toString());
        return name.matches() ? Integer.valueOf(name.group(1)) : null;
    }

    /** The mount point of the device; an ordinary mount point is returned unchanged. */
    public static Path resolve(Path mountPoint) throws MountException {
        Integer descriptor = descriptor(mountPoint);
        return descriptor == null ? mountPoint : mount(descriptor).mountPoint();
    }

    /** The mount of the device. Another one may hide it. */
    public static KernelMount mount(int fd) throws MountException {
        Path info = Path.of("/proc/self/fdinfo", Integer.toString(fd));
        try (Stream<String> lines = Files.lines(info)) {
            String device = lines.filter(line -> line.startsWith(CONNECTION))
                    .map(line -> "0:" + line.substring(CONNECTION.length()).strip())
                    .findFirst()
                    .orElseThrow(() -> new MountException("/dev/fd/" + fd + " is not a /dev/fuse that serves a mount."
                            + " The program that starts this one must open and mount it first."));
            if (isEnded(fd)) { // another mount may have its number
                throw new MountException("The mount of /dev/fd/" + fd + " has ended.");
            }
            return MountTable.read().entries().stream()
                    .filter(entry -> entry.device().equals(device))
                    .map(entry -> new KernelMount(entry.mountPoint(), device))
                    .findFirst()
                    .orElseThrow(() -> new MountException("The mount of /dev/fd/" + fd + " (device " + device
                            + ") is not in this process's mount namespace, or is unmounted already."));
        } catch (IOException e) {
            throw new MountException(
                    "/dev/fd/" + fd + " is not open: the program that starts this one must pass it on.", e);
        }
    }

    /** Whether the kernel has ended the mount: fuse_dev_poll in fs/fuse/dev.c. */
    private static boolean isEnded(int fd) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment polled = arena.allocate(POLLFD_SIZE, Integer.BYTES);
            polled.set(JAVA_INT, 0, fd);
            return Native.C.poll(polled.address(), 1, 0) > 0 && (polled.get(JAVA_SHORT, POLLFD_REVENTS) & POLLERR) != 0;
        }
    }
}

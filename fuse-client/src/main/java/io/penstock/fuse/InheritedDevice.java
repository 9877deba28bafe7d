package io.penstock.fuse;

import java.io.IOException;
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

    private InheritedDevice() {}

    /** @return null if it is an ordinary mount point */
    public static @Nullable Integer descriptor(Path mountPoint) {
        Matcher name = NAME.matcher(mountPoint.toString());
        return name.matches() ? Integer.valueOf(name.group(1)) : null;
    }

    /** The mount point of the device; an ordinary mount point is returned unchanged. */
    public static Path resolve(Path mountPoint) throws MountException {
        Integer descriptor = descriptor(mountPoint);
        return descriptor == null ? mountPoint : mountPoint(descriptor);
    }

    /** Where the device is mounted. */
    public static Path mountPoint(int fd) throws MountException {
        Path info = Path.of("/proc/self/fdinfo", Integer.toString(fd));
        try (Stream<String> lines = Files.lines(info)) {
            String device = lines.filter(line -> line.startsWith(CONNECTION))
                    .map(line -> "0:" + line.substring(CONNECTION.length()).strip())
                    .findFirst()
                    .orElseThrow(() -> new MountException("/dev/fd/" + fd + " is not a /dev/fuse that serves a mount."
                            + " The program that starts this one must open and mount it first."));
            return MountTable.read().entries().stream()
                    .filter(entry -> entry.device().equals(device))
                    .map(MountTable.Entry::mountPoint)
                    .findFirst()
                    .orElseThrow(() -> new MountException("The mount of /dev/fd/" + fd + " (device " + device
                            + ") is not in this process's mount namespace, or is unmounted already."));
        } catch (IOException e) {
            throw new MountException(
                    "/dev/fd/" + fd + " is not open: the program that starts this one must pass it on.", e);
        }
    }
}

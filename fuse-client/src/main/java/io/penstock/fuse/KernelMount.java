package io.penstock.fuse;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A mount as the kernel sees it, for both bindings. The device number distinguishes it from other mounts that exist at
 * the same time. Once the mount has ended, the kernel may give the number to a later one.
 *
 * @param mountPoint where it is mounted, without symbolic links
 * @param device its number, {@code major:minor}
 */
public record KernelMount(Path mountPoint, String device) {
    private static final Logger log = LoggerFactory.getLogger(KernelMount.class);

    private static final int BYTES_PER_KIB = 1024;

    /** The time between two attempts to unmount a busy mount. */
    private static final Duration RETRY = Duration.ofMillis(50);

    /** The loop of a detached mount ends automatically; if that takes longer, a process still uses the mount. */
    private static final Duration LAST_REQUESTS = Duration.ofSeconds(10);

    /** The mount that is at this point now. */
    public static KernelMount at(Path mountPoint) throws MountException {
        return read().at(mountPoint)
                .map(entry -> new KernelMount(mountPoint, entry.device()))
                .orElseThrow(() -> new MountException("Nothing is mounted at " + mountPoint + "."));
    }

    /**
     * Sets how far the kernel reads ahead of a sequential reader; files already open keep their value.
     *
     * @param bytes 0 leaves the kernel's default
     * @return the current value in bytes; 0 if unknown
     */
    public long readahead(long bytes) {
        // INIT can only lower it (fs/fuse/inode.c, process_init_reply); sysfs can raise it.
        Path setting = Path.of("/sys/class/bdi", device, "read_ahead_kb");
        try {
            if (bytes > 0) {
                Files.writeString(setting, Long.toString(bytes / BYTES_PER_KIB));
            }
        } catch (IOException e) {
            log.info(
                    "The kernel's readahead for {} stays as it is: {} cannot be written ({})."
                            + " A single sequential reader is slower for it; root can set it.",
                    mountPoint,
                    setting,
                    e.getClass().getSimpleName());
        }
        try {
            return Long.parseLong(Files.readString(setting).strip()) * BYTES_PER_KIB;
        } catch (IOException e) {
            return 0; // only for display
        }
    }

    /** Whether it is still mounted. */
    public boolean isAttached() throws MountException {
        return read().at(mountPoint).filter(top -> top.device().equals(device)).isPresent();
    }

    /**
     * Unmounts and waits for the end.
     *
     * @param patience how long to try while it is busy
     * @param ended counted down when the last request has its reply and the binding is closed
     * @throws MountException if it is busy; the message names the processes that hold it
     */
    public void unmount(Duration patience, CountDownLatch ended) throws MountException, InterruptedException {
        takeOut(patience, ended);
        if (!ended.await(Math.max(patience.toMillis(), LAST_REQUESTS.toMillis()), TimeUnit.MILLISECONDS)) {
            throw new MountException(mountPoint + " is unmounted, but still in use: " + holders()
                    + ". A container or another mount namespace may use it; it ends when its last user does.");
        }
    }

    /**
     * Unmounts another process's mount: waits until the mount has left the mount table, and no longer.
     *
     * @param patience how long to try while it is busy
     * @throws MountException if it is busy; the message names the processes that hold it
     */
    public void unmount(Duration patience) throws MountException, InterruptedException {
        takeOut(patience, new CountDownLatch(1));
        requireTakenOut();
    }

    private void takeOut(Duration patience, CountDownLatch ended) throws MountException, InterruptedException {
        long deadline = System.nanoTime() + patience.toNanos();
        while (ended.getCount() > 0 && isAttached()) {
            if (Unmount.now(mountPoint)) {
                break;
            }
            if (System.nanoTime() >= deadline) {
                throw new MountException(mountPoint + " is busy: " + holders() + ". End the programs that use it"
                        + " and try again, or detach it now with: umount -l " + mountPoint
                        + " (penstock umount -l for users other than root)");
            }
            ended.await(RETRY.toMillis(), TimeUnit.MILLISECONDS);
        }
    }

    /**
     * Detaches the mount even if busy; it ends with its last user. Does nothing if it has ended, or is not mounted.
     *
     * @param ended counted down when it has ended: from then on another mount may have its mount point and number
     */
    public void detach(CountDownLatch ended) {
        if (ended.getCount() > 0) {
            detach();
        }
    }

    /**
     * Detaches a mount that has not ended, or whose session is about to report that: later, another mount may have its
     * number. Does nothing if it is not mounted.
     */
    public void detach() {
        try {
            detachOrFail();
        } catch (MountException e) {
            log.warn("{}", e.getMessage());
        }
    }

    /** {@link #detach} at a user's request. */
    public void detachOrFail() throws MountException {
        if (isAttached()) {
            Unmount.detach(mountPoint);
            requireTakenOut();
        }
    }

    private void requireTakenOut() throws MountException {
        if (isAttached()) {
            throw new MountException(mountPoint + " is still mounted: the kernel did not remove it.");
        }
    }

    private String holders() throws MountException {
        return read().below(mountPoint).stream()
                .findFirst()
                .map(inner -> "another mount is in it, at " + inner.mountPoint())
                .orElseGet(() -> new Holders(Path.of("/proc")).describe(mountPoint));
    }

    static MountTable read() throws MountException {
        try {
            return MountTable.read();
        } catch (IOException e) {
            throw new MountException("The mount table /proc/self/mountinfo cannot be read: " + e.getMessage(), e);
        }
    }
}

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
 * A mount from the kernel's side: what both bindings do with it once it stands. The device number tells it from
 * another that somebody made at the same point later.
 *
 * @param mountPoint where it stands, without symbolic links
 * @param device its number, {@code major:minor}
 */
public record KernelMount(Path mountPoint, String device) {
    private static final Logger log = LoggerFactory.getLogger(KernelMount.class);

    private static final int BYTES_PER_KIB = 1024;

    /** How often a busy mount is tried again. */
    private static final Duration RETRY = Duration.ofMillis(50);

    /** Once detached the loop ends by itself; longer than this means that somebody still uses it. */
    private static final Duration LAST_REQUESTS = Duration.ofSeconds(10);

    /** The mount that stands there now. */
    public static KernelMount at(Path mountPoint) throws MountException {
        return read().at(mountPoint)
                .map(entry -> new KernelMount(mountPoint, entry.device()))
                .orElseThrow(() -> new MountException("Nothing is mounted at " + mountPoint + "."));
    }

    /**
     * Sets how far the kernel reads ahead of a sequential reader; files opened before keep what they had.
     *
     * @param bytes 0 leaves the kernel's default
     * @return what holds now, in bytes; 0 if it cannot be told
     */
    public long readahead(long bytes) {
        // The protocol's INIT can only lower it (fs/fuse/inode.c, process_init_reply): raising goes through sysfs.
        Path setting = Path.of("/sys/class/bdi", device, "read_ahead_kb");
        try {
            if (bytes > 0) {
                Files.writeString(setting, Long.toString(bytes / BYTES_PER_KIB));
            }
        } catch (IOException e) {
            log.info(
                    "The kernel's readahead for {} stays at its default: {} cannot be written ({})."
                            + " A single sequential reader is slower for it; root can set it.",
                    mountPoint,
                    setting,
                    e.getClass().getSimpleName());
        }
        try {
            return Long.parseLong(Files.readString(setting).strip()) * BYTES_PER_KIB;
        } catch (IOException e) {
            return 0; // only shown
        }
    }

    /** Whether it still stands where it was mounted. */
    public boolean isAttached() throws MountException {
        return read().at(mountPoint).filter(top -> top.device().equals(device)).isPresent();
    }

    /**
     * Unmounts and waits for the end.
     *
     * @param patience how long to try while it is busy
     * @param ended counted down when the last request is answered and the binding has let go
     * @throws MountException if it is busy; the message says who holds it
     */
    public void unmount(Duration patience, CountDownLatch ended) throws MountException, InterruptedException {
        takeOut(patience, ended);
        if (!ended.await(Math.max(patience.toMillis(), LAST_REQUESTS.toMillis()), TimeUnit.MILLISECONDS)) {
            throw new MountException(mountPoint + " is unmounted, but still in use: " + holders()
                    + ". Perhaps a container or another mount namespace has it; it ends when the last user does.");
        }
    }

    /**
     * Unmounts what an unknown process serves: waits until it has left the mount table, and for no more.
     *
     * @param patience how long to try while it is busy
     * @throws MountException if it is busy; the message says who holds it
     */
    public void unmount(Duration patience) throws MountException, InterruptedException {
        takeOut(patience, new CountDownLatch(1));
        requireTakenOut();
    }

    private void takeOut(Duration patience, CountDownLatch ended) throws MountException, InterruptedException {
        long deadline = System.nanoTime() + patience.toNanos();
        while (ended.getCount() > 0 && isAttached()) {
            Unmount.Outcome outcome = Unmount.now(mountPoint);
            if (outcome == Unmount.Outcome.DONE) {
                break;
            }
            if (System.nanoTime() >= deadline) {
                throw new MountException(mountPoint + " is busy: " + holders() + ". End what uses it and try again, or"
                        + " detach it at once with: umount -l " + mountPoint
                        + " (penstock umount -l for users other than root)");
            }
            ended.await(RETRY.toMillis(), TimeUnit.MILLISECONDS);
        }
    }

    /** Takes it out of the tree even if busy; it ends with its last user. Does nothing if it does not stand. */
    public void detach() {
        try {
            detachOrFail();
        } catch (MountException e) {
            log.warn("{}", e.getMessage());
        }
    }

    /** {@link #detach}, for a user who asked for it. */
    public void detachOrFail() throws MountException {
        if (isAttached()) {
            Unmount.detach(mountPoint);
            requireTakenOut();
        }
    }

    private void requireTakenOut() throws MountException {
        if (isAttached()) {
            throw new MountException(mountPoint + " is still mounted: the kernel did not let it be taken away.");
        }
    }

    private String holders() throws MountException {
        return read().below(mountPoint).stream()
                .findFirst()
                .map(inner -> "another mount stands on it, at " + inner.mountPoint())
                .orElseGet(() -> Holders.ofThisMachine().describe(mountPoint));
    }

    private static MountTable read() throws MountException {
        try {
            return MountTable.read();
        } catch (IOException e) {
            throw new MountException("The mount table /proc/self/mountinfo cannot be read: " + e.getMessage(), e);
        }
    }
}

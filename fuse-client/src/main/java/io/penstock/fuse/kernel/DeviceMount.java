package io.penstock.fuse.kernel;

import io.penstock.fuse.KernelMount;
import io.penstock.fuse.Mount;
import io.penstock.fuse.MountException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A mount served through its own device. */
record DeviceMount(
        KernelMount kernel, Session session, String description, CachingLimit longestValid, Survival survival)
        implements Mount {
    private static final Logger log = LoggerFactory.getLogger(DeviceMount.class);

    /** The time between two attempts to speed up a waiting unmount. */
    private static final Duration GIVE_UP = Duration.ofMillis(100);

    @Override
    public Path mountPoint() {
        return kernel.mountPoint();
    }

    @Override
    public long requests() {
        return session.requests();
    }

    @Override
    public long unanswered() {
        return session.unanswered();
    }

    @Override
    public void limitCaching(Duration longest) {
        longestValid.set(longest);
    }

    @Override
    public void awaitUnmounted() throws InterruptedException {
        session.ended().await();
    }

    @Override
    public void unmount(Duration patience) throws MountException, InterruptedException {
        Thread giver = Thread.startVirtualThread(this::giveUpReadahead);
        try {
            kernel.unmount(patience, session.ended());
        } finally {
            giver.interrupt();
        }
    }

    /**
     * When the last program stops using the mount, the kernel drops its pages, but waits for pages that are being read
     * ahead although no program wants them.
     */
    private void giveUpReadahead() {
        try {
            while (!session.ended().await(GIVE_UP.toMillis(), TimeUnit.MILLISECONDS)) {
                if (!kernel.isAttached()) {
                    session.interruptWaiting();
                }
            }
        } catch (MountException e) {
            log.warn("{}", e.getMessage());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // unmounting failed or is complete
        }
    }

    @Override
    public void close() {
        kernel.detach(session.ended());
        survival.ends(); // a busy mount ends with its last user, or with this process
    }
}

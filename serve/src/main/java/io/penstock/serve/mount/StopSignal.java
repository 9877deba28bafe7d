package io.penstock.serve.mount;

import io.penstock.fuse.Mount;
import io.penstock.fuse.MountException;
import io.penstock.fuse.Supervisor;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Handles SIGTERM, Ctrl-C and, in the foreground, SIGHUP: they unmount, and the process exits when this is closed. A
 * busy mount is detached: programs that have files open keep it, but get errors, because the process exits. A mount in
 * progress is abandoned, or unmounted as soon as it exists. No mount is ever left without its process.
 */
public final class StopSignal implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(StopSignal.class);

    /** How long to wait for a busy mount; service managers kill after 90 s. */
    private static final Duration UNMOUNT_PATIENCE = Duration.ofSeconds(5);

    /** How long the last requests and the cache's last writes may take. */
    private static final Duration CLOSE_PATIENCE = Duration.ofSeconds(30);

    /** The time given to programs to leave a detached mount. */
    private static final Duration DETACHED_PATIENCE = Duration.ofSeconds(2);

    /** The thread that mounts. */
    private final Thread starting = Thread.currentThread();

    private final AtomicReference<@Nullable Mount> mount = new AtomicReference<>();

    private final AtomicReference<Runnable> hurries = new AtomicReference<>(() -> {});

    private final AtomicReference<Runnable> leaves = new AtomicReference<>(() -> {});

    /** Counted down when there is something to unmount, or never will be. */
    private final CountDownLatch settled = new CountDownLatch(1);

    private final CountDownLatch closed = new CountDownLatch(1);

    private volatile boolean stopping;

    public StopSignal() {
        Runtime.getRuntime().addShutdownHook(new Thread(this::stop, "penstock-stop"));
    }

    /**
     * Sets the mount that a signal unmounts from now on.
     *
     * @param hurry runs first: after it, waits must not take long
     * @param leave runs last, if the process exits before everything is closed
     */
    public void unmounts(Mount target, Runnable hurry, Runnable leave) {
        hurries.set(hurry);
        leaves.set(leave);
        mount.set(target);
        settled.countDown();
    }

    /** Whether a signal has arrived, which explains later failures. */
    public boolean isStopping() {
        return stopping;
    }

    /** Everything is unmounted and closed: the process may end. */
    @Override
    public void close() {
        settled.countDown();
        closed.countDown();
    }

    /** The JVM's shutdown hook: runs on a signal and at an ordinary exit. The JVM exits after it. */
    private void stop() {
        stopping = true;
        if (settled.getCount() > 0) {
            starting.interrupt();
            await(settled, CLOSE_PATIENCE);
        }
        Mount target = mount.get();
        if (target == null || closed.getCount() == 0) {
            return;
        }
        Supervisor.current().stopping();
        hurries.get().run();
        Duration patience = CLOSE_PATIENCE;
        try {
            target.unmount(UNMOUNT_PATIENCE);
        } catch (MountException e) {
            log.warn("{}", e.getMessage());
            log.warn("Exiting on a signal; the busy mount is detached");
            target.close();
            patience = DETACHED_PATIENCE;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        await(closed, patience);
        if (closed.getCount() > 0) {
            leaves.get().run();
        }
    }

    private static void await(CountDownLatch latch, Duration patience) {
        try {
            if (!latch.await(patience.toMillis(), TimeUnit.MILLISECONDS)) {
                log.warn("Not everything was closed within {} s", patience.toSeconds());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}

package io.penstock.fuse;

import java.nio.file.Path;
import java.time.Duration;

/** A mounted file system that is being served. Safe for use by any number of threads. */
public interface Mount extends AutoCloseable {
    Path mountPoint();

    /**
     * The parameters negotiated with the kernel, for logs and {@code penstock mounts}: binding, protocol, request size,
     * readahead.
     */
    String description();

    /** The number of requests from the kernel since it was mounted. */
    long requests();

    /** The number of requests without a reply yet: none once it is unmounted, unless a reply was lost. */
    long unanswered();

    /**
     * Limits how long the kernel caches names and attributes that it receives from now on. A binding that sets one time
     * at the mount ignores this.
     *
     * @param longest 0 or more
     */
    void limitCaching(Duration longest);

    /** Waits until any program has unmounted it. */
    void awaitUnmounted() throws InterruptedException;

    /**
     * Unmounts and waits until the last request has its reply. Does nothing if it is already unmounted.
     *
     * @throws MountException if it is busy; the message names the processes that hold it
     */
    void unmount(Duration patience) throws MountException, InterruptedException;

    /** Unmounts even if busy: detaches immediately, and ends with the last user. */
    @Override
    void close();
}

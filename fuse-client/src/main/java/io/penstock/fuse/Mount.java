package io.penstock.fuse;

import java.nio.file.Path;
import java.time.Duration;

/** A mounted file system being served. Safe for use by any number of threads. */
public interface Mount extends AutoCloseable {
    Path mountPoint();

    /** What was agreed with the kernel, for logs and {@code penstock mounts}: binding, protocol, request size, readahead. */
    String description();

    /** How many requests came from the kernel since it was mounted. */
    long requests();

    /** How many of them are not answered yet: none once it is unmounted, unless an answer was lost. */
    long unanswered();

    /** Waits until it is unmounted, by whomever. */
    void awaitUnmounted() throws InterruptedException;

    /**
     * Unmounts and waits until the last request is answered. Does nothing if it is unmounted already.
     *
     * @throws MountException if it is busy; the message says who holds it
     */
    void unmount(Duration patience) throws MountException, InterruptedException;

    /** Unmounts even if busy: detached at once, gone when the last user is. */
    @Override
    void close();
}

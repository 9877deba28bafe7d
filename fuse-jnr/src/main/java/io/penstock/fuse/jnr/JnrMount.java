package io.penstock.fuse.jnr;

import io.penstock.fuse.Mount;
import io.penstock.fuse.MountException;
import java.nio.file.Path;
import java.time.Duration;

/** A mount served through libfuse 2. */
record JnrMount(LibFuseSession session, String description) implements Mount {
    @Override
    public Path mountPoint() {
        return session.kernel().mountPoint();
    }

    @Override
    public long requests() {
        return session.requests();
    }

    @Override
    public long unanswered() {
        return session.unanswered();
    }

    /** libfuse 2 reads its timeouts once, at the mount. */
    @Override
    public void limitCaching(Duration longest) {}

    @Override
    public void awaitUnmounted() throws InterruptedException {
        session.ended().await();
    }

    @Override
    public void unmount(Duration patience) throws MountException, InterruptedException {
        session.kernel().unmount(patience, session.ended());
    }

    @Override
    public void close() {
        session.kernel().detach(session.ended());
    }
}

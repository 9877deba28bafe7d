package io.penstock.cache.disk;

import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A lease of the file with all of an object's bytes and nothing else, for a reader outside this cache: the kernel. The
 * file is not removed until the lease is closed. It is never punched, and only its present bytes are ever written to
 * it: a process that has it open or mapped keeps the object's bytes. Safe for use by any number of threads.
 */
public final class WholeFile implements AutoCloseable {
    private final WholeFiles lender;
    private final ObjectExtents object;
    private final List<Extent> extents;
    private final Path path;
    private final AtomicBoolean closed = new AtomicBoolean();

    /** @param extents all of the object's, pinned */
    WholeFile(WholeFiles lender, ObjectExtents object, List<Extent> extents, Path path) {
        this.lender = lender;
        this.object = object;
        this.extents = extents;
        this.path = path;
    }

    /** Must be opened for reading before this is closed. */
    public Path path() {
        return path;
    }

    /** Returns the file, which may then be evicted as a whole; that removes its name. Closing again does nothing. */
    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            lender.takeBack(object, extents);
        }
    }
}

package io.penstock.cache.disk;

import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A lease of the file that holds all of an object's bytes and nothing else, for a reader without this cache: the
 * kernel. Until it is closed the file is not removed. Nothing of it is ever punched, and nothing written to it but what
 * it holds already: a process that has it open or mapped keeps the object's bytes. Safe for use by any number of
 * threads.
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

    /** To be opened for reading, before this is closed. */
    public Path path() {
        return path;
    }

    /** Gives it back: it may be evicted as a whole, which removes its name. Closing again does nothing. */
    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            lender.takeBack(object, extents);
        }
    }
}

package io.penstock.writeback;

import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.ObjectStoreException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * The current content of one file that is written: what was written over what the committed version has. Shared by all
 * handles of its inode, readers too; after a commit it goes on with the new version beneath. Positional; safe for use by
 * any number of threads.
 *
 * <p>An {@link ObjectStoreException} or {@link IOException} of an upload or of staging sticks to the file until
 * {@link #fsync}, {@link #commit} or {@link #closeStaged} has thrown it once; nothing is dropped because of it.
 */
public final class WrittenFile {
    private WrittenFile() {}

    public String key() {
        throw new UnsupportedOperationException();
    }

    /** Bytes, with what is written and not yet committed. */
    public long size() {
        throw new UnsupportedOperationException();
    }

    /** Of the last change; of the committed version if there was none since. */
    public Instant modified() {
        throw new UnsupportedOperationException();
    }

    /** What is committed of it: null if nothing is yet. */
    public @Nullable ObjectVersion committed() {
        throw new UnsupportedOperationException();
    }

    /** Whether a commit would change the object. */
    public boolean isDirty() {
        throw new UnsupportedOperationException();
    }

    /** @return bytes read until the buffer is full or the file ends */
    public int read(long position, ByteBuffer to) throws ObjectStoreException, IOException, InterruptedException {
        throw new UnsupportedOperationException();
    }

    /** Writes all that the buffer holds. Waits at the limits, in turn. */
    public void write(long position, ByteBuffer from) throws ObjectStoreException, IOException, InterruptedException {
        throw new UnsupportedOperationException();
    }

    /** Writes at the end, whoever else appends. @return where it was written */
    public long append(ByteBuffer from) throws ObjectStoreException, IOException, InterruptedException {
        throw new UnsupportedOperationException();
    }

    /** Cuts the file, or lets it grow by zeros that take no room. */
    public void truncate(long size) throws ObjectStoreException, IOException, InterruptedException {
        throw new UnsupportedOperationException();
    }

    /** Makes the range zeros, within the size: nothing behind the end is changed. */
    public void zero(long offset, long length) throws ObjectStoreException, IOException, InterruptedException {
        throw new UnsupportedOperationException();
    }

    /**
     * @return the first byte at or behind {@code offset} that is data, or, for {@code hole}, that lies in a hole (the
     *     file's end is one); -1 if there is none. What is committed counts as data
     */
    public long seek(long offset, boolean hole) {
        throw new UnsupportedOperationException();
    }

    /**
     * Takes over a range of another object's version without its bytes passing through, as far as whole parts allow;
     * the rest is read and written.
     */
    public void copyFrom(ObjectVersion source, long sourceOffset, long offset, long length)
            throws ObjectStoreException, IOException, InterruptedException {
        throw new UnsupportedOperationException();
    }

    /** Returns once the content would survive a crash of the node, or is visible, as {@link WritebackConfig#fsync} has it. */
    public void fsync() throws ObjectStoreException, IOException, InterruptedException {
        throw new UnsupportedOperationException();
    }

    /**
     * Makes the content visible, if it is not, and waits for it.
     *
     * @throws ObjectStoreException.PreconditionFailed if somebody else has changed the object since it was opened; the
     *     content is kept for recovery and named in the message
     */
    public void commit() throws ObjectStoreException, IOException, InterruptedException {
        throw new UnsupportedOperationException();
    }

    /** Returns once the content would survive a crash of the node, and commits it behind. */
    public void closeStaged() throws ObjectStoreException, IOException, InterruptedException {
        throw new UnsupportedOperationException();
    }

    /**
     * What is committed of it was copied to another key, whose version this is: it is the version beneath from now on.
     * What was written meanwhile stays above it, and is committed there.
     */
    public void moved(ObjectVersion to) {
        throw new UnsupportedOperationException();
    }

    /**
     * Its name is gone: nothing of it becomes visible any more once this has returned. It can be read and written until it
     * is released.
     */
    public void unlink() {
        throw new UnsupportedOperationException();
    }

    /** One more handle. False if it has been released for the last time: open it anew then. */
    public boolean retain() {
        throw new UnsupportedOperationException();
    }

    /** One handle less. After the last, what is uncommitted is committed behind, and the rest is freed. */
    public void release() {
        throw new UnsupportedOperationException();
    }
}

package io.penstock.filesystem;

import io.penstock.core.ErrnoException;
import java.nio.ByteBuffer;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One mounted bucket as a POSIX file system, by inode and handle. Calls may wait for the store: make them on threads
 * that may. Those whose name ends in {@code Now} never wait. Safe for use by any number of threads; all reads are
 * positional.
 *
 * <p>{@code lookup} adds one to an inode's lookup count, {@code forget} takes some off; the inode's number is good
 * while the count is above zero or something on it is open. The root is always good.
 */
public final class FileSystem implements AutoCloseable {
    /** The root directory's inode: FUSE_ROOT_ID in include/uapi/linux/fuse.h. */
    public static final long ROOT = 1;

    /** What {@link #readNow} returns instead of a byte count when it would have to wait. */
    public static final int WOULD_WAIT = -1;

    private FileSystem() {}

    /** @throws ErrnoException ENOENT, ENOTDIR, ENAMETOOLONG, EACCES, EIO */
    public Attributes lookup(long parent, String name) throws ErrnoException {
        throw new UnsupportedOperationException();
    }

    /** {@link #lookup} if the answer is known: null if it is not. */
    public @Nullable Attributes lookupNow(long parent, String name) throws ErrnoException {
        throw new UnsupportedOperationException();
    }

    public void forget(long inode, long lookups) {
        throw new UnsupportedOperationException();
    }

    public Attributes getattr(long inode) throws ErrnoException {
        throw new UnsupportedOperationException();
    }

    /** {@link #getattr} if the answer is known: null if it is not. */
    public @Nullable Attributes getattrNow(long inode) throws ErrnoException {
        throw new UnsupportedOperationException();
    }

    /** @param mask R_OK 4, W_OK 2, X_OK 1, or F_OK 0: access(2) */
    public void access(long inode, int mask, int uid, int gid) throws ErrnoException {
        throw new UnsupportedOperationException();
    }

    /** @return the directory handle for {@link #readdir} */
    public long opendir(long inode) throws ErrnoException {
        throw new UnsupportedOperationException();
    }

    /** Hands entries, {@code .} and {@code ..} first, to the sink, from the offset (0 is the start) until it is full. */
    public void readdir(long handle, long offset, DirectorySink sink) throws ErrnoException {
        throw new UnsupportedOperationException();
    }

    public void releasedir(long handle) {
        throw new UnsupportedOperationException();
    }

    /** @param flags open(2)'s flags as the kernel sends them */
    public OpenFile open(long inode, int flags) throws ErrnoException {
        throw new UnsupportedOperationException();
    }

    /**
     * Reads until the buffer is full or the file ends.
     *
     * @return bytes read, 0 at the end of the file
     * @throws ErrnoException ESTALE if the object changed since it was opened, EIO if the store failed
     */
    public int read(long handle, long position, ByteBuffer to) throws ErrnoException {
        throw new UnsupportedOperationException();
    }

    /** {@link #read} if all of it is in memory: {@link #WOULD_WAIT} if not. */
    public int readNow(long handle, long position, ByteBuffer to) throws ErrnoException {
        throw new UnsupportedOperationException();
    }

    public void release(long handle) {
        throw new UnsupportedOperationException();
    }

    public Statfs statfs() {
        throw new UnsupportedOperationException();
    }

    /** @throws ErrnoException ENODATA if the file has no such attribute */
    public byte[] getxattr(long inode, String name) throws ErrnoException {
        throw new UnsupportedOperationException();
    }

    public List<String> listxattr(long inode) throws ErrnoException {
        throw new UnsupportedOperationException();
    }

    @Override
    public void close() {}
}

package io.penstock.cache;

import io.penstock.cache.disk.ObjectExtents;
import io.penstock.cache.disk.ObjectId;
import io.penstock.cache.disk.PageStore;
import io.penstock.cache.disk.ReadShape;
import io.penstock.cache.disk.WholeFile;
import io.penstock.cache.disk.WholeFiles;
import io.penstock.core.LentBytes;
import io.penstock.core.NoWait;
import io.penstock.core.ObjectVersion;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** The pages of one object version, or its sectors. Safe for use by any number of threads; all calls are positional. */
public final class CachedObject implements AutoCloseable {
    /** Returned by {@link #read} instead of a byte count when the page is Missing. */
    public static final int MISSING = -1;

    private final ObjectPages pages;
    private final ObjectExtents extents;
    private final PageReads reads;
    private final PageStore store;
    private final WholeFiles wholeFiles;
    private final ObjectVersion version;
    private final AtomicBoolean closed = new AtomicBoolean();

    /** Which bytes to read from a page that is only on disk. */
    public enum FromDisk {
        /** None, and no wait for a page that is Inflight. */
        NEVER,
        /** The requested bytes; the whole page if it has not been checked since the process started. */
        REQUESTED,
        /** For large reads the whole page, and some pages ahead: the following bytes will be needed too. */
        SEQUENTIAL,
        /**
         * The whole page, compared with its checksum, because a disk may return other bytes than were written. A page
         * that does not match is {@link #MISSING} from then on.
         */
        CHECKED
    }

    /** The outcome of {@link #store}. */
    public enum Storing {
        /** The page is on disk. */
        STORED,
        /** It is being fetched or written, or is queued for one of these. */
        UNDER_WAY,
        /** It was in memory only, and is queued for writing again: call again later. */
        TRIED,
        /** It is neither on disk nor in memory. */
        MISSING
    }

    CachedObject(ObjectPages pages, PageReads reads, PageStore store, WholeFiles wholeFiles, ObjectVersion version) {
        this.pages = pages;
        this.extents = pages.extents();
        this.reads = reads;
        this.store = store;
        this.wholeFiles = wholeFiles;
        this.version = version;
    }

    public ObjectVersion version() {
        return version;
    }

    ObjectId id() {
        return extents.id();
    }

    /**
     * A snapshot: it may be out of date when it is returned.
     *
     * @param page from 0 to the index of the object's last page
     */
    public PageState state(long page) {
        return pages.state(checkPage(page, extents.pageCount() - 1L));
    }

    /** Whether the page is in memory, so that reading it would not wait. A snapshot, as {@link #state} is. */
    public boolean isInMemory(long page) {
        PageFrame frame = pages.frame(checkPage(page, extents.pageCount() - 1L));
        return frame != null && frame.isComplete();
    }

    /**
     * Claims the first run of Missing pages within {@code [fromPage, toPage)}: they become Inflight, and the caller
     * must fill or fail them. The run ends early at a page that is not Missing or for which there is no memory, and at
     * the end of the object.
     *
     * @return null if no page in it is Missing, or if memory is short; {@link Urgency#DEMAND} waits for memory
     */
    public @Nullable Fill claim(long fromPage, long toPage, Urgency urgency) throws InterruptedException {
        long end = Math.min(toPage, extents.pageCount());
        return fromPage >= end ? null : pages.claim(checkPage(fromPage, end), (int) end, urgency);
    }

    /**
     * Reads from the one page that holds {@code position}, up to the page's end or the buffer's limit. Unless it
     * is {@link FromDisk#NEVER}, waits while the page is Inflight, but only until the requested bytes have arrived.
     *
     * @param loans if not null, large reads are lent instead of copied into the buffer; its position advances anyway
     * @return the number of bytes read: 0 if the buffer is full, or at or past the object's end; {@link #MISSING}; or
     *     {@link NoWait#WOULD_WAIT}, only with {@link FromDisk#NEVER}
     * @throws FillFailedException if this read waited for a fill that failed
     */
    public int read(long position, ByteBuffer to, @Nullable LentBytes loans, FromDisk how)
            throws FillFailedException, InterruptedException {
        if (position < 0) {
            throw new IllegalArgumentException("negative position " + position);
        }
        return reads.read(position, to, loans, how);
    }

    /** Bytes per page: {@link PageCache#PAGE_SIZE} or {@link PageCache#SECTOR_SIZE}. */
    public int pageSize() {
        return extents.geometry().size();
    }

    /** Whether the page is on disk. If it is in memory only, has it written. Never waits. */
    public Storing store(long page) {
        return pages.store(checkPage(page, extents.pageCount() - 1L));
    }

    /** Records how it was read, for its next open; survives a restart if pages of it are stored then. */
    public void setReadShape(ReadShape shape) {
        store.setReadShape(extents, shape);
    }

    /** The shape last set by {@link #setReadShape}. */
    public ReadShape readShape() {
        return extents.readShape();
    }

    /** Whether all pages are stored on disk: a snapshot, taken without touching the disk. */
    public boolean isWhole() {
        return store.isWhole(extents);
    }

    /**
     * The file that holds the whole object, for a reader outside the cache. May touch the disk.
     *
     * @param verified whether every page must have been written by this process or checked since it started. If only
     *     checks are missing, they run in the background, so that a later call succeeds
     * @return null if there is no such file now; else the caller must close it, as closing this object does not
     */
    public @Nullable WholeFile wholeFile(boolean verified) {
        return wholeFiles.lend(extents, verified);
    }

    /** Claimed fills continue and may end after this. Closing again does nothing. */
    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            pages.release();
        }
    }

    private static int checkPage(long page, long last) {
        if (page < 0 || page > last) {
            throw new IllegalArgumentException("no page " + page);
        }
        return (int) page;
    }
}

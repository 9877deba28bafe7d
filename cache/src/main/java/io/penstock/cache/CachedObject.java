package io.penstock.cache;

import io.penstock.cache.PageReads.FromDisk;
import io.penstock.cache.disk.ObjectId;
import io.penstock.cache.disk.PageStore;
import io.penstock.cache.disk.ReadShape;
import io.penstock.cache.disk.WholeFile;
import io.penstock.cache.disk.WholeFiles;
import io.penstock.core.LentBytes;
import io.penstock.core.ObjectVersion;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** The pages of one object version, or its sectors. Safe for use by any number of threads; all calls are positional. */
public final class CachedObject implements AutoCloseable {
    /** Returned by {@link #read} and {@link #readNow} instead of a byte count when the page is Missing. */
    public static final int MISSING = -1;

    /**
     * Returned by {@link #readNow} instead of a byte count when the bytes are not in memory but may be had by waiting.
     */
    public static final int WOULD_WAIT = -2;

    private final ObjectPages pages;
    private final PageReads reads;
    private final PageStore store;
    private final WholeFiles wholeFiles;
    private final ObjectVersion version;
    private final AtomicBoolean closed = new AtomicBoolean();

    /** The outcome of {@link #store}. */
    public enum Storing {
        /** The page is on disk. */
        STORED,
        /** It is being fetched or written, or waits for that. */
        UNDER_WAY,
        /** It was in memory only, and is written once more: to be looked at again. */
        TRIED,
        /** It is neither on disk nor in memory. */
        MISSING
    }

    CachedObject(ObjectPages pages, PageReads reads, PageStore store, WholeFiles wholeFiles, ObjectVersion version) {
        this.pages = pages;
        this.reads = reads;
        this.store = store;
        this.wholeFiles = wholeFiles;
        this.version = version;
    }

    public ObjectVersion version() {
        return version;
    }

    ObjectId id() {
        return pages.id();
    }

    /**
     * A snapshot: it may be another by the time that it is returned.
     *
     * @param page from 0 to the number of the object's last page
     */
    public PageState state(long page) {
        return pages.state(checkPage(page, pages.pageCount() - 1L));
    }

    /** Whether a read of the page would wait for nothing, as it is in memory: a snapshot as {@link #state} is. */
    public boolean isInMemory(long page) {
        PageFrame frame = pages.frame(checkPage(page, pages.pageCount() - 1L));
        return frame != null && frame.isComplete();
    }

    /**
     * Claims the first run of Missing pages within {@code [fromPage, toPage)}: turns them Inflight, for the caller alone
     * to fill. Every claim must be filled or failed. The run ends early at a page that is not Missing or for which there
     * is no memory, and at the end of the object.
     *
     * @return null if no page in it is Missing, or if memory is short; {@link Urgency#DEMAND} waits for memory instead
     */
    public @Nullable Fill claim(long fromPage, long toPage, Urgency urgency) throws InterruptedException {
        long end = Math.min(toPage, pages.pageCount());
        return fromPage >= end ? null : pages.claim(checkPage(fromPage, end), (int) end, urgency);
    }

    /** {@link #read(long, ByteBuffer, boolean, LentBytes)} at random, all of it into the buffer. */
    public int read(long position, ByteBuffer to) throws FillFailedException, InterruptedException {
        return read(position, to, false, null);
    }

    /**
     * Reads from the one page that holds {@code position}, up to the page's end or the buffer's limit. Waits while the
     * page is Inflight, but only until the bytes asked for have arrived.
     *
     * @param sequential whether the bytes after these will be wanted too: then whole pages are read from disk, and some
     *     ahead
     * @param loans if not null, many bytes at a time are lent rather than copied into the buffer, whose position goes
     *     over them
     * @return the number of bytes read: 0 if the buffer is full, or at or past the object's end; or {@link #MISSING}
     * @throws FillFailedException if the fill that was waited for failed
     */
    public int read(long position, ByteBuffer to, boolean sequential, @Nullable LentBytes loans)
            throws FillFailedException, InterruptedException {
        FromDisk how = sequential ? FromDisk.SEQUENTIAL : FromDisk.ASKED;
        return reads.read(checkPosition(position), to, how, loans);
    }

    /**
     * {@link #read(long, ByteBuffer)} for another node. Bytes from disk are compared with their checksums, by whole
     * pages, as a disk may return other bytes than were written: a page that is not right is {@link #MISSING} from then
     * on.
     */
    public int readChecked(long position, ByteBuffer to) throws FillFailedException, InterruptedException {
        return reads.read(checkPosition(position), to, FromDisk.CHECKED, null);
    }

    /** {@link #readNow(long, ByteBuffer, LentBytes)}, all of it into the buffer. */
    public int readNow(long position, ByteBuffer to) {
        return readNow(position, to, null);
    }

    /** Like {@link #read}, but never waits, not for the disk either: {@link #WOULD_WAIT} instead. */
    public int readNow(long position, ByteBuffer to, @Nullable LentBytes loans) {
        return reads.readNow(checkPosition(position), to, loans);
    }

    /** Bytes in a page of it: {@link PageCache#PAGE_SIZE} or {@link PageCache#SECTOR_SIZE}. */
    public int pageSize() {
        return pages.geometry().size();
    }

    /** Whether the page is on disk; has it written if it is in memory only. Never waits. */
    public Storing store(long page) {
        return pages.store(checkPage(page, pages.pageCount() - 1L));
    }

    /** Notes how it was read, for its next open, also after a restart if pages of it are stored then. */
    public void setReadShape(ReadShape shape) {
        store.setReadShape(pages, shape);
    }

    /** The shape that {@link #setReadShape} noted last. */
    public ReadShape readShape() {
        return pages.readShape();
    }

    /** Whether all pages are stored on disk: a snapshot, made without touching it. */
    public boolean isWhole() {
        return store.isWhole(pages);
    }

    /**
     * The file that holds the whole object, for a reader outside the cache; it may touch the disk.
     *
     * @param verified only if every page was written by this process or has been checked since it started. Where that
     *     is all that is missing, the pages are checked in the background, so that a later call succeeds
     * @return null if there is no such file now; else to be closed, which this object's close does not do
     */
    public @Nullable WholeFile wholeFile(boolean verified) {
        return wholeFiles.lend(pages, verified);
    }

    /** Fills that were claimed go on and may be ended after it. Closing again does nothing. */
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

    private static long checkPosition(long position) {
        if (position < 0) {
            throw new IllegalArgumentException("negative position " + position);
        }
        return position;
    }
}

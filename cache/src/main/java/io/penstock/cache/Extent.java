package io.penstock.cache;

import io.penstock.cache.IndexRecord.PagesStored;
import java.nio.IntBuffer;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * A run of up to 32 pages of one object on disk: the unit of eviction, and where the state of stored pages is kept.
 *
 * <pre>
 *   LIVE ──doom──▶ DOOMED, pages count as Missing ──last pin gone──▶ its space is freed, {@link ObjectPages} forgets it
 * </pre>
 *
 * <p>Whoever reads or writes pages on disk pins the extent meanwhile; a doomed one grants no more pins. So nothing is
 * pulled from under a reader, and no reader waits for an eviction.
 *
 * <p>Heap per stored page, with 32 pages: this object 40 bytes (compressed pointers), the checksums 16 + 4 × 32, its
 * slot in the object 4, Caffeine's node 48, and its entry in Caffeine's map 32 and 8 for the table's slot: 276 bytes, or
 * 8.6 a page.
 */
final class Extent {
    /** One bit per page in an int. */
    static final int MAX_PAGES = Integer.SIZE;

    private static final int DOOMED = 1 << 30;

    private static final AtomicIntegerFieldUpdater<Extent> PINS =
            AtomicIntegerFieldUpdater.newUpdater(Extent.class, "pins");

    private final ObjectPages object;
    private final int firstPage;

    /** CRC32C of each stored page; written before its bit in {@link #stored}. */
    private final int[] checksums;

    /** How many read or write pages now, and {@link #DOOMED}. Changed through {@link #PINS}. */
    private volatile int pins;

    /** Pages that take space on disk; those in {@link #stored} at least. Guarded by this for writing, as the next two. */
    private volatile int allocated;

    /** Pages that may be read. */
    private volatile int stored;

    /** Stored pages known to be right: written by this process, or checked since it started. */
    private volatile int verified;

    /** Leases of the whole file. Guarded by {@link DiskSpace}'s lock for writing. */
    private volatile int held;

    Extent(ObjectPages object, int firstPage, int pages) {
        this.object = object;
        this.firstPage = firstPage;
        this.checksums = new int[pages];
    }

    /** {@link #MAX_PAGES}, but fewer in a small cache: with some 256 extents the eviction policy has a choice. */
    static int pagesFor(long cacheBytes) {
        long share = Math.clamp(cacheBytes / PageCache.PAGE_SIZE / 256, 1, MAX_PAGES);
        return (int) Long.highestOneBit(share);
    }

    ObjectPages object() {
        return object;
    }

    int firstPage() {
        return firstPage;
    }

    int pages() {
        return checksums.length;
    }

    /** All of its pages, as bits. */
    int allPages() {
        return -1 >>> (MAX_PAGES - checksums.length);
    }

    /** False once it is doomed. Each pin is followed by one {@link #unpin}. */
    boolean pin() {
        for (int count = pins; (count & DOOMED) == 0; count = pins) {
            if (PINS.compareAndSet(this, count, count + 1)) {
                return true;
            }
        }
        return false;
    }

    /** True if the extent is doomed and this was its last pin: the caller then has it freed. */
    boolean unpin() {
        return PINS.decrementAndGet(this) == DOOMED;
    }

    /** True if it was live and nobody has it pinned: the caller then has it freed. */
    boolean doom() {
        return PINS.getAndAccumulate(this, DOOMED, (count, flag) -> count | flag) == 0;
    }

    boolean isDoomed() {
        return (pins & DOOMED) != 0;
    }

    boolean has(int page) {
        return (stored & bit(page)) != 0 && !isDoomed();
    }

    boolean isVerified(int page) {
        return (verified & bit(page)) != 0;
    }

    /** Whether all of its pages may be read. */
    boolean isWhole() {
        return stored == allPages() && !isDoomed();
    }

    /** Whether all of its pages are known to be right. */
    boolean isVerified() {
        return verified == allPages();
    }

    /** Of a stored page. */
    int checksum(int page) {
        return checksums[page - firstPage];
    }

    int storedPages() {
        return stored;
    }

    /** What the index log is to say of it; null if nothing of it is to be used. */
    synchronized @Nullable PagesStored toRecord() {
        if (stored == 0 || isDoomed()) {
            return null;
        }
        int[] ofStored = IntStream.range(0, checksums.length)
                .filter(i -> (stored & 1 << i) != 0)
                .map(i -> checksums[i])
                .toArray();
        return new PagesStored(object.fileName(), firstPage, stored, IntBuffer.wrap(ofStored));
    }

    /** False if the page has space already. */
    synchronized boolean allocate(int page) {
        boolean isNew = (allocated & bit(page)) == 0;
        allocated |= bit(page);
        return isNew;
    }

    synchronized void deallocate(int page) {
        allocated &= ~bit(page);
    }

    /** The page was written by this process. */
    synchronized void setStored(int page, int checksum) {
        checksums[page - firstPage] = checksum;
        verified |= bit(page);
        stored |= bit(page);
    }

    /** The page was written by an earlier process: to be checked before it is used. */
    synchronized void setFound(int page, int checksum) {
        checksums[page - firstPage] = checksum;
        allocated |= bit(page);
        verified &= ~bit(page);
        stored |= bit(page);
    }

    synchronized void setVerified(int page) {
        verified |= bit(page);
    }

    /** The page is Missing from now on; its space stays allocated. False if it was so before. */
    synchronized boolean drop(int page) {
        boolean was = (stored & bit(page)) != 0;
        stored &= ~bit(page);
        verified &= ~bit(page);
        return was;
    }

    /**
     * Counts leases, which come and go in any order: see {@link DiskSpace#hold}.
     *
     * @return whether it is held now and was not, or the other way round
     */
    boolean addHolds(int leases) {
        int before = held;
        int now = before + leases; // not +=: only one at a time writes it
        held = now;
        return before > 0 != now > 0;
    }

    /** Whether it must not be evicted. */
    boolean isHeld() {
        return held > 0;
    }

    /** Whether no page takes space on disk. */
    boolean isEmpty() {
        return allocated == 0;
    }

    /** Pages that take space on disk, by number. */
    IntStream allocatedPages() {
        int now = allocated;
        return IntStream.range(0, checksums.length)
                .filter(i -> (now & 1 << i) != 0)
                .map(i -> firstPage + i);
    }

    /** Bytes on disk. */
    long allocatedBytes() {
        long bytes = 0;
        for (int left = allocated; left != 0; left &= left - 1) {
            bytes += object.allocatedBytes(firstPage + Integer.numberOfTrailingZeros(left));
        }
        return bytes;
    }

    private int bit(int page) {
        return 1 << (page - firstPage);
    }
}

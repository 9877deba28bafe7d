package io.penstock.cache.disk;

import io.penstock.cache.disk.IndexRecord.PagesStored;
import java.nio.IntBuffer;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.concurrent.atomic.AtomicLongFieldUpdater;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * A run of up to 32 pages of one object on disk: the unit of eviction, which holds the state of stored pages.
 *
 * <pre>
 *   LIVE ──doom──▶ DOOMED, pages count as Missing ──last unpin──▶ its space is freed, {@link StoredPages} forgets it
 * </pre>
 *
 * <p>A thread pins the extent while it reads or writes its pages on disk; a doomed extent grants no more pins. So no
 * reader loses its page, and no reader waits for an eviction.
 *
 * <p>Heap per stored page, with 32 pages: this object 80 bytes (compressed pointers), the checksums 16 + 4 × 32, its
 * slot in the object 4, its entry in a segment of {@link EvictionPolicy} 40 and 8 for the table's slot: 276 bytes, or
 * 8.6 per page. As many evicted extents may be remembered, at 88 bytes each.
 */
public final class Extent {
    /** One bit per page of an int. */
    public static final int MAX_PAGES = Integer.SIZE;

    /** Bytes of heap per extent, with the record of an evicted one. */
    private static final int HEAP_BYTES = 400;

    private static final int DOOMED = 1 << 30;

    private static final AtomicIntegerFieldUpdater<Extent> PINS =
            AtomicIntegerFieldUpdater.newUpdater(Extent.class, "pins");

    private static final AtomicLongFieldUpdater<Extent> LAST_USE =
            AtomicLongFieldUpdater.newUpdater(Extent.class, "lastUse");

    private final ObjectExtents object;
    private final int firstPage;

    /** CRC32C of each stored page; written before its bit in {@link #stored}. */
    private final int[] checksums;

    /** The number of threads that read or write pages now, and {@link #DOOMED}. Changed through {@link #PINS}. */
    private volatile int pins;

    /** Pages with space on disk, at least those in {@link #stored}. Writes are guarded by this, as for the next two. */
    private volatile int allocated;

    /** Readable pages. */
    private volatile int stored;

    /** Stored pages known to be intact: written by this process, or checked since it started. */
    private volatile int verified;

    /** Leases of the whole file. Writes are guarded by {@link DiskSpace}'s monitor. */
    private volatile int held;

    /** The time of its last use, by {@link EvictionPolicy}'s clock. Changed through {@link #LAST_USE}. */
    private volatile long lastUse;

    /** The uses before that. Racy on purpose: a thread that compares them may miss what a reader sets. */
    private long secondLastUse;

    private long thirdLastUse;

    /** The last use that the policy has seen, and its segment. Guarded by {@link DiskSpace}'s monitor. */
    private long useLookedAt;

    private boolean inMain;

    /** Whether one of the leases belongs to {@link Pins}. Guarded by {@link DiskSpace}'s monitor. */
    private boolean heldByPins;

    /** As many as fit in half of the heap: the other half is for names, and for objects in use. */
    public static int most() {
        return (int) Math.min(Integer.MAX_VALUE, Runtime.getRuntime().maxMemory() / 2 / HEAP_BYTES);
    }

    Extent(ObjectExtents object, int firstPage, int pages) {
        this.object = object;
        this.firstPage = firstPage;
        this.checksums = new int[pages];
    }

    public ObjectExtents object() {
        return object;
    }

    public int firstPage() {
        return firstPage;
    }

    public int pages() {
        return checksums.length;
    }

    /** All of its pages, as bits. */
    int allPages() {
        return -1 >>> (MAX_PAGES - checksums.length);
    }

    /** Returns false once it is doomed. After each true, the caller must {@link #unpin}. */
    boolean pin() {
        for (int count = pins; (count & DOOMED) == 0; count = pins) {
            if (PINS.compareAndSet(this, count, count + 1)) {
                return true;
            }
        }
        return false;
    }

    /** True if the extent is doomed and this was its last pin: the caller must then have it freed. */
    boolean unpin() {
        return PINS.decrementAndGet(this) == DOOMED;
    }

    /** True if it was live and is not pinned: the caller must then have it freed. */
    boolean doom() {
        return PINS.getAndAccumulate(this, DOOMED, (count, flag) -> count | flag) == 0;
    }

    /** Whether it is being read or written, or will be freed. */
    boolean isPinned() {
        return pins != 0;
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

    /** Whether all of its pages are readable. */
    boolean isWhole() {
        return stored == allPages() && !isDoomed();
    }

    /** Whether all of its pages are known to be intact. */
    boolean isVerified() {
        return verified == allPages();
    }

    /** The CRC32C of a stored page. */
    int checksum(int page) {
        return checksums[page - firstPage];
    }

    int storedPages() {
        return stored;
    }

    /** Its record for the index log; null if none of its pages may be used. */
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

    boolean isAllocated(int page) {
        return (allocated & bit(page)) != 0;
    }

    /** Returns false if the page already has space. */
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

    /** The page was written by an earlier process, so it must be checked before use. */
    synchronized void setFound(int page, int checksum) {
        checksums[page - firstPage] = checksum;
        allocated |= bit(page);
        verified &= ~bit(page);
        stored |= bit(page);
    }

    synchronized void setVerified(int page) {
        verified |= bit(page);
    }

    /** The page is Missing from now on; its space stays allocated. Returns false if it already was. */
    synchronized boolean drop(int page) {
        boolean was = (stored & bit(page)) != 0;
        stored &= ~bit(page);
        verified &= ~bit(page);
        return was;
    }

    /**
     * Adds leases, or removes them if negative. They come and go in any order: see {@link DiskSpace#hold}.
     *
     * @return whether it became held or ceased to be
     */
    boolean addHolds(int leases) {
        int before = held;
        int now = before + leases; // not +=: only one thread at a time writes it
        held = now;
        return before > 0 != now > 0;
    }

    /** Whether it must not be evicted. */
    boolean isHeld() {
        return held > 0;
    }

    boolean isHeldByPins() {
        return heldByPins;
    }

    void setHeldByPins(boolean is) {
        heldByPins = is;
    }

    /** Whether none of its pages has space on disk. */
    boolean isEmpty() {
        return allocated == 0;
    }

    /** The numbers of the pages with space on disk. */
    IntStream allocatedPages() {
        int now = allocated;
        return IntStream.range(0, checksums.length)
                .filter(i -> (now & 1 << i) != 0)
                .map(i -> firstPage + i);
    }

    /** Bytes on disk once it has all of its pages. */
    long wholeBytes() {
        int last = firstPage + checksums.length - 1;
        return object.geometry().start(checksums.length - 1) + object.allocatedBytes(last);
    }

    /** Bytes on disk. */
    long allocatedBytes() {
        long bytes = 0;
        for (int left = allocated; left != 0; left &= left - 1) {
            bytes += object.allocatedBytes(firstPage + Integer.numberOfTrailingZeros(left));
        }
        return bytes;
    }

    // ---- data of the eviction policy

    long lastUse() {
        return lastUse;
    }

    long secondLastUse() {
        return secondLastUse;
    }

    long thirdLastUse() {
        return thirdLastUse;
    }

    /** Records a use, unless another thread has recorded one since {@code last}. */
    void use(long last, long now) {
        if (LAST_USE.compareAndSet(this, last, now)) {
            thirdLastUse = secondLastUse;
            secondLastUse = last;
        }
    }

    /** Extends the last use until now. */
    void extendUse(long now) {
        lastUse = now;
    }

    void setUses(long last, long secondLast, long thirdLast) {
        lastUse = last;
        secondLastUse = secondLast;
        thirdLastUse = thirdLast;
    }

    boolean isUsedSinceLookedAt() {
        return lastUse != useLookedAt;
    }

    void setLookedAt() {
        useLookedAt = lastUse;
    }

    boolean isInMain() {
        return inMain;
    }

    void setInMain(boolean is) {
        inMain = is;
    }

    private int bit(int page) {
        return 1 << (page - firstPage);
    }
}

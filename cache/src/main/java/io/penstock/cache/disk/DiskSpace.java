package io.penstock.cache.disk;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The bytes on disk: how many there may be, how many there are, and that extents go when there are too many.
 * {@link EvictionPolicy} decides which.
 *
 * <p>Space is taken before it is written to, so that there are never more bytes on disk than allowed. The bound follows
 * the file system: where others fill it, the cache shrinks, and grows again when they are done.
 *
 * <p>The monitor is held while space is made, so that one write-behind thread makes it and the others wait for it instead
 * of finding none. No reader takes it. The class is long, as taking space and freeing it change the same few numbers, and
 * taking leads to freeing.
 */
public final class DiskSpace {
    private static final Logger log = LoggerFactory.getLogger(DiskSpace.class);

    /** How much may be written between two looks at how much is free. */
    private static final long CHECK_INTERVAL_BYTES = 16L << 20;

    /** So many small objects in packs take as much heap as an extent. */
    private static final int PACKED_PER_EXTENT = 3;

    /** How much one hold of the monitor evicts to reach a lower bound, so that pages are written in between. */
    private static final long STEP_BYTES = 1L << 30;

    private final int mostExtents;
    private final DataFiles files;
    private final ObjectTable<?> table;
    private final PackTable packs;
    private final PinTable pins;
    private final Counters counters;

    /** Doomed and no longer pinned. Freed by the next thread that wants space, which would not find them otherwise. */
    private final ConcurrentLinkedQueue<Extent> unpinned = new ConcurrentLinkedQueue<>();

    private record Bounds(long sizeBytes, long minFreeBytes) {}

    /** Guarded by this, but for {@link EvictionPolicy#touch}. */
    private final EvictionPolicy policy;

    /** The configured bounds, whatever the file system has. */
    private volatile Bounds bounds;

    /** Guarded by this for writing. */
    private volatile long limitBytes;

    /** Of extents that are held, which the policy does not know therefore. */
    @GuardedBy("this")
    private long heldBytes;

    @GuardedBy("this")
    private final StrandedPages stranded = new StrandedPages();

    /** Doomed and no longer pinned, but freeing them has failed: tried again at the next look at how much is free. */
    @GuardedBy("this")
    private final ArrayDeque<Extent> unfreed = new ArrayDeque<>();

    @GuardedBy("this")
    private long unfreedBytes;

    /** Guarded by this for writing. */
    private final AtomicLong usedBytes = new AtomicLong();

    @GuardedBy("this")
    private boolean saidThatNothingFits;

    @GuardedBy("this")
    private long takenSinceCheck = CHECK_INTERVAL_BYTES; // look at once

    /**
     * @param mostExtents as many as the heap has room for: one of sectors takes as much of it as one of pages, and may hold a
     *     single sector
     */
    public DiskSpace(
            long sizeBytes,
            long minFreeBytes,
            int mostExtents,
            DataFiles files,
            ObjectTable<?> table,
            PackTable packs,
            PinTable pins,
            Counters counters) {
        this.bounds = new Bounds(sizeBytes, minFreeBytes);
        this.mostExtents = mostExtents;
        this.files = files;
        this.table = table;
        this.packs = packs;
        this.pins = pins;
        this.policy = new EvictionPolicy(packs, 0);
        this.counters = counters;
        this.limitBytes = sizeBytes;
    }

    public long usedBytes() {
        return usedBytes.get();
    }

    /** Has other bounds from now on; {@link #fit} is to follow. Takes no lock, so that it does not wait for the disk. */
    public void adjust(long sizeBytes, long minFreeBytes) {
        bounds = new Bounds(sizeBytes, minFreeBytes);
    }

    /** Measures the free space before the first page is stored. */
    public synchronized void measure() throws IOException {
        followFileSystem(CHECK_INTERVAL_BYTES);
    }

    /** Whether the file system leaves room for no page. Takes no lock. */
    public boolean keepsNothing() {
        return limitBytes == 0;
    }

    /** The most bytes on disk, as the file system leaves room for them. Takes no lock. */
    long limitBytes() {
        return limitBytes;
    }

    /** Whether the file system leaves room for less than the configured bytes. Takes no lock. */
    boolean isDiskShort() {
        return limitBytes < bounds.sizeBytes;
    }

    /** The free bytes, and those that the policy keeps for new extents. Takes no lock. */
    public long roomBytes() {
        long limit = limitBytes;
        return Math.max(0, limit - usedBytes.get()) + EvictionPolicy.windowBytes(limit);
    }

    /** An extent of an earlier run, in the order in which they were stored. */
    synchronized void add(Extent extent) {
        usedBytes.addAndGet(extent.allocatedBytes());
        policy.add(extent, bounds.sizeBytes);
        followPins(extent);
    }

    /** A page of it is being read. Does not take the monitor. */
    void touch(Extent extent) {
        policy.touch(extent);
    }

    /**
     * Takes space for a page, and makes it if need be, before the page is written.
     *
     * @param extent pinned by the caller
     * @return false if the page is not to be stored
     */
    synchronized boolean take(Extent extent, int page) throws IOException {
        if (extent.isDoomed()) {
            return false;
        }
        boolean isNew = extent.isEmpty();
        if (!extent.allocate(page)) {
            return true;
        }
        ObjectExtents object = extent.object();
        long bytes = object.allocatedBytes(page);
        if (isNew) {
            policy.add(extent, limitOfPolicy());
        } else {
            policy.grew(extent, bytes);
            heldBytes += extent.isHeld() ? bytes : 0;
        }
        followPins(extent);
        if (stranded.remove(object, page)) { // then it is written to the space that it has
            return true;
        }
        boolean taken = false;
        try {
            taken = makeSpace(bytes);
        } finally {
            if (!taken) {
                takeBack(extent, page, bytes);
            }
        }
        return taken;
    }

    /** A small object is stored in the extent, which the caller has pinned. */
    synchronized void addPacked(Extent extent, ObjectId id) {
        if (PackTable.isSample(id)) {
            policy.addSample(extent, id);
        }
        if (!extent.isHeldByPins() && pins.contains(id)) {
            followPins(extent);
        }
    }

    /** These objects are pinned from now on, or are so no longer. */
    synchronized void pinsChanged(Collection<ObjectId> ids) {
        Set<Extent> changed = new HashSet<>();
        for (ObjectId id : ids) {
            ObjectExtents object = table.find(id);
            if (object != null) {
                changed.addAll(object.stored().extents());
            }
            PackedPage packed = packs.find(id);
            if (packed != null) {
                changed.add(packed.extent());
            }
        }
        for (Extent extent : changed) {
            followPins(extent);
        }
    }

    /**
     * Holds an extent with pinned data, and releases one whose data is not pinned any more: as used just now. A pack in
     * which pinned objects are among others is not held where that would leave less than a 16th of the cache to evict.
     */
    @GuardedBy("this")
    private void followPins(Extent extent) {
        boolean pinned = !pins.isEmpty() && !extent.isEmpty() && !extent.isDoomed() && hasPinned(extent);
        boolean fits = !extent.object().isPack()
                || heldBytes + extent.allocatedBytes() <= limitBytes - limitBytes / Pins.REST_SHARE;
        if (pinned && !extent.isHeldByPins() && fits) {
            extent.setHeldByPins(true);
            hold(List.of(extent));
        } else if (!pinned && extent.isHeldByPins()) {
            extent.setHeldByPins(false);
            extent.setInMain(true);
            release(List.of(extent));
        }
    }

    /**
     * A small object in the extent is not used any more: the extent goes if it was the last. {@link #freeUnpinned} is to follow.
     *
     * @param id of the small object
     */
    synchronized void packedDropped(Extent extent, ObjectId id) {
        if (!packs.hasAny(extent)) {
            discard(extent);
        } else if (pins.contains(id)) {
            followPins(extent);
        }
    }

    private boolean hasPinned(Extent extent) {
        ObjectExtents object = extent.object();
        return object.isPack() ? packs.hasAny(extent, pins::contains) : pins.contains(object.id());
    }

    @GuardedBy("this")
    private void takeBack(Extent extent, int page, long bytes) {
        extent.deallocate(page);
        policy.grew(extent, -bytes);
        heldBytes -= extent.isHeld() ? bytes : 0;
        if (extent.isEmpty()) {
            followPins(extent);
            policy.remove(extent);
            extent.doom(); // goes when the caller unpins it: no other thread would find it
        }
    }

    @GuardedBy("this")
    private boolean makeSpace(long bytes) throws IOException {
        followFileSystem(bytes);
        if (!shrinkTo(limitBytes - bytes)) {
            return false;
        }
        usedBytes.addAndGet(bytes);
        return true;
    }

    /**
     * Evicts until no more is used, by no more extents than there may be. False if the extents that are left are in
     * use, or their space cannot be freed now.
     */
    @GuardedBy("this")
    private boolean shrinkTo(long bytes) throws IOException {
        freeUnpinned();
        while (usedBytes.get() > bytes || policy.extents() + packs.size() / PACKED_PER_EXTENT > mostExtents) {
            Extent victim = policy.evict(limitOfPolicy());
            if (victim == null) {
                return false;
            }
            evict(victim);
            freeUnpinned();
        }
        return true;
    }

    /** Gives it up for space; a doomed one is on its way out for another reason. */
    @GuardedBy("this")
    private void evict(Extent victim) {
        if (!victim.isDoomed()) {
            counters.evictedPages.add(Integer.bitCount(victim.storedPages()));
            discard(victim);
        }
    }

    /** The bytes that are left to the extents that the policy decides on. */
    @GuardedBy("this")
    private long limitOfPolicy() {
        return Math.max(0, limitBytes - heldBytes - stranded.bytes() - unfreedBytes);
    }

    /**
     * The file system is full although there should be space: makes some.
     *
     * @return whether writing again may help
     */
    synchronized boolean makeRoom(int bytes) throws IOException {
        if (files.usableBytes() > 2L * bytes) {
            return false; // it is not for want of space
        }
        long before = usedBytes.get();
        limitBytes = Math.max(0, before - Math.max(before / 16, 2L * bytes));
        shrinkTo(limitBytes);
        return usedBytes.get() < before;
    }

    @GuardedBy("this")
    private void followFileSystem(long bytes) throws IOException {
        takenSinceCheck += bytes;
        if (takenSinceCheck >= CHECK_INTERVAL_BYTES) {
            takenSinceCheck = 0;
            freeUnfreed();
            Bounds now = bounds;
            limitBytes = Math.clamp(usedBytes.get() + files.usableBytes() - now.minFreeBytes, 0, now.sizeBytes);
            if (limitBytes == 0 && !saidThatNothingFits) {
                saidThatNothingFits = true;
                log.warn(
                        "Nothing is kept on the cache's disk: less is free there than the {} bytes that cache.min-free"
                                + " leaves to others. Data that is read again is fetched again.",
                        now.minFreeBytes);
            }
        }
    }

    /**
     * Exempts extents from eviction, until as many calls of {@link #release}. Those may overtake each other: what counts
     * is the sum.
     */
    synchronized void hold(List<Extent> leased) {
        for (Extent extent : leased) {
            if (extent.addHolds(1)) {
                heldBytes += extent.allocatedBytes();
                policy.hold(extent);
            }
        }
    }

    synchronized void release(List<Extent> leased) {
        for (Extent extent : leased) {
            if (extent.addHolds(-1)) {
                heldBytes -= extent.allocatedBytes();
                policy.release(extent);
            }
        }
    }

    /** The extent's pages are Missing from now on; {@link #freeUnpinned} is to follow. */
    void discard(Extent extent) {
        if (extent.doom()) {
            unpinned.add(extent);
        }
    }

    /** The extent is doomed, and this was its last pin; {@link #freeUnpinned} is to follow. */
    void unpinned(Extent extent) {
        unpinned.add(extent);
    }

    /** Measures the free space, and evicts the excess. */
    void fit() throws IOException {
        boolean isMore = true;
        while (isMore) {
            isMore = fitAStep();
        }
    }

    /** @return whether there is more to evict, which can be */
    private synchronized boolean fitAStep() throws IOException {
        followFileSystem(CHECK_INTERVAL_BYTES);
        long aim = Math.max(limitBytes, usedBytes.get() - STEP_BYTES);
        return shrinkTo(aim) && aim > limitBytes;
    }

    /** Frees the doomed extents that are no longer pinned. */
    synchronized void freeUnpinned() throws IOException {
        for (Extent extent = unpinned.poll(); extent != null; extent = unpinned.poll()) {
            free(extent); // which may discard others
        }
    }

    /** Frees the space of an extent that is doomed and no longer pinned; if that fails, once more later. */
    @GuardedBy("this")
    private void free(Extent extent) throws IOException {
        boolean freed = false;
        try {
            followPins(extent);
            policy.remove(extent);
            packs.removeAll(extent);
            freeNow(extent);
            freed = true;
        } finally {
            if (!freed) {
                unfreed.add(extent);
                unfreedBytes += extent.allocatedBytes();
            }
        }
    }

    @GuardedBy("this")
    private void freeUnfreed() {
        for (int left = unfreed.size(); left > 0; left--) {
            Extent extent = unfreed.remove();
            unfreedBytes -= extent.allocatedBytes();
            try {
                free(extent);
            } catch (IOException e) {
                log.debug("Space of the cache's disk still cannot be freed", e);
            }
        }
    }

    @GuardedBy("this")
    private void freeNow(Extent extent) throws IOException {
        ObjectExtents object = extent.object();
        // Not retained, it has been forgotten already: by an earlier attempt, which has failed.
        if (table.forgetIfOnly(object, extent) || !table.retain(object)) {
            if (object.hasFile()) {
                removeFile(object);
            }
            usedBytes.addAndGet(-extent.allocatedBytes());
            return;
        }
        try {
            boolean punched = files.punch(extent);
            object.stored().remove(extent);
            table.forgetIfUnusedNow(object);
            if (punched) {
                usedBytes.addAndGet(-extent.allocatedBytes());
            } else {
                leaveInFile(extent);
                if (!table.isUsedByOthers(object)) {
                    object.discardFrames(); // else a page in memory would keep the whole file
                }
            }
        } finally {
            table.release(object);
        }
    }

    /** Only the whole file can be freed: so all of it goes, as soon as it is not in use. */
    @GuardedBy("this")
    private void leaveInFile(Extent extent) {
        ObjectExtents object = extent.object();
        stranded.add(object, extent.allocatedPages());
        for (Extent other : object.stored().extents()) {
            if (!other.isHeld()) {
                evict(other);
            }
        }
    }

    /** Frees a page of a file that was taken over, unless space was taken for it here. */
    synchronized void freeUncounted(ObjectExtents object, int page) throws IOException {
        Extent extent = object.extent(page);
        if (extent != null && extent.isAllocated(page)) {
            return;
        }
        if (!files.punch(object, page, 1)) {
            usedBytes.addAndGet(object.allocatedBytes(page));
            stranded.add(object, IntStream.of(page));
        }
    }

    /** Removes the file of an object that has been forgotten. */
    synchronized void removeFile(ObjectExtents object) throws IOException {
        files.remove(object);
        usedBytes.addAndGet(-stranded.removeAll(object));
    }
}

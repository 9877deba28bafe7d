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
 * The bytes on disk: their bound, their number, and the eviction of extents, which {@link EvictionPolicy} chooses.
 *
 * <p>Space is taken before it is written to, so there are never more bytes on disk than allowed. The bound follows the
 * file system: the cache shrinks when others fill the disk, and grows again when they free it.
 *
 * <p>The monitor is held while space is made, so that one write-behind thread makes it and the others wait instead of
 * finding none. No reader takes the monitor.
 */
public final class DiskSpace {
    private static final Logger log = LoggerFactory.getLogger(DiskSpace.class);

    /** How many bytes may be written between two checks of the free space. */
    private static final long CHECK_INTERVAL_BYTES = 16L << 20;

    /** This many small objects in packs take as much heap as an extent. */
    private static final int PACKED_PER_EXTENT = 3;

    /** How much is evicted per hold of the monitor to reach a lower bound, so that pages can be written in between. */
    private static final long STEP_BYTES = 1L << 30;

    private final int mostExtents;
    private final DataFiles files;
    private final ObjectTable table;
    private final PackTable packs;
    private final PinTable pins;
    private final Counters counters;

    /** Doomed and no longer pinned. The next thread that needs space frees them; it would not find them otherwise. */
    private final ConcurrentLinkedQueue<Extent> unpinned = new ConcurrentLinkedQueue<>();

    private record Bounds(long sizeBytes, long minFreeBytes) {}

    /** Guarded by this, except for {@link EvictionPolicy#touch}. */
    private final EvictionPolicy policy;

    /** The configured bounds, whatever room the file system has. */
    private volatile Bounds bounds;

    /** Writes are guarded by this. */
    private volatile long limitBytes;

    /** Bytes of held extents, which the policy does not count. */
    @GuardedBy("this")
    private long heldBytes;

    @GuardedBy("this")
    private final StrandedPages stranded = new StrandedPages();

    /** Doomed and no longer pinned, but freeing them failed: retried at the next check of the free space. */
    @GuardedBy("this")
    private final ArrayDeque<Extent> unfreed = new ArrayDeque<>();

    @GuardedBy("this")
    private long unfreedBytes;

    /** Writes are guarded by this. */
    private final AtomicLong usedBytes = new AtomicLong();

    @GuardedBy("this")
    private boolean saidThatNothingFits;

    @GuardedBy("this")
    private long takenSinceCheck = CHECK_INTERVAL_BYTES; // check immediately

    /**
     * @param mostExtents as many as fit in the heap: an extent of sectors takes as much heap as one of pages, and may
     *     hold a single sector
     */
    public DiskSpace(
            long sizeBytes,
            long minFreeBytes,
            int mostExtents,
            DataFiles files,
            ObjectTable table,
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

    /** Sets other bounds; {@link #fit} must follow. Takes no lock, so that it does not wait for the disk. */
    public void adjust(long sizeBytes, long minFreeBytes) {
        bounds = new Bounds(sizeBytes, minFreeBytes);
    }

    /** Measures the free space before the first page is stored. */
    public synchronized void measure() throws IOException {
        followFileSystem(CHECK_INTERVAL_BYTES);
    }

    /** Whether the file system has no room for any page. Takes no lock. */
    public boolean keepsNothing() {
        return limitBytes == 0;
    }

    /** The maximum bytes on disk, given the room on the file system. Takes no lock. */
    long limitBytes() {
        return limitBytes;
    }

    /** Whether the file system has less room than the configured size. Takes no lock. */
    boolean isDiskShort() {
        return limitBytes < bounds.sizeBytes;
    }

    /** The free bytes, and those that the policy reserves for new extents. Takes no lock. */
    public long roomBytes() {
        long limit = limitBytes;
        return Math.max(0, limit - usedBytes.get()) + EvictionPolicy.windowBytes(limit);
    }

    /** Adds an extent of an earlier run; called in the order in which they were stored. */
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
     * Takes space for a page before it is written, evicting others if necessary.
     *
     * @param extent pinned by the caller
     * @return false if the page must not be stored
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

    /** A small object has been stored in the extent, which the caller has pinned. */
    synchronized void addPacked(Extent extent, ObjectId id) {
        if (PackTable.isSample(id)) {
            policy.addSample(extent, id);
        }
        if (!extent.isHeldByPins() && pins.contains(id)) {
            followPins(extent);
        }
    }

    /** The pins of these objects have been added or removed. */
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
     * Holds an extent with pinned data, and releases one whose data is no longer pinned, as just used. A pack that
     * mixes pinned objects with others is not held if that would leave less than a 16th of the cache to evict.
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
     * A small object in the extent is no longer used. If it was the last, discards the extent. {@link #freeUnpinned}
     * must follow.
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
            extent.doom(); // freed when the caller unpins it: no other thread would find it
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
     * Evicts until no more than this is used, and there are no more extents than allowed. Returns false if the
     * remaining extents are in use, or their space cannot be freed now.
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

    /** Evicts it for space, unless it is doomed and so about to go for another reason. */
    @GuardedBy("this")
    private void evict(Extent victim) {
        if (!victim.isDoomed()) {
            counters.evictedPages.add(Integer.bitCount(victim.storedPages()));
            discard(victim);
        }
    }

    /** The bytes available to the extents that the policy manages. */
    @GuardedBy("this")
    private long limitOfPolicy() {
        return Math.max(0, limitBytes - heldBytes - stranded.bytes() - unfreedBytes);
    }

    /**
     * The file system is full although it should have space: makes some.
     *
     * @return whether another write may succeed
     */
    synchronized boolean makeRoom(int bytes) throws IOException {
        if (files.usableBytes() > 2L * bytes) {
            return false; // the failure has another cause
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
                        "Nothing is stored on the cache's disk: fewer bytes are free there than cache.min-free, {}."
                                + " Data that is read again is fetched again.",
                        now.minFreeBytes);
            }
        }
    }

    /**
     * Exempts extents from eviction until {@link #release} is called as often. Calls may overtake each other: only the
     * sum counts.
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

    /** The extent's pages are Missing from now on; {@link #freeUnpinned} must follow. */
    void discard(Extent extent) {
        if (extent.doom()) {
            unpinned.add(extent);
        }
    }

    /** The extent is doomed, and this was its last pin; {@link #freeUnpinned} must follow. */
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

    /** @return whether there is more that can be evicted */
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

    /** Frees the space of an extent that is doomed and no longer pinned; retries later if that fails. */
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
        // If it cannot be retained, an earlier attempt, which failed later, has already forgotten it.
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
                    object.discardFromMemory(); // else a page in memory would keep the whole file
                }
            }
        } finally {
            table.release(object);
        }
    }

    /** Only the whole file can be freed, so all of it goes as soon as it is not in use. */
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

    /** Frees a page of a file that was taken over, unless its space was taken here. */
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

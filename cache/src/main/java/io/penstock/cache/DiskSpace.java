package io.penstock.cache;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.Policy;
import io.penstock.cache.IndexRecord.ObjectRemoved;
import io.penstock.cache.IndexRecord.PagesDropped;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.util.ArrayDeque;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The bytes on disk: how many there may be, how many there are, and which extents go when there are too many. Caffeine
 * decides which; an entry is an extent and weighs what it takes on disk.
 *
 * <p>Space is taken before it is written to, so that there are never more bytes on disk than allowed. The bound follows
 * the file system: where others fill it, the cache shrinks, and grows again when they are done.
 */
final class DiskSpace {
    private static final Logger log = LoggerFactory.getLogger(DiskSpace.class);

    /** How much may be written between two looks at how much is free. */
    private static final long CHECK_INTERVAL_BYTES = 16L << 20;

    private final long sizeBytes;
    private final long minFreeBytes;
    private final StoreFiles files;
    private final IndexLog index;
    private final ObjectTable table;
    private final Counters counters;
    private final Cache<Extent, Extent> extents;
    private final Policy.Eviction<Extent, Extent> eviction;

    /** What Caffeine gave up. It says so under its own lock, where nothing may be done. */
    private final ConcurrentLinkedQueue<Extent> givenUp = new ConcurrentLinkedQueue<>();

    /** Doomed and no longer pinned. Freed by whoever wants space next, who would not find it otherwise. */
    private final ConcurrentLinkedQueue<Extent> unpinned = new ConcurrentLinkedQueue<>();

    /**
     * Guards what follows. Held while space is made, so that one write-behind thread makes it and the others wait for
     * it instead of finding none. No reader comes here.
     */
    private final ReentrantLock lock = new ReentrantLock();

    private long limitBytes;

    /** Of extents that are held, and weigh nothing therefore. */
    private long heldBytes;

    /** Pages that no extent counts any more, but whose space is not to be had back before their file goes. */
    private final Map<ObjectPages, BitSet> stranded = new HashMap<>();

    /** Taken, and of no extent that the policy knows: of {@link #stranded} pages and {@link #unfreed} extents. */
    private long strandedBytes;

    /** Doomed and no longer pinned, but freeing them has failed: tried again at the next look at how much is free. */
    private final ArrayDeque<Extent> unfreed = new ArrayDeque<>();

    private final AtomicLong usedBytes = new AtomicLong(); // written under the lock
    private long takenSinceCheck;

    DiskSpace(CacheConfig config, StoreFiles files, IndexLog index, ObjectTable table, Counters counters) {
        this.sizeBytes = config.sizeBytes();
        this.minFreeBytes = config.minFreeBytes();
        this.files = files;
        this.index = index;
        this.table = table;
        this.counters = counters;
        this.limitBytes = sizeBytes;
        this.takenSinceCheck = CHECK_INTERVAL_BYTES; // look at once
        this.extents = Caffeine.newBuilder()
                .maximumWeight(sizeBytes)
                .weigher((Extent key, Extent extent) -> extent.isHeld() ? 0 : Math.toIntExact(extent.allocatedBytes()))
                .evictionListener((key, extent, cause) -> {
                    if (extent != null) {
                        givenUp.add(extent);
                    }
                })
                .executor(Runnable::run) // its upkeep is done by who calls it: write-behind
                .build();
        this.eviction = extents.policy().eviction().orElseThrow();
    }

    long usedBytes() {
        return usedBytes.get();
    }

    /** What an earlier run left, in the order in which it was stored. */
    void add(Extent extent) {
        lock.lock();
        try {
            usedBytes.addAndGet(extent.allocatedBytes());
            weigh(extent);
        } finally {
            lock.unlock();
        }
    }

    /** A page of it is being read. */
    void touch(Extent extent) {
        var _ = extents.getIfPresent(extent);
    }

    /**
     * Takes space for a page, and makes it if need be, before the page is written.
     *
     * @param extent pinned by the caller
     * @return false if the page is not to be stored
     */
    boolean take(Extent extent, int page) throws IOException {
        lock.lock();
        try {
            if (extent.isDoomed()) {
                return false;
            }
            if (!extent.allocate(page)) {
                return true;
            }
            ObjectPages object = extent.object();
            boolean wasStranded = unstrand(object, page); // then it is written to the space that it has
            boolean taken = false;
            try {
                taken = makeSpace(extent, wasStranded ? 0 : object.allocatedBytes(page));
            } finally {
                if (!taken) {
                    extent.deallocate(page);
                    extents.asMap().computeIfPresent(extent, (key, same) -> same);
                    if (wasStranded) {
                        strand(object, page);
                    }
                    if (extent.isEmpty()) {
                        extent.doom(); // goes when the caller unpins it: the policy gives up nothing that has no weight
                    }
                }
            }
            return taken;
        } finally {
            lock.unlock();
        }
    }

    private boolean makeSpace(Extent extent, long bytes) throws IOException {
        followFileSystem(bytes);
        freeGivenUp();
        weigh(extent);
        freeGivenUp();
        if (usedBytes.get() + bytes > limitBytes || extent.isDoomed()) {
            return false;
        }
        usedBytes.addAndGet(bytes);
        return true;
    }

    /**
     * The file system is full although there should be space: makes some.
     *
     * @return whether writing again may help
     */
    boolean makeRoom(int bytes) throws IOException {
        lock.lock();
        try {
            if (files.usableBytes() > 2L * bytes) {
                return false; // it is not for want of space
            }
            long before = usedBytes.get();
            setLimit(Math.max(0, usedBytes.get() - Math.max(usedBytes.get() / 16, 2L * bytes)));
            freeGivenUp();
            return usedBytes.get() < before;
        } finally {
            lock.unlock();
        }
    }

    private void followFileSystem(long bytes) throws IOException {
        takenSinceCheck += bytes;
        if (takenSinceCheck >= CHECK_INTERVAL_BYTES) {
            takenSinceCheck = 0;
            freeUnfreed();
            setLimit(Math.clamp(usedBytes.get() + files.usableBytes() - minFreeBytes, 0, sizeBytes));
        }
    }

    private void setLimit(long bytes) {
        limitBytes = bytes;
        long others = Math.max(0, bytes - heldBytes - strandedBytes);
        if (eviction.getMaximum() != others) {
            eviction.setMaximum(others);
        }
    }

    /**
     * Exempts extents from eviction, until as many calls of {@link #letGo}. Those may overtake each other: what counts
     * is the sum.
     */
    void hold(List<Extent> leased) throws IOException {
        addHolds(leased, 1);
    }

    void letGo(List<Extent> leased) throws IOException {
        addHolds(leased, -1);
    }

    private void addHolds(List<Extent> leased, int leases) throws IOException {
        lock.lock();
        try {
            for (Extent extent : leased) {
                if (extent.addHolds(leases)) {
                    heldBytes += extent.isHeld() ? extent.allocatedBytes() : -extent.allocatedBytes();
                    extents.asMap().computeIfPresent(extent, (key, same) -> same); // counts as a use too
                }
            }
            setLimit(limitBytes);
            freeGivenUp();
        } finally {
            lock.unlock();
        }
    }

    /** Tells Caffeine the extent's weight anew. */
    private void weigh(Extent extent) {
        extents.asMap().compute(extent, (key, same) -> extent);
        extents.cleanUp();
    }

    /** The extent's pages are Missing from now on; {@link #freeGivenUp} is to follow. */
    void discard(Extent extent) {
        if (extent.doom()) {
            unpinned.add(extent);
        }
    }

    /** The extent is doomed, and this was its last pin; {@link #freeGivenUp} is to follow. */
    void unpinned(Extent extent) {
        unpinned.add(extent);
    }

    /** Gives up what is more than allowed. */
    void fit() throws IOException {
        lock.lock();
        try {
            followFileSystem(0);
            extents.cleanUp();
            freeGivenUp();
        } finally {
            lock.unlock();
        }
    }

    /** Frees what nobody uses any more of the extents that are given up. */
    void freeGivenUp() throws IOException {
        lock.lock();
        try {
            for (Extent extent = nextToFree(); extent != null; extent = nextToFree()) {
                free(extent); // which may give up others
            }
        } finally {
            lock.unlock();
        }
    }

    private @Nullable Extent nextToFree() {
        for (Extent extent = givenUp.poll(); extent != null; extent = givenUp.poll()) {
            discard(extent);
        }
        return unpinned.poll();
    }

    /** Frees the space of an extent that is doomed and no longer pinned; if that fails, once more later. */
    private void free(Extent extent) throws IOException {
        boolean freed = false;
        try {
            extents.invalidate(extent);
            freeNow(extent);
            freed = true;
        } finally {
            if (!freed) {
                unfreed.add(extent);
                addStranded(extent.allocatedBytes());
            }
        }
    }

    private void freeUnfreed() {
        for (int left = unfreed.size(); left > 0; left--) {
            Extent extent = unfreed.remove();
            addStranded(-extent.allocatedBytes());
            try {
                free(extent);
            } catch (IOException e) {
                log.debug("Space of the cache's disk still cannot be freed", e);
            }
        }
    }

    private void freeNow(Extent extent) throws IOException {
        ObjectPages object = extent.object();
        // Not retained, it has been forgotten already: by an earlier attempt, which has failed.
        if (table.forgetIfOnly(object, extent) || !table.retain(object)) {
            removeFile(object);
            freed(extent);
            return;
        }
        try {
            boolean punched = punch(object, extent);
            object.removeExtent(extent);
            if (punched) {
                freed(extent);
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

    private void freed(Extent extent) {
        counters.evictedPages.add(Integer.bitCount(extent.storedPages()));
        usedBytes.addAndGet(-extent.allocatedBytes());
    }

    /** Only the whole file can be freed: so all of it goes, as soon as nobody uses it. */
    private void leaveInFile(Extent extent) {
        ObjectPages object = extent.object();
        counters.evictedPages.add(Integer.bitCount(extent.storedPages()));
        extent.allocatedPages().forEach(page -> strand(object, page));
        for (Extent other : object.stored().extents()) {
            if (!other.isHeld()) {
                discard(other);
            }
        }
    }

    private void strand(ObjectPages object, int page) {
        stranded.computeIfAbsent(object, none -> new BitSet()).set(page);
        addStranded(object.allocatedBytes(page));
    }

    /** True if the page was stranded: an extent counts it from now on. */
    private boolean unstrand(ObjectPages object, int page) {
        BitSet pages = stranded.get(object);
        if (pages == null || !pages.get(page)) {
            return false;
        }
        pages.clear(page);
        addStranded(-object.allocatedBytes(page));
        return true;
    }

    /** So much more is taken that the policy knows nothing of: the less is left to what it decides on. */
    private void addStranded(long bytes) {
        strandedBytes += bytes;
        setLimit(limitBytes);
    }

    /** Removes the file of an object that has been forgotten. */
    void removeFile(ObjectPages object) throws IOException {
        lock.lock();
        try {
            index.append(new ObjectRemoved(object.fileName()));
            files.remove(object.fileName());
            BitSet pages = stranded.remove(object);
            if (pages != null) {
                long bytes = pages.stream().mapToLong(object::allocatedBytes).sum();
                usedBytes.addAndGet(-bytes);
                addStranded(-bytes);
            }
        } finally {
            lock.unlock();
        }
    }

    /** False if no part of the file can be freed. */
    private boolean punch(ObjectPages object, Extent extent) throws IOException {
        if (extent.isEmpty()) {
            return true; // nothing of it was ever written
        }
        // Before the pages go: else a crash between leaves records of pages that then look damaged.
        index.append(new PagesDropped(object.fileName(), extent.firstPage(), extent.allPages()));
        if (object.wasLent()) {
            return false; // a program that has it mapped would read zeros; the whole file it keeps when its name goes
        }
        try {
            int last = extent.firstPage() + extent.pages() - 1;
            long start = ObjectPages.pageStart(extent.firstPage());
            object.file().punch(start, ObjectPages.pageStart(last) + object.pageLength(last) - start);
            return true;
        } catch (NoSuchFileException e) {
            return true; // somebody else removed it: its space is free
        } catch (NoHolesException e) {
            return false;
        }
    }
}

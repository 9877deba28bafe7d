package io.penstock.cache;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.Policy;
import io.penstock.cache.IndexRecord.ObjectRemoved;
import io.penstock.cache.IndexRecord.PagesDropped;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The bytes on disk: how many there may be, how many there are, and which extents go when there are too many. Caffeine
 * decides which; an entry is an extent and weighs what it takes on disk.
 *
 * <p>Space is taken before it is written to, so that there are never more bytes on disk than allowed. The bound follows
 * the file system: where others fill it, the cache shrinks, and grows again when they are done.
 */
final class DiskSpace {
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

    /**
     * Guards what follows. Held while space is made, so that one write-behind thread makes it and the others wait for
     * it instead of finding none. No reader comes here.
     */
    private final ReentrantLock lock = new ReentrantLock();

    private long limitBytes;

    /** Of extents that are held, and weigh nothing therefore. */
    private long heldBytes;

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
            long bytes = extent.object().allocatedBytes(page);
            followFileSystem(bytes);
            freeGivenUp();
            weigh(extent);
            freeGivenUp();
            if (usedBytes.get() + bytes > limitBytes || extent.isDoomed()) {
                extent.deallocate(page);
                extents.asMap().computeIfPresent(extent, (key, same) -> same);
                return false;
            }
            usedBytes.addAndGet(bytes);
            return true;
        } finally {
            lock.unlock();
        }
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
            setLimit(Math.clamp(usedBytes.get() + files.usableBytes() - minFreeBytes, 0, sizeBytes));
        }
    }

    private void setLimit(long bytes) {
        limitBytes = bytes;
        long others = Math.max(0, bytes - heldBytes);
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

    /** The extent's pages are Missing from now on, and its space is freed when nobody uses it any more. */
    void discard(Extent extent) throws IOException {
        if (extent.doom()) {
            free(extent);
        }
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

    private void freeGivenUp() throws IOException {
        for (Extent extent = givenUp.poll(); extent != null; extent = givenUp.poll()) {
            if (extent.doom()) {
                free(extent);
            }
        }
    }

    /** Frees the space of an extent that is doomed and no longer pinned. */
    void free(Extent extent) throws IOException {
        lock.lock();
        try {
            extents.invalidate(extent);
            ObjectPages object = extent.object();
            long bytes = extent.allocatedBytes();
            counters.evictedPages.add(Integer.bitCount(extent.storedPages()));
            if (table.forgetIfOnly(object, extent)) {
                index.append(new ObjectRemoved(object.fileName()));
                files.remove(object.fileName());
            } else if (table.retain(object)) {
                try {
                    punch(object, extent);
                } finally {
                    object.removeExtent(extent);
                    table.release(object);
                }
            }
            usedBytes.addAndGet(-bytes);
        } finally {
            lock.unlock();
        }
    }

    private void punch(ObjectPages object, Extent extent) throws IOException {
        // Before the pages go: else a crash between leaves records of pages that then look damaged.
        index.append(new PagesDropped(object.fileName(), extent.firstPage(), extent.allPages()));
        try {
            int last = extent.firstPage() + extent.pages() - 1;
            long start = ObjectPages.pageStart(extent.firstPage());
            object.file().punch(start, ObjectPages.pageStart(last) + object.pageLength(last) - start);
        } catch (NoSuchFileException e) {
            return; // somebody else removed it: its space is free
        }
    }
}

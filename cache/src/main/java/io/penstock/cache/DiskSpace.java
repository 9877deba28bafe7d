package io.penstock.cache;

import io.penstock.cache.IndexRecord.ObjectRemoved;
import io.penstock.cache.IndexRecord.PagesDropped;
import io.penstock.disk.DataFolder;
import io.penstock.disk.NoHolesException;
import io.penstock.disk.RecordLog;
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
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The bytes on disk: how many there may be, how many there are, and that extents go when there are too many.
 * {@link EvictionPolicy} decides which.
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
    private final DataFolder files;
    private final RecordLog<IndexRecord> index;
    private final ObjectTable table;
    private final Counters counters;

    /** Doomed and no longer pinned. Freed by whoever wants space next, who would not find it otherwise. */
    private final ConcurrentLinkedQueue<Extent> unpinned = new ConcurrentLinkedQueue<>();

    /**
     * Guards what follows. Held while space is made, so that one write-behind thread makes it and the others wait for
     * it instead of finding none. No reader comes here.
     */
    private final ReentrantLock lock = new ReentrantLock();

    private final EvictionPolicy policy = new EvictionPolicy();

    private long limitBytes;

    /** Of extents that are held, which the policy does not know therefore. */
    private long heldBytes;

    /** Pages that no extent counts any more, but whose space is not to be had back before their file goes. */
    private final Map<ObjectPages, BitSet> stranded = new HashMap<>();

    /** Taken, and of no extent that the policy knows: of {@link #stranded} pages and {@link #unfreed} extents. */
    private long strandedBytes;

    /** Doomed and no longer pinned, but freeing them has failed: tried again at the next look at how much is free. */
    private final ArrayDeque<Extent> unfreed = new ArrayDeque<>();

    private final AtomicLong usedBytes = new AtomicLong(); // written under the lock
    private long takenSinceCheck;

    DiskSpace(
            CacheConfig config, DataFolder files, RecordLog<IndexRecord> index, ObjectTable table, Counters counters) {
        this.sizeBytes = config.sizeBytes();
        this.minFreeBytes = config.minFreeBytes();
        this.files = files;
        this.index = index;
        this.table = table;
        this.counters = counters;
        this.limitBytes = sizeBytes;
        this.takenSinceCheck = CHECK_INTERVAL_BYTES; // look at once
    }

    long usedBytes() {
        return usedBytes.get();
    }

    /** What an earlier run left, in the order in which it was stored. */
    void add(Extent extent) {
        lock.lock();
        try {
            usedBytes.addAndGet(extent.allocatedBytes());
            policy.add(extent, sizeBytes);
        } finally {
            lock.unlock();
        }
    }

    /** A page of it is being read. Takes no lock. */
    void touch(Extent extent) {
        policy.touch(extent);
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
            boolean isNew = extent.isEmpty();
            if (!extent.allocate(page)) {
                return true;
            }
            ObjectPages object = extent.object();
            long bytes = object.allocatedBytes(page);
            if (isNew) {
                policy.add(extent, limitOfPolicy());
            } else {
                policy.grew(extent, bytes);
            }
            if (unstrand(object, page)) { // then it is written to the space that it has
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
        } finally {
            lock.unlock();
        }
    }

    private void takeBack(Extent extent, int page, long bytes) {
        extent.deallocate(page);
        policy.grew(extent, -bytes);
        if (extent.isEmpty()) {
            policy.remove(extent);
            extent.doom(); // goes when the caller unpins it: nobody else would find it
        }
    }

    private boolean makeSpace(long bytes) throws IOException {
        followFileSystem(bytes);
        if (!shrinkTo(limitBytes - bytes)) {
            return false;
        }
        usedBytes.addAndGet(bytes);
        return true;
    }

    /** Evicts until no more is used. False if what is left is in use, or its space is not to be had back now. */
    private boolean shrinkTo(long bytes) throws IOException {
        freeUnpinned();
        while (usedBytes.get() > bytes) {
            Extent victim = policy.evict(limitOfPolicy());
            if (victim == null) {
                return false;
            }
            discard(victim);
            freeUnpinned();
        }
        return true;
    }

    /** What is left to the extents that the policy decides on. */
    private long limitOfPolicy() {
        return Math.max(0, limitBytes - heldBytes - strandedBytes);
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
            limitBytes = Math.max(0, before - Math.max(before / 16, 2L * bytes));
            shrinkTo(limitBytes);
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
            limitBytes = Math.clamp(usedBytes.get() + files.usableBytes() - minFreeBytes, 0, sizeBytes);
        }
    }

    /**
     * Exempts extents from eviction, until as many calls of {@link #letGo}. Those may overtake each other: what counts
     * is the sum.
     */
    void hold(List<Extent> leased) {
        lock.lock();
        try {
            for (Extent extent : leased) {
                if (extent.addHolds(1)) {
                    heldBytes += extent.allocatedBytes();
                    policy.hold(extent);
                }
            }
        } finally {
            lock.unlock();
        }
    }

    void letGo(List<Extent> leased) {
        lock.lock();
        try {
            for (Extent extent : leased) {
                if (extent.addHolds(-1)) {
                    heldBytes -= extent.allocatedBytes();
                    policy.letGo(extent);
                }
            }
        } finally {
            lock.unlock();
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

    /** Looks at how much is free, and evicts what is more than allowed. */
    void fit() throws IOException {
        lock.lock();
        try {
            followFileSystem(CHECK_INTERVAL_BYTES);
            shrinkTo(limitBytes);
        } finally {
            lock.unlock();
        }
    }

    /** Frees the doomed extents that nobody uses any more. */
    void freeUnpinned() throws IOException {
        lock.lock();
        try {
            for (Extent extent = unpinned.poll(); extent != null; extent = unpinned.poll()) {
                free(extent); // which may discard others
            }
        } finally {
            lock.unlock();
        }
    }

    /** Frees the space of an extent that is doomed and no longer pinned; if that fails, once more later. */
    private void free(Extent extent) throws IOException {
        boolean freed = false;
        try {
            policy.remove(extent);
            freeNow(extent);
            freed = true;
        } finally {
            if (!freed) {
                unfreed.add(extent);
                strandedBytes += extent.allocatedBytes();
            }
        }
    }

    private void freeUnfreed() {
        for (int left = unfreed.size(); left > 0; left--) {
            Extent extent = unfreed.remove();
            strandedBytes -= extent.allocatedBytes();
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

    /** Frees a page of a file that was taken over, unless space was taken for it here. */
    void freeUncounted(ObjectPages object, int page) throws IOException {
        lock.lock();
        try {
            Extent extent = object.extent(page);
            if (extent != null && extent.isAllocated(page)) {
                return;
            }
            if (!punch(object, page, 1)) {
                usedBytes.addAndGet(object.allocatedBytes(page));
                strand(object, page);
            }
        } finally {
            lock.unlock();
        }
    }

    private void strand(ObjectPages object, int page) {
        stranded.computeIfAbsent(object, none -> new BitSet()).set(page);
        strandedBytes += object.allocatedBytes(page);
    }

    /** True if the page was stranded: an extent counts it from now on. */
    private boolean unstrand(ObjectPages object, int page) {
        BitSet pages = stranded.get(object);
        if (pages == null || !pages.get(page)) {
            return false;
        }
        pages.clear(page);
        strandedBytes -= object.allocatedBytes(page);
        return true;
    }

    /** Removes the file of an object that has been forgotten. */
    void removeFile(ObjectPages object) throws IOException {
        lock.lock();
        try {
            noted(new ObjectRemoved(object.fileName()), () -> files.remove(object.dataFile()));
            BitSet pages = stranded.remove(object);
            if (pages != null) {
                long bytes = pages.stream().mapToLong(object::allocatedBytes).sum();
                usedBytes.addAndGet(-bytes);
                strandedBytes -= bytes;
            }
        } finally {
            lock.unlock();
        }
    }

    private interface Freeing {
        void run() throws IOException;
    }

    /**
     * Notes in the index that pages go before they do: else a crash between leaves records of pages that then look
     * damaged. On a full disk there is no room for the note until they are gone.
     */
    private void noted(IndexRecord entry, Freeing freeing) throws IOException {
        boolean noted = false;
        try {
            index.append(entry);
            noted = true;
        } catch (IOException e) {
            if (index.isClosed()) {
                throw e; // the folder may be another process's
            }
            log.debug("Not noted before it is freed: {}", entry, e);
        }
        freeing.run();
        if (!noted) {
            index.append(entry);
        }
    }

    /** False if no part of the file can be freed. */
    private boolean punch(ObjectPages object, Extent extent) throws IOException {
        if (extent.isEmpty()) {
            return true; // nothing of it was ever written
        }
        boolean[] punched = new boolean[1];
        noted(
                new PagesDropped(object.fileName(), extent.firstPage(), extent.allPages()),
                () -> punched[0] = punch(object, extent.firstPage(), extent.pages()));
        return punched[0];
    }

    private static boolean punch(ObjectPages object, int firstPage, int pages) throws IOException {
        if (object.wasLent()) {
            return false; // a program that has it mapped would read zeros; the whole file it keeps when its name goes
        }
        try {
            int last = firstPage + pages - 1;
            long start = PageGeometry.start(firstPage);
            object.file().punch(start, PageGeometry.start(last) + object.pageLength(last) - start);
            return true;
        } catch (NoSuchFileException e) {
            return true; // somebody else removed it: its space is free
        } catch (NoHolesException e) {
            return false;
        }
    }
}

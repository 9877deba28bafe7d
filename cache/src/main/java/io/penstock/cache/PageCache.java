package io.penstock.cache;

import io.penstock.cache.ObjectPages.Shared;
import io.penstock.cache.disk.CacheFolder;
import io.penstock.cache.disk.Counters;
import io.penstock.cache.disk.DataFiles;
import io.penstock.cache.disk.DiskSpace;
import io.penstock.cache.disk.DiskTasks;
import io.penstock.cache.disk.DiskUpkeep;
import io.penstock.cache.disk.Extent;
import io.penstock.cache.disk.IndexRecord;
import io.penstock.cache.disk.IndexReplay;
import io.penstock.cache.disk.ObjectExtents;
import io.penstock.cache.disk.ObjectFiles;
import io.penstock.cache.disk.ObjectId;
import io.penstock.cache.disk.ObjectTable;
import io.penstock.cache.disk.PackTable;
import io.penstock.cache.disk.Packs;
import io.penstock.cache.disk.PageGeometry;
import io.penstock.cache.disk.PageIndex;
import io.penstock.cache.disk.PageStore;
import io.penstock.cache.disk.PageWrites;
import io.penstock.cache.disk.PinTable;
import io.penstock.cache.disk.Pins;
import io.penstock.cache.disk.ReadShape;
import io.penstock.cache.disk.WholeFiles;
import io.penstock.core.ObjectVersion;
import io.penstock.disk.DataFolder;
import io.penstock.disk.DiskHealth;
import io.penstock.disk.RecordLog;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.BitSet;
import java.util.Collection;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The page cache of one mount: pages in memory and on NVMe. It wires the parts together and has a method for each of
 * the mount's requests. Safe for use by any number of threads.
 *
 * <p>A sick, full or slow disk makes reads slower, never wrong and never an error: its pages are then Missing.
 */
public final class PageCache implements AutoCloseable {
    /** Bytes per page; an object's last page ends with the object. */
    public static final int PAGE_SIZE = PageGeometry.PAGE_SIZE;

    /** Bytes per sector; a page has 16 sectors. */
    public static final int SECTOR_SIZE = PageGeometry.SECTOR_SIZE;

    private static final Logger log = LoggerFactory.getLogger(PageCache.class);

    /** Never counts as full: {@link DiskSpace} manages the space, so a write that finds none has simply failed. */
    private static final DiskHealth.Disk CACHE_DISK =
            new DiskHealth.Disk("The cache's disk", 3, "Continuing without it", _ -> false);

    private final CacheFolder folder;
    private final RecordLog<IndexRecord> indexLog;
    private final ObjectTable table = new ObjectTable(this::forgotten);
    private final Counters counters = new Counters();
    private final PageMemory memory;
    private final DiskHealth health;
    private final DiskTasks tasks;
    private final DiskSpace space;
    private final DiskUpkeep upkeep;
    private final PageStore store;
    private final PackTable packTable = new PackTable();
    private final PinTable pinTable = new PinTable();
    private final Pins pins;
    private final PageWrites writes;
    private final WholeFiles wholeFiles;
    private final Shared shared;
    private final int pagesPerExtent;

    private PageCache(
            CacheFolder folder,
            DataFolder dataFolder,
            RecordLog<IndexRecord> indexLog,
            CacheConfig config,
            Environment environment) {
        this.pagesPerExtent = environment.pagesPerExtent();
        this.health = new DiskHealth(CACHE_DISK, environment.nanoTime());
        this.tasks = new DiskTasks(health);
        PageIndex index = new PageIndex(indexLog, table, packTable, tasks);
        DataFiles files = new DataFiles(dataFolder, index);
        this.space = new DiskSpace(
                config.sizeBytes(),
                config.minFreeBytes(),
                environment.mostExtents(),
                files,
                table,
                packTable,
                pinTable,
                counters);
        this.pins = new Pins(folder, pinTable, space);
        this.upkeep = new DiskUpkeep(files, index, space, health, tasks, table, pins);
        this.folder = folder;
        this.indexLog = indexLog;
        this.memory = new PageMemory(config.memoryBytes(), environment.slabs());
        this.store = new PageStore(files, index, space, health, tasks, table, packTable, counters);
        this.writes = new PageWrites(
                store, newPacks(index), newPacks(index), pinTable, files, index, space, health, counters);
        this.wholeFiles = new WholeFiles(files, table, store);
        WriteBehind writeBehind = new WriteBehind(memory, writes, tasks, table, counters);
        this.shared = new Shared(table, memory, store, writeBehind, counters);
    }

    /**
     * Opens the cache folder and takes over the pages that earlier runs left Ready in it.
     *
     * @throws IOException with a message for the user if the folder is unusable or in use by another process
     */
    public static PageCache open(CacheConfig config) throws IOException {
        return open(config, Environment.local(config));
    }

    /**
     * What tests replace: the data files, the clock, the pages per extent, the maximum number of extents, the source of
     * memory, and the interval at which the free disk space is measured in addition to the checks at writes.
     */
    record Environment(
            FilesFactory files,
            LongSupplier nanoTime,
            int pagesPerExtent,
            int mostExtents,
            Supplier<Slab> slabs,
            Duration freeSpaceInterval) {
        Environment(FilesFactory files, LongSupplier nanoTime, int pagesPerExtent) {
            this(files, nanoTime, pagesPerExtent, Extent.most(), Slab::new, Duration.ofMinutes(1));
        }

        interface FilesFactory {
            DataFolder open(Path directory) throws IOException;
        }

        static Environment local(CacheConfig config) {
            return new Environment(ObjectFiles::in, System::nanoTime, pagesPerExtent(config.sizeBytes()));
        }

        /** {@link Extent#MAX_PAGES}, but fewer in a small cache: some 256 extents give the eviction policy a choice. */
        private static int pagesPerExtent(long cacheBytes) {
            long share = Math.clamp(cacheBytes / PAGE_SIZE / 256, 1, Extent.MAX_PAGES);
            return (int) Long.highestOneBit(share);
        }
    }

    static PageCache open(CacheConfig config, Environment environment) throws IOException {
        CacheFolder folder = CacheFolder.open(config.directory());
        try {
            folder.admit(config.audience());
            DataFolder files = environment.files().open(folder.path());
            PageCache cache = new PageCache(folder, files, folder.openIndex(), config, environment);
            cache.start(environment.freeSpaceInterval());
            return cache;
        } catch (IOException | RuntimeException e) {
            folder.close();
            throw e;
        }
    }

    private void start(Duration freeSpaceInterval) throws IOException {
        IndexReplay replay = new IndexReplay(pagesPerExtent, packTable);
        indexLog.replay(replay);
        Collection<ObjectExtents> objects = replay.objects();
        objects.forEach(table::add);
        pins.start(System.currentTimeMillis());
        upkeep.start(objects, freeSpaceInterval);
        space.measure();
    }

    /**
     * The pages of one object version, shared by all callers that have it open. The caller closes it.
     *
     * @param namespace separates keys of different buckets: endpoint and bucket
     */
    public CachedObject open(String namespace, ObjectVersion version) {
        return open(ObjectId.of(namespace, version), version, PageGeometry.PAGES);
    }

    /**
     * The same version in sectors: its pages have {@link #SECTOR_SIZE} bytes. Bytes that are cached in a version's
     * pages are not in its sectors, and vice versa; the caller decides where to fetch a byte.
     *
     * @param pages the version, {@linkplain #open opened}
     */
    public CachedObject openSectors(CachedObject pages) {
        return open(pages.id().ofSectors(), pages.version(), PageGeometry.SECTORS);
    }

    private CachedObject open(ObjectId id, ObjectVersion version, PageGeometry geometry) {
        ObjectPages pages = ObjectPages.of(retain(id, version.size(), geometry), shared);
        return new CachedObject(pages, new PageReads(pages, store, counters), store, wholeFiles, version);
    }

    private ObjectExtents retain(ObjectId id, long size, PageGeometry geometry) {
        return table.retain(id, () -> new ObjectExtents(id, size, geometry, pagesPerExtent));
    }

    private void forgotten(ObjectExtents object) {
        if (object.hasFile()) {
            store.removeFile(object);
        }
    }

    /** Whether the disk has no room for any page, because less than the configured minimum is free there. */
    public boolean keepsNothing() {
        return space.keepsNothing();
    }

    private Packs newPacks(PageIndex index) {
        return new Packs(this::newPack, table, packTable, store, index, space);
    }

    /** Retained. */
    private ObjectExtents newPack() {
        return retain(ObjectId.random(), Packs.bytes(pagesPerExtent), PageGeometry.PACKS);
    }

    /**
     * Drops the pages and sectors of a version that is no longer wanted; those in flight are left to their fills. Their
     * disk space is freed in the background. Waits while too many disk tasks are pending.
     */
    public void invalidate(String namespace, ObjectVersion version) throws InterruptedException {
        tasks.awaitFew();
        ObjectId id = ObjectId.of(namespace, version);
        store.discardPacked(id);
        discard(table.find(id));
        discard(table.find(id.ofSectors()));
    }

    private void discard(@Nullable ObjectExtents object) {
        if (object != null) {
            store.discard(object);
            object.discardFromMemory();
        }
    }

    /**
     * Stores a small object that is on disk again, from its copy there. If it is pinned by now, it moves next to other
     * pinned objects (ADR 30). Any other version stays as it is. Waits for the disk.
     */
    public void storeAgain(String namespace, ObjectVersion version) {
        ObjectId id = ObjectId.of(namespace, version);
        ObjectExtents object = retain(id, version.size(), PageGeometry.PAGES);
        try {
            writes.storeAgain(object);
        } finally {
            table.release(object);
        }
    }

    /** The pins: object versions that are never evicted. */
    public Pins pins() {
        return pins;
    }

    /** Where the bytes of a version are. Never waits, not even for the disk. */
    public Residency residency(String namespace, ObjectVersion version) {
        ObjectId id = ObjectId.of(namespace, version);
        return Residency.of(version.size(), store, id, table.find(id), table.find(id.ofSectors()));
    }

    /** How a version was read, as {@link CachedObject#readShape}, but without opening it. */
    public ReadShape readShape(String namespace, ObjectVersion version) {
        ObjectExtents object = table.find(ObjectId.of(namespace, version));
        return object == null ? ReadShape.UNKNOWN : object.readShape();
    }

    /** Whether an object of this size has its own file, to be lent or {@linkplain #adopt adopted}: a page or more. */
    public static boolean hasOwnFile(long objectBytes) {
        return !PageGeometry.isSmall(objectBytes);
    }

    /**
     * Takes over a file that holds pages of a new version: from now on those for which there is space are Ready.
     *
     * @param file with each page at its offset, as long as the object; on the cache folder's file system. It is gone
     *     after a takeover
     * @param pages the pages that the file holds completely. Others should take no space, as the cache does not count
     *     it
     * @param checksums CRC32C of each page, by page number
     * @return false if not: the version has pages already, the disk is sick, or {@linkplain #hasOwnFile none is used}
     */
    public boolean adopt(String namespace, ObjectVersion version, Path file, BitSet pages, int[] checksums) {
        ObjectId id = ObjectId.of(namespace, version);
        ObjectExtents object = retain(id, version.size(), PageGeometry.PAGES);
        try {
            return writes.adopt(object, file, pages, checksums);
        } finally {
            table.release(object);
        }
    }

    /**
     * Applies the size, the minimum free space and the memory of {@code config}. Pages beyond lower bounds are evicted
     * soon after, except those in use. Memory returns to the system at the JVM's next full garbage collection. Folder
     * and audience stay as they are.
     */
    public void adjust(CacheConfig config) {
        memory.setBudget(config.memoryBytes());
        space.adjust(config.sizeBytes(), config.minFreeBytes());
        upkeep.fit();
    }

    public CacheStatistics statistics() {
        return CacheStatistics.of(counters, health.errors(), memory.usedBytes(), space.usedBytes());
    }

    /**
     * Bytes of memory for pages, including those in flight to or from the disk. Shrinks where the JVM grants less than
     * requested, and changes with {@link #adjust}, so do not cache the value.
     */
    public long memoryBytes() {
        return memory.budgetBytes();
    }

    /** Whether this many bytes, or the maximum if that is less, could be claimed as {@link Urgency#LATER} now. */
    public boolean hasMemoryFor(long bytes) {
        return memory.hasForReadahead(bytes);
    }

    /** Whether pages are written to the disk: it is not sick, or it is time to try it again. */
    public boolean takesPages() {
        return writes.areAllowed();
    }

    /** Bytes that can be added and stay until they are read: free space, and the policy's share for new pages. */
    public long roomBytes() {
        return health.isWell() ? space.roomBytes() : 0;
    }

    /** For tests: waits until all pending writes and frees are done. */
    void awaitWritten() throws InterruptedException {
        upkeep.awaitIdle();
    }

    /** For tests: the number of objects that are open or have pages. */
    int objects() {
        return table.size();
    }

    /** For tests: memory in use. */
    long busyBytes() {
        return memory.busyBytes();
    }

    /** Waits, for a bounded time, until complete pages are on disk, then unlocks the folder. */
    @Override
    public void close() {
        wholeFiles.close();
        store.close();
        upkeep.close();
        try (folder;
                indexLog;
                pins) {
            log.debug("The cache in {} is closed", folder.path());
        } catch (IOException e) {
            log.warn("The cache folder {} could not be closed: {}", folder.path(), e.toString());
        }
    }
}

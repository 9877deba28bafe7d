/**
 * The page cache: 1 MiB pages in memory and on NVMe. Knows no S3.
 *
 * <p>A class uses only those of its own row and of the rows above it; memory and disk do not know each other.
 *
 * <pre>
 *   terms    PageGeometry, ReadShape, ObjectId, IndexRecord, CacheConfig, Counters, Urgency
 *   memory   Slab, Slabs, PageMemory, PageFrame
 *   disk     ObjectExtents, StoredPages, Extent, StoredPage, PackedPage, PackTable, ObjectTable, EvictionPolicy, DiskTasks,
 *            PageIndex, OpenPacks, DataFiles, DiskSpace, DiskUpkeep, PageStore, Packs, PageWrites, WholeFiles, Verifier
 *   pages    ObjectPages (frames over ObjectExtents), Fill, WriteBehind, PageReads, CachedObject, IndexReplay
 *   cache    CacheFolder, PageCache
 * </pre>
 */
@NullMarked
package io.penstock.cache;

import org.jspecify.annotations.NullMarked;

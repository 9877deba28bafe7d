/**
 * The page cache: 1 MiB pages in memory and on NVMe. Knows no S3.
 *
 * <p>A class uses only those of its own row and of the rows above it; memory and disk do not know each other.
 *
 * <pre>
 *   disk     the room of that name, with the terms of both: PageGeometry, ObjectId, ReadShape
 *   memory   Slab, Slabs, PageMemory, PageFrame
 *   pages    ObjectPages (frames over ObjectExtents), Fill, WriteBehind, PageReads, CachedObject, IndexReplay
 *   cache    PageCache
 * </pre>
 */
@NullMarked
package io.penstock.cache;

import org.jspecify.annotations.NullMarked;

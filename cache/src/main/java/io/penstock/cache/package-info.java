/**
 * The page cache: 1 MiB pages in memory and on NVMe. Knows no S3.
 *
 * <p>A class uses only classes in its own row and in the rows above; memory and disk do not know each other.
 *
 * <pre>
 *   disk     the package of that name, with the common terms: PageGeometry, ObjectId, ReadShape
 *   memory   Slab, Slabs, PageMemory, PageFrame
 *   pages    ObjectPages (frames beside ObjectExtents), Fill, WriteBehind, PageReads, CachedObject
 *   cache    PageCache
 * </pre>
 */
@NullMarked
package io.penstock.cache;

import org.jspecify.annotations.NullMarked;

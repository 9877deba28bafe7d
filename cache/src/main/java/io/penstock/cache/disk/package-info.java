/** The pages on disk: their index, files, space, eviction and pins. Knows nothing of pages in memory. */
@NullMarked
package io.penstock.cache.disk;

import org.jspecify.annotations.NullMarked;

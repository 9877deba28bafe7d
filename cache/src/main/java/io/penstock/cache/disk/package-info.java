/** The pages on disk: their index, files, space, eviction and pins. It knows no page in memory. */
@NullMarked
package io.penstock.cache.disk;

import org.jspecify.annotations.NullMarked;

/** Real mounts of buckets in memory, through every binding. */
@NullMarked
package io.penstock.fuse;

import org.jspecify.annotations.NullMarked;

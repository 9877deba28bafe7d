/** The directory tree rebuilt from the flat keys of a bucket, its caches, and inodes. */
@NullMarked
package io.penstock.metadata;

import org.jspecify.annotations.NullMarked;

/** POSIX semantics by inode and handle, composed of metadata, cache and prefetch. Knows no FUSE. */
@NullMarked
package io.penstock.filesystem;

import org.jspecify.annotations.NullMarked;

/**
 * The binding that speaks the kernel's own protocol over {@code /dev/fuse}: no libfuse, large requests, no thread for a
 * waiting request. Linux, protocol 7.31 (Linux 5.4) or newer.
 */
@NullMarked
package io.penstock.fuse.kernel;

import org.jspecify.annotations.NullMarked;

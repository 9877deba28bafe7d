/**
 * The portable binding: jnr-fuse's callbacks on libfuse 2, whose session runs on Java threads. jnr-fuse's own mount()
 * lets libfuse start and stop threads, and each callback on such a thread attaches it to the JVM and detaches it.
 */
@NullMarked
package io.penstock.fuse.jnr;

import org.jspecify.annotations.NullMarked;

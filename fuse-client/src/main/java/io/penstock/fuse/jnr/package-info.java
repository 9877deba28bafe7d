/**
 * The portable binding: jnr-fuse's callbacks on libfuse 2, whose session is run on Java's own threads. jnr-fuse as it
 * comes lets libfuse start and stop threads, and each callback on such a thread attaches it to the JVM and detaches it.
 */
@NullMarked
package io.penstock.fuse.jnr;

import org.jspecify.annotations.NullMarked;

/**
 * The FUSE bindings and the mount's lifecycle: thin adapters over {@code io.penstock.filesystem}.
 *
 * <p>The process that serves a mount must never map a file of it or load a class from it. A page fault stops a Java
 * thread in place. The garbage collector waits for that thread, and every thread that could reply waits for the
 * collector. Reading through channels and streams is safe: a thread in a system call blocks no other.
 */
@NullMarked
package io.penstock.fuse;

import org.jspecify.annotations.NullMarked;

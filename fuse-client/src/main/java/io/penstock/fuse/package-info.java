/**
 * The FUSE bindings and the mount's lifecycle: thin adapters over {@code io.penstock.filesystem}.
 *
 * <p>The process that serves a mount must never map a file of it or load a class from it. A page fault is taken by a
 * Java thread as it stands; the garbage collector waits for that thread, and with it every thread that could answer.
 * Reading through channels and streams is safe: a thread in a system call holds nothing up.
 */
@NullMarked
package io.penstock.fuse;

import org.jspecify.annotations.NullMarked;

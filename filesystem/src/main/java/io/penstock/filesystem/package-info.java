/**
 * POSIX semantics by inode and handle, on top of metadata, cache, prefetch and writeback. Independent of FUSE. Each
 * layer uses only those below it:
 *
 * <pre>
 *   FileSystem                                        one method for each call of the kernel
 *   Changes: AttributeChanges, FileChanges,
 *   OpenFileWrites                                    the calls that only a writable mount has
 *   Lookups, AttributeView, OpenFiles, Directories    the calls that look up, open and read
 *   the rooms names, files and kernel                 names and their changes; open files; the kernel
 * </pre>
 */
@NullMarked
package io.penstock.filesystem;

import org.jspecify.annotations.NullMarked;

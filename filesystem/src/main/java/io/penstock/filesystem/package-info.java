/**
 * POSIX semantics by inode and handle, composed of metadata, cache, prefetch and writeback. Knows no FUSE. In layers, each of
 * which uses those below it:
 *
 * <pre>
 *   FileSystem                                      one method for each call of the kernel
 *   Changes: NameChanges, Renames, FileChanges,
 *   OpenFileWrites                                  the calls that only a mount that can be written has
 *   Lookups, OpenFiles, Directories                 the calls that look up, open and read
 *   NamedInodes, NodeResolver, Removals             which inode a name has, what it stands for, whether it is being removed
 *   SharedFiles, SharedFile                         what the handles of one file share
 *   KernelView, Kernels                             what the kernel has of an inode, and what it is told
 * </pre>
 */
@NullMarked
package io.penstock.filesystem;

import org.jspecify.annotations.NullMarked;

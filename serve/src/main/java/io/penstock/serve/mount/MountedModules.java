package io.penstock.serve.mount;

import io.penstock.cache.PageCache;
import io.penstock.filesystem.FileSystem;
import io.penstock.metadata.Tree;
import io.penstock.prefetch.PageFetcher;
import io.penstock.writeback.Writeback;
import org.jspecify.annotations.Nullable;

/**
 * The parts of a mount that serve its bucket.
 *
 * @param links the symbolic links that paths of commands follow
 * @param namespace the namespace of the bucket's pages in the cache
 * @param writeback null if the mount is read-only
 * @param sharing null if the mount shares nothing
 */
record MountedModules(
        Tree tree,
        PageCache cache,
        PageFetcher fetcher,
        FileSystem files,
        SymbolicLinks links,
        String namespace,
        @Nullable Writeback writeback,
        @Nullable Sharing sharing) {}

package io.penstock.filesystem;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.penstock.filesystem.OpenFile.PageCachePolicy;
import org.jspecify.annotations.Nullable;

/**
 * Which version's bytes the kernel's page cache may hold of each inode. The kernel keeps pages by inode and knows no
 * versions: each open says what becomes of them. What is said here:
 *
 * <ul>
 *   <li>a version is opened for caching: the inode's pages are of this version from then on, those before are dropped;
 *   <li>it is opened again: its pages are kept, once it is certain that the drop has happened (the kernel reads or
 *       releases through a handle only after it has taken note of the open's answer);
 *   <li>another version is opened while this one is open: it is read past the page cache;
 *   <li>the version is changed through the kernel, which keeps its pages right: they are of something that has no ETag,
 *       and then of the version that it was committed as.
 * </ul>
 *
 * <p>Outlives the last close and, for as long as numbers come back, the inode: a binding by paths forgets inodes early.
 * To know nothing of an inode is safe, it only drops pages for nothing. Safe for use by any number of threads.
 */
final class KernelPages {
    /** Inodes that are not open but remembered. */
    private static final int REMEMBERED = 50_000;

    /** Only changed within compute. What is open weighs nothing, which exempts it from eviction. */
    private final Cache<Long, Pages> inodes = Caffeine.newBuilder()
            .maximumWeight(REMEMBERED)
            .weigher((Long inode, Pages pages) -> pages.opens == 0 ? 1 : 0)
            .executor(Runnable::run)
            .build();

    /**
     * @param etag the version that the pages are of, or a name for what no version is
     * @param opens how many handles cache that version now
     * @param settled whether pages of other versions are gone for sure
     */
    private record Pages(String etag, int opens, boolean settled) {
        /** What to tell the kernel when this version is opened. */
        static PageCachePolicy policy(@Nullable Pages pages, String etag) {
            if (pages == null) {
                return PageCachePolicy.INVALIDATE;
            } else if (pages.etag.equals(etag)) {
                return pages.settled ? PageCachePolicy.KEEP : PageCachePolicy.INVALIDATE;
            }
            return pages.opens == 0 ? PageCachePolicy.INVALIDATE : PageCachePolicy.BYPASS;
        }

        Pages settle() {
            return settled ? this : new Pages(etag, opens, true);
        }
    }

    /** A file is opened. Unless the answer is BYPASS, {@link #close} must follow. */
    PageCachePolicy open(long inode, String etag) {
        PageCachePolicy[] policy = new PageCachePolicy[1];
        inodes.asMap().compute(inode, (number, pages) -> {
            policy[0] = Pages.policy(pages, etag);
            return switch (policy[0]) {
                case BYPASS -> pages;
                case KEEP, INVALIDATE -> {
                    boolean same = pages != null && pages.etag.equals(etag);
                    yield same ? new Pages(etag, pages.opens + 1, pages.settled) : new Pages(etag, 1, false);
                }
            };
        });
        return policy[0];
    }

    /** A handle that was opened for caching is read through for the first time. */
    void confirm(long inode) {
        inodes.asMap().computeIfPresent(inode, (number, pages) -> pages.settle());
    }

    /** What was this version, or is written and has this name, is that one now, with the pages that it has. */
    void becomes(long inode, String etag, String next) {
        inodes.asMap()
                .computeIfPresent(
                        inode,
                        (number, pages) ->
                                pages.etag.equals(etag) ? new Pages(next, pages.opens, pages.settled) : pages);
    }

    /** A handle that was opened for caching is closed. */
    void close(long inode) {
        inodes.asMap().computeIfPresent(inode, (number, pages) -> new Pages(pages.etag, pages.opens - 1, true));
    }
}

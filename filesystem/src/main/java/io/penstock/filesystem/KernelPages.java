package io.penstock.filesystem;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.penstock.filesystem.OpenFile.PageCachePolicy;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Where the kernel has the bytes of each inode from, beside asking: from its own pages, or from a file of the cache. The
 * kernel knows inodes and no versions: each open says what becomes of its pages. What is said here:
 *
 * <ul>
 *   <li>a version is opened for caching: the inode's pages are of this version from then on, those before are dropped;
 *   <li>it is opened again: its pages are kept, once it is certain that the drop has happened (the kernel reads or
 *       releases through a handle only after it has taken note of the open's answer);
 *   <li>another version is opened while this one is open: it is read past the page cache;
 *   <li>the version is changed through the kernel, which keeps its pages right: they are of something that is no version,
 *       and then of the version that it was committed as;
 *   <li>a version is opened whose file is whole, and the inode is not open for caching: it is passed through, and so is
 *       every further open, of the same file. Another version cannot be opened under this number then.
 * </ul>
 *
 * <p>That an inode is either cached or passed through while it is open, and the latter from one file only, is the
 * kernel's rule (fs/fuse/iomode.c): it answers EIO to an open that breaks it. So a file that becomes whole while it is
 * open is passed through after its last close. What is being written has a name that no file of the cache has, so that it
 * is never passed through; an inode that is passed through cannot be opened for writing: its name gets another.
 *
 * <p>The same holds of the listings that it keeps of directories, with a listing's edition for a version.
 *
 * <p>Outlives the last close and, for as long as numbers come back, the inode: a binding by paths forgets inodes early.
 * To know nothing of an inode is safe, it only drops pages for nothing. Safe for use by any number of threads.
 */
final class KernelPages {
    /** Inodes that are not open but remembered. */
    private static final int REMEMBERED = 50_000;

    /** No version has this name. */
    private static final String NO_VERSION = "";

    /** Only changed within compute. What is open weighs nothing, which exempts it from eviction. */
    private final Cache<Long, State> inodes = Caffeine.newBuilder()
            .maximumWeight(REMEMBERED)
            .weigher((Long inode, State state) -> state.opens() == 0 ? 1 : 0)
            .executor(Runnable::run)
            .build();

    /** So that nobody looks for what is not there. Changed with {@link #inodes}. */
    private final AtomicInteger passedThrough = new AtomicInteger();

    private sealed interface State {
        int opens();
    }

    /**
     * @param name the identity of the version that the pages are of, or a name for what no version is
     * @param opens how many handles cache that version now
     * @param settled whether pages of other versions are gone for sure
     */
    private record Cached(String name, int opens, boolean settled) implements State {
        /** What to tell the kernel when this version is opened. */
        static PageCachePolicy policy(@Nullable Cached pages, String name) {
            if (pages == null) {
                return PageCachePolicy.INVALIDATE;
            } else if (pages.name.equals(name)) {
                return pages.settled ? PageCachePolicy.KEEP : PageCachePolicy.INVALIDATE;
            }
            return pages.opens == 0 ? PageCachePolicy.INVALIDATE : PageCachePolicy.BYPASS;
        }

        /** One more handle caches this version. */
        static Cached open(@Nullable Cached pages, String name) {
            return pages != null && pages.name.equals(name)
                    ? new Cached(name, pages.opens + 1, pages.settled)
                    : new Cached(name, 1, false);
        }

        Cached settle() {
            return settled ? this : new Cached(name, opens, true);
        }
    }

    /** @param opens how many handles have the file; above 0 */
    private record PassedThrough(BackingFile file, int opens) implements State {}

    /** Whether an inode that is open already allows that this open is the first to be passed through. */
    boolean mayPassThrough(long inode) {
        State state = inodes.asMap().get(inode);
        return state == null || state.opens() == 0;
    }

    /**
     * A file is opened. Unless the answer is BYPASS or null, {@link #close} must follow.
     *
     * @param file to be used if this is the first open that is passed through; null if there is none
     * @return null if another version is passed through under this number: this one needs another
     */
    @Nullable
    PageCachePolicy open(long inode, String name, @Nullable BackingFile file) {
        @Nullable PageCachePolicy[] policy = new @Nullable PageCachePolicy[1];
        inodes.asMap().compute(inode, (number, state) -> {
            if (state instanceof PassedThrough passed) {
                boolean same = passed.file.object().version().identity().equals(name);
                policy[0] = same ? PageCachePolicy.PASS_THROUGH : null;
                return same ? new PassedThrough(passed.file, passed.opens + 1) : passed;
            }
            Cached pages = state instanceof Cached cached ? cached : null;
            if (file != null && (pages == null || pages.opens == 0)) {
                policy[0] = PageCachePolicy.PASS_THROUGH;
                passedThrough.incrementAndGet();
                return new PassedThrough(file, 1);
            }
            PageCachePolicy cached = Cached.policy(pages, name);
            policy[0] = cached;
            return cached == PageCachePolicy.BYPASS ? state : Cached.open(pages, name);
        });
        return policy[0];
    }

    /** {@link #open} of a directory. */
    PageCachePolicy openListing(long inode, String edition) {
        return Objects.requireNonNull(open(inode, edition, null), "a directory is never passed through");
    }

    /** The file that this inode is passed through to now: null if it is not. */
    @Nullable
    BackingFile backingFile(long inode) {
        if (passedThrough.get() == 0) {
            return null;
        }
        return inodes.asMap().get(inode) instanceof PassedThrough(BackingFile file, int _) ? file : null;
    }

    /** The version that the inode's pages are of, or what {@link #open} was told instead of one: null if nobody knows. */
    @Nullable
    String version(long inode) {
        return inodes.asMap().get(inode) instanceof Cached pages ? pages.name : null;
    }

    /** {@link #version} of an inode that is open: null if it is not, or only past its pages. */
    @Nullable
    String openVersion(long inode) {
        return inodes.asMap().get(inode) instanceof Cached pages && pages.opens > 0 ? pages.name : null;
    }

    /** The kernel has nothing of an inode that is not open. */
    void forget(long inode) {
        inodes.asMap().computeIfPresent(inode, (number, state) -> state.opens() == 0 ? null : state);
    }

    /** What was this version, or is written and has this name, is that one now, with the pages that it has. */
    void becomes(long inode, String name, String next) {
        inodes.asMap()
                .computeIfPresent(
                        inode,
                        (number, state) -> state instanceof Cached pages && pages.name.equals(name)
                                ? new Cached(next, pages.opens, pages.settled)
                                : state);
    }

    /** How many inodes are passed through. */
    int backingFiles() {
        return passedThrough.get();
    }

    /** Whether anybody has the inode open, but past its pages. */
    boolean isOpen(long inode) {
        State state = inodes.asMap().get(inode);
        return state != null && state.opens() > 0;
    }

    /** The pages may be of any version. */
    void distrust(long inode) {
        inodes.asMap()
                .computeIfPresent(
                        inode,
                        (number, state) ->
                                state instanceof Cached pages ? new Cached(NO_VERSION, pages.opens, true) : state);
    }

    /** A handle that was opened for caching is read through for the first time. */
    void confirm(long inode) {
        inodes.asMap()
                .computeIfPresent(inode, (number, state) -> state instanceof Cached pages ? pages.settle() : state);
    }

    /**
     * A handle that was opened for caching or passed through is closed.
     *
     * @return the file that nothing is passed through to any more: the caller's to close
     */
    @Nullable
    BackingFile close(long inode) {
        @Nullable BackingFile[] unused = new @Nullable BackingFile[1];
        inodes.asMap().computeIfPresent(inode, (number, state) -> switch (state) {
            case Cached(String name, int opens, boolean _) -> new Cached(name, opens - 1, true);
            case PassedThrough(BackingFile file, int opens) when opens > 1 -> new PassedThrough(file, opens - 1);
            case PassedThrough(BackingFile file, int _) -> {
                unused[0] = file;
                passedThrough.decrementAndGet();
                yield null;
            }
        });
        return unused[0];
    }
}

package io.penstock.filesystem.kernel;

import static io.penstock.filesystem.kernel.Known.isOpen;

import io.penstock.core.ObjectVersion;
import io.penstock.filesystem.kernel.KernelContent.Version;
import io.penstock.filesystem.kernel.KernelContent.Written;
import io.penstock.filesystem.kernel.Known.Cached;
import io.penstock.filesystem.kernel.Known.PassedThrough;
import io.penstock.filesystem.kernel.Known.Shown;
import io.penstock.filesystem.kernel.OpenFile.PageCachePolicy;
import io.penstock.metadata.Absent;
import io.penstock.metadata.Answer;
import io.penstock.metadata.Directory;
import io.penstock.metadata.FileEntry;
import io.penstock.metadata.Inode;
import io.penstock.metadata.Inode.Place;
import io.penstock.metadata.InodeTable;
import io.penstock.metadata.LiveFile;
import io.penstock.metadata.Node;
import io.penstock.objectstore.StoredObject;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * What the kernel has of each inode: attributes, pages, or a cache file that it reads directly. Each inode carries its
 * state: {@link InodeTable} is the only table of it.
 *
 * <pre>
 *     nothing ──lookup, getattr──▶ Shown ──open──▶ Cached: content, opens ──closed, and another is looked up──▶ Shown
 *                                    │                ▲ written to, committed or renamed: of the new content
 *                                    └──open of a whole file──▶ PassedThrough: file, opens ──last close──▶ Shown
 *
 *     each, once closed ──notice that it is wrong──▶ nothing
 * </pre>
 *
 * <p>The kernel has one set of pages and one size for an inode. So an inode represents one content while it is open or,
 * if the kernel keeps sizes itself, for as long as the kernel knows the inode. Another version gets another inode. A
 * kernel that works by paths cannot be given another inode: it reads the other version past its pages.
 *
 * <ul>
 *   <li>A content is opened: pages of any other content are dropped. It is opened again: its pages are kept if the drop
 *       is known to have happened. The kernel uses a handle only after it has seen the reply to the open.
 *   <li>The content is changed through the kernel, which keeps its pages correct. They belong to the {@link Written}
 *       content, and after its commit to the new version.
 *   <li>A version is opened whose file is whole, and the inode is not open: it is passed through, and so are all
 *       further opens, with the same file.
 * </ul>
 *
 * <p>An open inode is either cached or passed through, and passed through to one file only: the kernel answers EIO to
 * an open that breaks this (fs/fuse/iomode.c). So a file that becomes whole while it is open is passed through after
 * its last close, and a file that is passed through cannot be written under its inode.
 *
 * <p>Thread-safe.
 */
public final class KernelView {
    private final InodeTable inodes;
    private final Kernels kernels;
    private final boolean keepsSizes;

    /** The number of inodes that are passed through. */
    private final AtomicInteger backingFiles = new AtomicInteger();

    /** @param keepsSizes {@code FileSystemConfig.kernelKeepsSizes} */
    public KernelView(InodeTable inodes, Kernels kernels, boolean keepsSizes) {
        this.inodes = inodes;
        this.kernels = kernels;
        this.keepsSizes = keepsSizes;
    }

    /** The reply to an open. */
    public record Opened(PageCachePolicy policy, @Nullable BackingFile file) {}

    private static @Nullable Known known(Inode inode) {
        return (Known) inode.kernelState(); // there are no others
    }

    private static void change(Inode inode, UnaryOperator<@Nullable Known> transition) {
        synchronized (inode) {
            inode.kernelState(transition.apply(known(inode)));
        }
    }

    // ---- what an inode can represent

    /** Whether an inode can represent the node that its name has now. */
    public enum Fit {
        SAME,
        /** Yes, but the kernel has attributes from a former process: it must ask for them again. */
        UNKNOWN,
        /** Yes, but the kernel may have the size of another version: it must look the name up again. */
        OUTDATED,
        /** No, it represents another version: the name must get another inode. */
        ANOTHER
    }

    public Fit fit(Inode inode, Node node) {
        Known state = known(inode);
        Version version = node instanceof FileEntry(StoredObject object) ? KernelContent.of(object.version()) : null;
        if (state instanceof PassedThrough passed) {
            return version != null && passed.isOf(version) ? Fit.SAME : Fit.ANOTHER;
        } else if (version == null || inode.isDirectory() || (state != null && state.isOf(version))) {
            return Fit.SAME;
        } else if (keepsSizes || (isOpen(state) && kernels.goByInode())) {
            return Fit.ANOTHER;
        }
        return !kernels.goByInode() ? Fit.SAME : Shown.INHERITED.equals(state) ? Fit.UNKNOWN : Fit.OUTDATED;
    }

    /** Whether new content at its name needs another inode, as this one is being read, or the kernel keeps its size. */
    public boolean isTaken(Inode inode) {
        return keepsSizes || openContent(inode) != null;
    }

    /** The inode's open content that the kernel reads directly or has pages of: null if there is none. */
    public @Nullable KernelContent openContent(Inode inode) {
        return switch (known(inode)) {
            case Cached(KernelContent content, int opens, boolean _) when opens > 0 && kernels.goByInode() -> content;
            case PassedThrough(BackingFile _, Version content, int _) -> content;
            case null, default -> null;
        };
    }

    public boolean isPassedThrough(Inode inode) {
        return backingFiles.get() > 0 && known(inode) instanceof PassedThrough;
    }

    /** The id of the cache file that the kernel reads directly under this inode: 0 if there is none. */
    public int backing(Inode inode) {
        return known(inode) instanceof PassedThrough passed ? passed.file().id() : 0;
    }

    /** A former process has shown a version of this file. */
    public void inherited(Inode inode) {
        change(inode, state -> state == null ? Shown.INHERITED : state);
    }

    // ---- lookups

    /** The node was looked up. */
    public void lookedUp(Inode inode, Node node) {
        switch (node) {
            case Directory _ -> change(inode, state -> state == null ? Shown.DIRECTORY : state);
            case FileEntry(StoredObject object) -> lookedUp(inode, KernelContent.of(object.version()));
            case LiveFile live -> lookedUp(inode, ((KernelContent.Holder) live).kernelContent()); // all are
        }
    }

    private static void lookedUp(Inode inode, KernelContent content) {
        synchronized (inode) {
            Known state = known(inode);
            boolean stays = isOpen(state) || (state != null && state.isOf(content));
            inode.kernelState(stays ? state : Known.shown(content));
        }
    }

    /**
     * The kernel's attributes of the inode may be those of another version. After ESTALE it looks the name up again, but
     * a file that is a mount point, as in a container, has no name there: an open then asks for the attributes, if the
     * kernel has none (fuse_permission in fs/fuse/dir.c).
     */
    public void mustAskAgain(Inode inode) {
        kernels.dropAttributes(inode.number());
    }

    /** The node's attributes were requested by inode. A kernel that keeps sizes ignores those of a version. */
    public void asked(Inode inode, Node node) {
        if (!keepsSizes || node instanceof LiveFile) {
            lookedUp(inode, node);
        }
    }

    // ---- opens

    /** Whether the next open can be the first that is passed through. */
    public boolean mayPassThrough(Inode inode) {
        return !isOpen(known(inode));
    }

    /**
     * A file or a directory is opened. Unless the policy is BYPASS, {@link #close} must follow.
     *
     * @param file used if this is the first open that is passed through; null if there is none
     * @return null if other content is passed through under this inode: this content needs another inode
     */
    public @Nullable Opened open(Inode inode, KernelContent content, @Nullable BackingFile file) {
        synchronized (inode) {
            Known state = known(inode);
            boolean isSame = state != null && state.isOf(content);
            if (state instanceof PassedThrough passed) {
                inode.kernelState(isSame ? passed.opened(1) : passed);
                return isSame ? new Opened(PageCachePolicy.PASS_THROUGH, passed.file()) : null;
            } else if (file != null && content instanceof Version version && !isOpen(state)) {
                backingFiles.incrementAndGet();
                inode.kernelState(new PassedThrough(file, version, 1));
                return new Opened(PageCachePolicy.PASS_THROUGH, file);
            } else if (isOpen(state) && !isSame) {
                return new Opened(PageCachePolicy.BYPASS, null);
            }
            inode.kernelState(Known.cached(state, content));
            boolean isKept = isSame && state instanceof Cached cached && cached.settled();
            return new Opened(isKept ? PageCachePolicy.KEEP : PageCachePolicy.INVALIDATE, null);
        }
    }

    /** A handle that was opened for caching is read for the first time. */
    public void read(Inode inode) {
        change(inode, state -> state instanceof Cached some ? new Cached(some.content(), some.opens(), true) : state);
    }

    /**
     * A handle that was opened for caching or passed through is closed.
     *
     * @return the file if nothing is passed through to it now: the caller must close it
     */
    public @Nullable BackingFile close(Inode inode) {
        synchronized (inode) {
            Known state = known(inode);
            if (state instanceof Cached(KernelContent content, int opens, boolean _)) {
                inode.kernelState(new Cached(content, opens - 1, true));
            } else if (state instanceof PassedThrough(BackingFile file, Version content, int opens) && opens == 1) {
                inode.kernelState(Known.shown(content));
                backingFiles.decrementAndGet();
                return file;
            } else if (state instanceof PassedThrough passed) {
                inode.kernelState(passed.opened(-1));
            }
            return null;
        }
    }

    /** The number of inodes that are passed through. */
    public int backingFiles() {
        return backingFiles.get();
    }

    // ---- commits, renames, listings

    /** The content has become another, and what the kernel caches of the first is valid for the second. */
    public void becomes(Inode inode, KernelContent before, KernelContent after) {
        change(inode, state -> switch (state) {
            case Cached(KernelContent content, int opens, boolean settled)
            when content.equals(before) -> new Cached(after, opens, settled);
            case PassedThrough(BackingFile file, Version content, int opens)
            when content.equals(before) && after instanceof Version copy -> new PassedThrough(file, copy, opens);
            case Shown shown when shown.isOf(before) -> Known.shown(after);
            case null, default -> state;
        });
    }

    /** The kernel's copy of a listing may be a mix of several. */
    public void mixed(Inode directory) {
        change(
                directory,
                state -> state instanceof Cached(KernelContent _, int opens, boolean _)
                        ? new Cached(KernelContent.MIXED, opens, true)
                        : state);
    }

    // ---- notices

    /** The store has reported what a name refers to. */
    public void onStoreResponse(Directory parent, String name, Answer answer) {
        Inode inode = inodes.find(parent, name);
        if (inode != null && isWrong(inode, answer)) {
            drop(inode, answer instanceof Node node && inode.isDirectory() == node instanceof Directory);
        }
    }

    /** Content that is being written here takes precedence over the store's response. */
    private static boolean isWrong(Inode inode, Answer answer) {
        Known state = known(inode);
        if (state == null || (state instanceof Cached cached && cached.content() instanceof Written)) {
            return false;
        } else if (Shown.INHERITED.equals(state) && answer instanceof FileEntry) {
            return false; // its next open makes the kernel ask
        }
        return switch (answer) {
            case Absent _ -> true;
            case Directory _ -> !inode.isDirectory();
            case FileEntry(StoredObject object) -> !state.isOf(KernelContent.of(object.version()));
            case LiveFile _ -> false; // the store knows of none
        };
    }

    /**
     * The store no longer has this version.
     *
     * @param isGone whether it has no other version either
     */
    public void isStale(Inode inode, ObjectVersion version, boolean isGone) {
        Known state = known(inode);
        if (state != null && state.isOf(KernelContent.of(version))) {
            drop(inode, !isGone);
        }
    }

    /** The written content is lost: the kernel's size and pages are from that content. */
    public void isLost(Inode inode) {
        drop(inode, true);
    }

    /** The pages of an open file are kept: its readers continue with the version that they opened. */
    private void drop(Inode inode, boolean nameStands) {
        boolean wasOpen;
        synchronized (inode) {
            Known state = known(inode);
            wasOpen = isOpen(state);
            inode.kernelState(wasOpen ? state : null);
        }
        boolean isFile = !inode.isDirectory();
        kernels.dropInode(inode, !(isFile && wasOpen));
        Place place = inode.place();
        // An inode that represents only its version is replaced by another one.
        if (place != null && (!nameStands || (isFile && (keepsSizes || wasOpen)))) {
            kernels.dropName(place);
        }
    }
}

package io.penstock.filesystem;

import io.penstock.core.ObjectVersion;
import io.penstock.metadata.Absent;
import io.penstock.metadata.Answer;
import io.penstock.metadata.Directory;
import io.penstock.metadata.FileEntry;
import io.penstock.metadata.Inode;
import io.penstock.metadata.Inode.Place;
import io.penstock.metadata.InodeTable;
import io.penstock.metadata.LiveFile;
import io.penstock.metadata.Node;
import io.penstock.metadata.Shown;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * Tells kernels when what they were shown has turned out to be wrong before its time: another version of an object, or
 * none, was seen in a listing, by a request for its name, or by a read that failed. Safe for use by any number of threads.
 */
final class KernelNews {
    private final InodeTable inodes;
    private final KernelPages pages;
    private final boolean kernelKeepsSizes;
    private final List<KernelCache> kernels = new CopyOnWriteArrayList<>();

    /** @param kernelKeepsSizes as {@link FileSystemConfig} has it */
    KernelNews(InodeTable inodes, KernelPages pages, boolean kernelKeepsSizes) {
        this.inodes = inodes;
        this.pages = pages;
        this.kernelKeepsSizes = kernelKeepsSizes;
    }

    /** @return what ends it */
    Runnable tell(KernelCache kernel) {
        kernels.add(kernel);
        return () -> kernels.remove(kernel);
    }

    /** Whether the kernel that is served goes by inodes, and looks a name up again when told that one is stale. */
    boolean isHeardByInode() {
        return !kernels.isEmpty();
    }

    /** The store has said what a name stands for. */
    void heard(Directory parent, String name, Answer answer) {
        Inode inode = inodes.find(parent, name);
        if (inode != null && inodes.retract(inode, shown -> !isSame(shown, answer))) {
            drop(inode, isSameKind(inode, answer));
        }
    }

    /**
     * The store has no longer this version.
     *
     * @param gone whether it has no other
     */
    void isStale(Inode inode, ObjectVersion version, boolean gone) {
        if (inodes.retract(inode, shown -> isVersion(shown, version))) {
            drop(inode, !gone);
        }
    }

    /** What was written is lost: the kernel's size and pages are of that, whether it was shown or not. */
    void isLost(Inode inode) {
        boolean _ = inodes.retract(inode, _ -> true);
        drop(inode, true);
    }

    private void drop(Inode inode, boolean nameStands) {
        // Those who have it open read their version's pages for as long as they are there.
        boolean dropPages = !pages.isOpen(inode.number());
        // What stands for its version alone is followed by another inode.
        boolean isOneVersion = !inode.isDirectory() && (kernelKeepsSizes || pages.isOpen(inode.number()));
        boolean dropName = !nameStands || isOneVersion;
        for (KernelCache kernel : kernels) {
            kernel.dropInode(inode.number(), dropPages);
        }
        Place place = inode.place();
        if (dropName && place != null) {
            dropName(place);
        }
    }

    /** The name stands for another inode, or for none. */
    void dropName(Place place) {
        Inode parent = inodes.find(place.parent());
        if (parent != null) {
            kernels.forEach(kernel -> kernel.dropName(parent.number(), place.name()));
        }
    }

    /**
     * Times are left out: that of what was written here is this machine's. What is written here and not committed is right,
     * whatever the store says.
     */
    private static boolean isSame(Shown shown, Answer answer) {
        if (shown instanceof Shown.Live(SharedFile file) && file.version() == null && file.links() > 0) {
            return true;
        }
        return switch (answer) {
            case Absent _ -> false;
            case Directory _ -> shown == Shown.AnyDirectory.DIRECTORY;
            case FileEntry(var object) -> isVersion(shown, object.version());
            case LiveFile _ -> true; // the store knows of none
        };
    }

    /** Whether this was shown of that version. */
    static boolean isVersion(Shown shown, ObjectVersion version) {
        return switch (shown) {
            case Shown.AnyDirectory _ -> false;
            case Shown.Version known -> known.isOf(version);
            case Shown.Live(LiveFile live) -> {
                ObjectVersion known = ((SharedFile) live).version(); // there are no others
                yield known != null && known.identity().equals(version.identity()) && known.size() == version.size();
            }
        };
    }

    boolean kernelsForgetDirectories() {
        return kernels.stream().allMatch(KernelCache::forgetsDirectories);
    }

    /** Has kernels forget names that nobody uses: they look them up again when somebody does. */
    void forget(List<Inode> unused) {
        for (Inode inode : unused) {
            Place place = inode.place();
            Inode parent = place == null ? null : inodes.find(place.parent());
            if (place != null && parent != null) {
                kernels.forEach(kernel -> kernel.forget(inode.number(), parent.number(), place.name()));
            }
        }
    }

    private static boolean isSameKind(Inode inode, Answer answer) {
        return answer instanceof Node node && inode.isDirectory() == node instanceof Directory;
    }
}

package io.penstock.filesystem;

import io.penstock.core.ObjectVersion;
import io.penstock.metadata.Absent;
import io.penstock.metadata.Answer;
import io.penstock.metadata.Directory;
import io.penstock.metadata.FileEntry;
import io.penstock.metadata.Inode;
import io.penstock.metadata.InodeTable;
import io.penstock.metadata.Node;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/**
 * Tells kernels when what they were shown has turned out to be wrong before its time: another version of an object, or
 * none, was seen in a listing, by a request for its name, or by a read that failed. Safe for use by any number of threads.
 */
final class KernelNews {
    private final InodeTable inodes;
    private final OpenFiles files;
    private final List<KernelCache> kernels = new CopyOnWriteArrayList<>();

    KernelNews(InodeTable inodes, OpenFiles files) {
        this.inodes = inodes;
        this.files = files;
    }

    /** @return what ends it */
    Runnable tell(KernelCache kernel) {
        kernels.add(kernel);
        return () -> kernels.remove(kernel);
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

    private void drop(Inode inode, boolean nameStands) {
        // Those who have it open read their version's pages for as long as they are there.
        boolean dropPages = !files.isOpen(inode.number());
        // What is passed through stands for its version alone: the name gets another inode.
        boolean dropName = !nameStands || files.passedThrough(inode.number()) != null;
        Inode parent = inode.parent() == null ? null : inodes.find(inode.parent());
        for (KernelCache kernel : kernels) {
            kernel.dropInode(inode.number(), dropPages);
            if (dropName && parent != null) {
                kernel.dropName(parent.number(), inode.name());
            }
        }
    }

    /** Times are left out: listings tell milliseconds, answers about one object whole seconds. */
    private static boolean isSame(Node shown, Answer answer) {
        return switch (answer) {
            case Absent _ -> false;
            case Directory _ -> shown instanceof Directory;
            case FileEntry(var object) -> isVersion(shown, object.version());
        };
    }

    private static boolean isVersion(@Nullable Node shown, ObjectVersion version) {
        return shown instanceof FileEntry(var object)
                && object.version().etag().equals(version.etag())
                && object.version().size() == version.size();
    }

    private static boolean isSameKind(Inode inode, Answer answer) {
        return answer instanceof Node node && inode.isDirectory() == node instanceof Directory;
    }
}

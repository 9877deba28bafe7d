package io.penstock.filesystem.names;

import io.penstock.core.Errno;
import io.penstock.core.ErrnoException;
import io.penstock.filesystem.files.SharedFile;
import io.penstock.filesystem.files.SharedFiles;
import io.penstock.filesystem.kernel.Errnos;
import io.penstock.filesystem.names.MovingDirectories.Call;
import io.penstock.metadata.Absent;
import io.penstock.metadata.Directory;
import io.penstock.metadata.Inode;
import io.penstock.metadata.Inode.Place;
import io.penstock.metadata.InodeTable;
import io.penstock.metadata.Tree;
import io.penstock.objectstore.SharedRequests;
import io.penstock.writeback.WrittenFile;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.jspecify.annotations.Nullable;

/**
 * Names that files lose, to a removal or to another file. While a name is being removed, the tree hides it: nothing can
 * be opened by it, and a call that needs it waits. Thread-safe.
 */
final class Removals {
    private final Tree tree;
    private final InodeTable inodes;
    private final SharedFiles files;

    /** Completed with true if the name was removed. */
    private final ConcurrentMap<Place, CompletableFuture<Boolean>> running = new ConcurrentHashMap<>();

    Removals(InodeTable inodes, SharedFiles files) {
        this.tree = files.tree();
        this.inodes = inodes;
        this.files = files;
    }

    /**
     * Hides the name and runs its removal. If that fails, the name shows again.
     *
     * @param removal removes a file that can no longer be opened, or throws if nothing has changed. It returns false if
     *     it leaves the removal to another thread, which must then call {@link #end}
     * @throws ErrnoException the removal's; ENOENT if another call removes the name
     */
    void remove(Directory parent, String name, Call<Boolean> removal) throws ErrnoException {
        Place place = new Place(parent, name);
        if (running.putIfAbsent(place, new CompletableFuture<>()) != null) {
            throw new NoEntryException(place.key(), 0);
        }
        tree.overlay(parent, name, Absent.ABSENT);
        boolean removed = false;
        boolean isLeft = false;
        try {
            removed = removal.run();
            isLeft = !removed;
        } finally {
            if (!isLeft) {
                end(place, removed);
            }
        }
    }

    /** The removal has ended; if it failed, the name shows again. May be called by any thread. */
    void end(Place place, boolean removed) {
        CompletableFuture<Boolean> ended = running.get(place);
        running.computeIfPresent(place, (_, _) -> {
            tree.uncover(place.parent(), place.name(), Absent.ABSENT);
            return null;
        });
        if (ended != null) {
            ended.complete(removed);
        }
    }

    /**
     * Waits for the removal of the name, if one is running.
     *
     * @throws ErrnoException ESTALE if the removal failed: the kernel then looks the name up again
     */
    void await(Directory parent, String name) throws ErrnoException {
        CompletableFuture<Boolean> ended = running.get(new Place(parent, name));
        if (ended != null && !Errnos.call(() -> SharedRequests.await(ended))) {
            throw new ErrnoException(Errno.ESTALE, "'" + parent.key(name) + "' could not be removed");
        }
    }

    /**
     * Makes a change in the store that takes the name from the files of an inode. Commits to that name end first, so
     * that they cannot arrive later. If the change fails, or the thread is interrupted, the files continue as before.
     *
     * @param inode null if none is in use
     */
    <T> T replacing(@Nullable Inode inode, Errnos.Waiting<T> change) throws ErrnoException {
        List<SharedFile> losing = inode == null ? List.of() : files.of(inode.number());
        boolean replaced = false;
        T result;
        try {
            result = Errnos.call(() -> {
                for (SharedFile file : losing) {
                    WrittenFile written = file.written();
                    if (written != null) {
                        written.withdraw();
                    }
                }
                return change.call();
            });
            replaced = true;
        } finally {
            if (!replaced) {
                losing.forEach(SharedFile::reinstate);
            }
        }
        losing.forEach(SharedFile::remove);
        return result;
    }

    /** Whether a commit of the inode's files is in doubt. Constant once the commits are withdrawn. */
    boolean isInDoubt(@Nullable Inode inode) {
        return inode != null
                && files.of(inode.number()).stream()
                        .map(SharedFile::written)
                        .anyMatch(written -> written != null && written.isInDoubt());
    }

    /**
     * The inode has lost its name, and so have its files that were opened since.
     *
     * @param inode null if none is in use
     */
    void detach(@Nullable Inode inode) {
        if (inode == null) {
            return;
        }
        inodes.detach(inode);
        for (SharedFile file : files.of(inode.number())) {
            file.remove();
            file.settle();
        }
    }
}

package io.penstock.filesystem.names;

import io.penstock.core.Errno;
import io.penstock.core.ErrnoException;
import io.penstock.core.KernelRequest;
import io.penstock.filesystem.files.SharedFiles;
import io.penstock.filesystem.kernel.Errnos;
import io.penstock.filesystem.kernel.Kernels;
import io.penstock.filesystem.names.MovingDirectories.Change;
import io.penstock.filesystem.names.MovingDirectories.Move;
import io.penstock.metadata.Absent;
import io.penstock.metadata.Directory;
import io.penstock.metadata.Inode.Place;
import io.penstock.metadata.Node;
import io.penstock.metadata.Tree;
import io.penstock.objectstore.SharedRequests;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Renames directories: copies all objects in them, then deletes the originals. Calls that change something there wait
 * for the end of the rename ({@link MovingDirectories}). Once all is copied, it is shown under the new name, and an
 * interrupt ends only the caller's wait. Thread-safe.
 */
final class DirectoryRenames {
    private final Tree tree;
    private final Writing writing;
    private final NodeResolver resolver;
    private final SharedFiles files;
    private final Kernels kernels;
    private final Removals removals;
    private final MovingDirectories moving;
    private final MovedNames names;
    private final RenameProgress progress = new RenameProgress();

    DirectoryRenames(
            Writing writing,
            NodeResolver resolver,
            SharedFiles files,
            Kernels kernels,
            Removals removals,
            MovingDirectories moving,
            MovedNames names) {
        this.tree = files.tree();
        this.writing = writing;
        this.resolver = resolver;
        this.files = files;
        this.kernels = kernels;
        this.removals = removals;
        this.moving = moving;
        this.names = names;
    }

    /**
     * Renames a directory, and replaces an empty one if there is one.
     *
     * @throws ErrnoException ENOENT, EEXIST, ENOTDIR, ENOTEMPTY, EINVAL, ENAMETOOLONG; EXDEV if it has too many
     *     objects; EIO if not all of the originals could be deleted
     */
    void rename(long parent, String name, long newParent, String newName, boolean mustBeNew) throws ErrnoException {
        Move move = moving.begin(
                () -> move(resolver.directory(parent), name, resolver.existingDirectory(newParent), newName));
        DirectoryRename rename = new DirectoryRename(move, writing, files, moving, progress);
        CompletableFuture<Optional<ErrnoException>> rest = null;
        ErrnoException failure = null;
        try {
            copy(rename, move, mustBeNew);
            rest = inBackground(move, () -> delete(rename, move));
        } catch (ErrnoException e) {
            failure = e;
            rest = inBackground(move, () -> {
                rename.undo();
                tree.forgetAll(move.to());
                invalidate(Place.of(move.to()));
            });
        } finally {
            if (rest == null) { // an exception caused by a bug: the copies stay until the next mount
                moving.end(move);
            }
        }
        end(move, rest, failure);
    }

    /** The renames that run now. */
    List<RunningRename> running() {
        return progress.now();
    }

    private static Move move(Directory parent, String name, Directory newParent, String newName) throws ErrnoException {
        Move move = new Move(new Directory(parent.key(name) + "/"), new Directory(newParent.key(newName) + "/"));
        if (move.to().isWithin(move.from())) {
            throw new ErrnoException(Errno.EINVAL, "'" + move.from().prefix() + "' cannot be moved into itself");
        } else if (move.from().isWithin(move.to())) {
            throw new ErrnoException(Errno.ENOTEMPTY, "'" + move.to().prefix() + "' is not empty");
        }
        return move;
    }

    private void copy(DirectoryRename rename, Move move, boolean mustBeNew) throws ErrnoException {
        if (writing.mostRenamed() == 0) {
            throw DirectoryRename.refused(move, "rename.most-objects is 0");
        }
        writing.withinOneDeadline(() -> {
            check(move, mustBeNew);
            moving.abandon(move);
            try {
                Errnos.run(() -> rename.copy(names));
            } catch (ErrnoException e) {
                throw mustBeNew && e.errno() == Errno.ENOTEMPTY
                        ? new ErrnoException(Errno.EEXIST, String.valueOf(e.getMessage()))
                        : e;
            }
        });
        tree.overlay(from(move).parent(), from(move).name(), Absent.ABSENT); // even if some of it is left
    }

    private static Place from(Move move) {
        return Place.of(move.from());
    }

    private void check(Move move, boolean mustBeNew) throws ErrnoException {
        Place from = from(move);
        Place to = Place.of(move.to());
        NodeResolver.checkNew(to.parent(), to.name(), "/");
        if (!(resolver.existing(from.parent(), from.name()) instanceof Directory)) {
            throw new ErrnoException(Errno.ESTALE, "'" + from.key() + "' is no longer a directory");
        }
        removals.await(to.parent(), to.name());
        Node target = resolver.find(to.parent(), to.name());
        if (target != null && mustBeNew) {
            throw new ErrnoException(Errno.EEXIST, "'" + to.key() + "' already exists");
        } else if (target != null && !(target instanceof Directory)) {
            throw new ErrnoException(Errno.ENOTDIR, "'" + to.key() + "' is not a directory");
        }
        if (KernelRequest.mayBeDone()) {
            Errnos.run(() -> new ObjectMoves(writing.store(), writing.writeback(), progress).undoUnknown(move));
            tree.forgetAll(move.to());
        }
        if (!Errnos.call(() -> tree.isEmpty(move.to()))) {
            tree.invalidate(to.parent(), to.name());
            throw new ErrnoException(Errno.ENOTEMPTY, "'" + move.to().prefix() + "' is not empty");
        }
    }

    private void delete(DirectoryRename rename, Move move) throws ErrnoException {
        try {
            Errnos.run(rename::delete);
        } catch (ErrnoException e) {
            invalidate(from(move));
            throw e;
        } finally {
            tree.uncover(from(move).parent(), from(move).name(), Absent.ABSENT);
            // Objects that others have changed there stay, and so does a file that the directory has hidden.
            tree.forgetAll(move.from());
        }
    }

    private void invalidate(Place place) {
        tree.invalidate(place.parent(), place.name());
    }

    /** Runs what the program can no longer interrupt, and ends the move. @return completes with the failure, if any */
    private CompletableFuture<Optional<ErrnoException>> inBackground(Move move, Change action) {
        CompletableFuture<Optional<ErrnoException>> ended = new CompletableFuture<>();
        files.runInBackground(() -> {
            ErrnoException failure = null;
            try {
                action.run();
            } catch (ErrnoException e) {
                failure = e;
            } catch (RuntimeException | Error e) {
                failure = new ErrnoException(
                        Errno.EIO, "the rename of '" + move.from().prefix() + "' has failed", e);
                throw e;
            } finally {
                moving.end(move);
                ended.complete(Optional.ofNullable(failure));
            }
        });
        return ended;
    }

    /** Waits for the rest, and fails as the rename has. The kernel assumes no rename then, and looks the names up. */
    private void end(Move move, CompletableFuture<Optional<ErrnoException>> rest, @Nullable ErrnoException failure)
            throws ErrnoException {
        ErrnoException thrown = failure;
        try {
            Optional<ErrnoException> last = Errnos.call(() -> SharedRequests.await(rest));
            thrown = failure == null ? last.orElse(null) : failure;
        } catch (ErrnoException interrupted) {
            thrown = failure == null ? interrupted : failure;
        }
        if (thrown != null) {
            kernels.dropName(from(move));
            kernels.dropName(Place.of(move.to()));
            throw thrown;
        }
    }
}

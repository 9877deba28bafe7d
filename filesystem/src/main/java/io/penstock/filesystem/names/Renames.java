package io.penstock.filesystem.names;

import com.github.benmanes.caffeine.cache.Caffeine;
import io.penstock.core.Errno;
import io.penstock.core.ErrnoException;
import io.penstock.core.ObjectVersion;
import io.penstock.filesystem.files.ModifiedTimes;
import io.penstock.filesystem.files.SharedFile;
import io.penstock.filesystem.files.SharedFiles;
import io.penstock.filesystem.kernel.Errnos;
import io.penstock.filesystem.kernel.Kernels;
import io.penstock.metadata.Absent;
import io.penstock.metadata.Answer;
import io.penstock.metadata.Directory;
import io.penstock.metadata.FileEntry;
import io.penstock.metadata.Inode;
import io.penstock.metadata.Inode.Place;
import io.penstock.metadata.InodeTable;
import io.penstock.metadata.Node;
import io.penstock.metadata.Tree;
import io.penstock.objectstore.Deadline;
import io.penstock.objectstore.ObjectProperties;
import io.penstock.objectstore.ObjectStore;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.StoredObject;
import io.penstock.objectstore.WriteCondition;
import io.penstock.writeback.Writeback;
import io.penstock.writeback.WrittenFile;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.ConcurrentMap;
import org.jspecify.annotations.Nullable;

/**
 * Renames files. A file that has nothing in the store just gets the new name. Any other takes four steps: commit and
 * hold its content, copy the object, open the file under its new name, delete the old object. If the last step fails,
 * both names exist, as after a crash, and open handles refer to the new one. If a signal interrupts that step and the
 * program repeats the call, as some runtimes do automatically, only the last step is repeated: a second copy would
 * overwrite what the handles have written since. Thread-safe.
 */
final class Renames {
    private static final int MOST_INTERRUPTED = 1_000;

    private final Tree tree;
    private final ObjectStore store;
    private final Writeback writeback;
    private final InodeTable inodes;
    private final NodeResolver resolver;
    private final boolean worksOffline;
    private final SharedFiles files;
    private final Kernels kernels;
    private final Removals removals;
    private final Deletions deletions;

    /** By the old names whose deletion was interrupted. Programs repeat such a call immediately. */
    private final ConcurrentMap<Place, Copied> interrupted = Caffeine.newBuilder()
            .maximumSize(MOST_INTERRUPTED)
            .expireAfterWrite(Duration.ofMinutes(5))
            .executor(Runnable::run)
            .<Place, Copied>build()
            .asMap();

    Renames(
            Writing writing,
            InodeTable inodes,
            NodeResolver resolver,
            SharedFiles files,
            Kernels kernels,
            Removals removals,
            Deletions deletions) {
        this.tree = files.tree();
        this.store = writing.store();
        this.writeback = writing.writeback();
        this.inodes = inodes;
        this.resolver = resolver;
        this.worksOffline = writing.worksOffline();
        this.files = files;
        this.kernels = kernels;
        this.removals = removals;
        this.deletions = deletions;
    }

    /**
     * One rename.
     *
     * @param source the file that has the old name
     * @param target the file that has the new name; null if there is none
     * @param mustBeNew whether nothing may be replaced
     */
    record Rename(
            Place from, Place to, Node source, @Nullable Node target, boolean mustBeNew) {}

    /** An object, its copy, and the inode that has the new name. */
    private record Copied(ObjectVersion original, ObjectVersion copy, Inode inode) {}

    /**
     * Whether only the deletion of the unchanged original is left: the new name still has the copy, according to the
     * store, or what its handles have written over it.
     */
    private boolean isCopied(Copied before, Rename rename) throws ErrnoException {
        if (!rename.to.equals(before.inode.place())
                || !(rename.source instanceof FileEntry(StoredObject object))
                || !object.version().hasIdentityOf(before.original)) {
            return false;
        }
        if (rename.target instanceof SharedFile file) {
            return file.inode().number() == before.inode.number();
        }
        return Errnos.call(() -> {
            StoredObject found = store.find(before.copy.key());
            return found != null && found.version().hasIdentityOf(before.copy);
        });
    }

    void rename(Rename rename) throws ErrnoException {
        Copied before = interrupted.remove(rename.from);
        if (before != null && isCopied(before, rename)) {
            delete(rename, before.original, before.copy, before.inode);
            removals.detach(files.inode(rename.from, rename.source));
            return;
        }
        if (renameUncommitted(rename)) {
            return;
        }
        Errnos.run(() -> hold(rename.source));
        ObjectVersion original;
        StoredObject copy;
        Inode moved;
        try {
            original = version(rename.source);
            copy = copy(rename, original);
            moved = open(rename, original, copy);
        } finally { // before the old name goes: from then on a crash finds the file under its new one only
            resume(rename.source);
        }
        delete(rename, original, copy.version(), moved);
    }

    /**
     * Renames a file that has nothing in the store. It is uploaded once, under the new name, as expected by programs
     * that write a temporary file and move it over another. A file that is not open must be in the store once this
     * returns, unless closes do not wait for the store either.
     *
     * @return false if it has to be committed and copied
     */
    private boolean renameUncommitted(Rename rename) throws ErrnoException {
        WrittenFile content = written(rename.source);
        if (content == null
                || rename.mustBeNew
                || !(rename.source instanceof SharedFile file)
                || !(worksOffline || file.isOpenToWrite())
                || (rename.target != null && written(rename.target) != null)) {
            return false;
        }
        Place to = rename.to;
        Answer asked = rename.target == null ? Absent.ABSENT : resolver.revalidated(to.parent(), to.name());
        if (!Errnos.call(content::holdUncommitted)) {
            return false;
        }
        try {
            Inode loser = files.inode(to, rename.target);
            boolean _ = removals.replacing(loser, () -> {
                ObjectVersion replaced = replaced(to, asked);
                content.renamed(to.key(), replaced);
                tree.keep(rename.from.parent());
                inodes.move(file.inode(), to.parent(), to.name());
                file.renamed(replaced);
                files.unheard().forget(rename.from.key());
                files.unheard().forget(to.key());
                return true;
            });
            removals.detach(loser);
        } finally {
            content.resumeCommits();
        }
        return true;
    }

    /**
     * The object at the name once no more of its old content is committed. Since the store was asked, another program
     * may have opened it for writing and committed it.
     */
    private @Nullable ObjectVersion replaced(Place to, Answer asked) throws ObjectStoreException, InterruptedException {
        Answer now = asked instanceof Absent ? asked : tree.lookupNow(to.parent(), to.name());
        return switch (now == null ? asked : now) {
            case FileEntry(StoredObject object) -> object.version();
            case SharedFile _ -> deletions.find(to.key());
            default -> null;
        };
    }

    /** Copies a file to a free name, and leaves the original where it is. */
    void copy(Node source, Place to) throws ErrnoException {
        Errnos.run(() -> hold(source));
        try {
            ObjectVersion original = version(source);
            StoredObject _ = copy(new Rename(Place.of(original.key()), to, source, null, true), original);
            removals.detach(files.inode(to, null)); // removed by another node, and still open here
        } finally {
            resume(source);
        }
    }

    /** @param moved null if no inode was in use */
    private void delete(Rename rename, ObjectVersion original, ObjectVersion copy, @Nullable Inode moved)
            throws ErrnoException {
        Place from = rename.from;
        try {
            deletions.deleteIfStill(from.parent(), from.name(), original);
        } catch (ErrnoException e) {
            if (moved != null && e.errno() == Errno.EINTR) {
                interrupted.put(from, new Copied(original, copy, moved));
            }
            kernels.dropName(from); // the kernel has the inode there, which is at the new name
            throw e;
        }
    }

    /** Commits all written content of a file, and holds further commits until {@link #resume}. */
    private static void hold(Node node) throws ObjectStoreException, IOException, InterruptedException {
        WrittenFile content = written(node);
        if (content != null) {
            content.commitAndHold();
            Deadline deadline = Deadline.current();
            if (deadline != null) {
                deadline.restart();
            }
        }
    }

    private static void resume(Node node) {
        WrittenFile content = written(node);
        if (content != null) {
            content.resumeCommits();
        }
    }

    private static @Nullable WrittenFile written(Node node) {
        return node instanceof SharedFile file ? file.written() : null;
    }

    /** The store's version of a file. */
    private static ObjectVersion version(Node node) {
        ObjectVersion version = SharedFiles.stored(node);
        if (version == null) {
            throw new IllegalStateException(node + " is not in the store");
        }
        return version;
    }

    /** Copies the object to the new name, and replaces the object there. */
    private StoredObject copy(Rename rename, ObjectVersion original) throws ErrnoException {
        ModifiedTimes times = files.times();
        Instant modified = rename.source instanceof SharedFile file ? file.modified() : times.of(original);
        StoredObject copy = removals.replacing(files.inode(rename.to, rename.target), () -> {
            try {
                return copyObject(rename, original);
            } catch (ObjectStoreException.PreconditionFailed | ObjectStoreException.NotFound e) {
                tree.invalidate(rename.from.parent(), rename.from.name());
                throw e;
            }
        });
        Instant changed = rename.source instanceof SharedFile file ? file.changed() : times.changed(original);
        files.stored(
                rename.to,
                copy,
                modified,
                changed.isAfter(modified) ? changed : modified,
                files.kept().of(original));
        return copy;
    }

    private StoredObject copyObject(Rename rename, ObjectVersion original)
            throws ErrnoException, ObjectStoreException, InterruptedException {
        Directory to = rename.to.parent();
        String name = rename.to.name();
        // A HEAD (ADR 26): listings lack the encryption, which a copy would lose, and the type, which may follow the
        // name.
        ObjectProperties properties = store.properties(original.key()).renamed(to.key(name));
        WriteCondition condition = rename.mustBeNew ? WriteCondition.ABSENT : WriteCondition.ALWAYS;
        try {
            ObjectVersion copy = writeback.copy(original, to.key(name), properties, condition);
            return new StoredObject(copy, properties.storageClass());
        } catch (ObjectStoreException | InterruptedException e) { // it may exist all the same
            if (mayBeDone(e)) {
                files.doubt(to.key(name));
            }
            tree.invalidate(to, name);
            if (e instanceof ObjectStoreException.PreconditionFailed
                    && rename.mustBeNew
                    && tree.lookup(to, name) instanceof Node) {
                throw new ErrnoException(Errno.EEXIST, "'" + to.key(name) + "' already exists");
            }
            throw e;
        }
    }

    /** Whether the store may have executed the request although it has not confirmed it. */
    private static boolean mayBeDone(Exception failure) {
        return failure instanceof InterruptedException
                || (failure instanceof ObjectStoreException ofStore && ofStore.mayBeDone());
    }

    /** Gives the inode and its open files the new name, before the old one goes: they read the copy from now on. */
    private @Nullable Inode open(Rename rename, ObjectVersion original, StoredObject copy) {
        Place to = rename.to;
        Inode replaced = files.inode(to, rename.target);
        Inode inode = files.inode(rename.from, rename.source);
        tree.keep(rename.from.parent());
        if (inode != null) {
            inodes.move(inode, to.parent(), to.name());
            files.moved(inode.number(), original, copy.version());
        }
        removals.detach(replaced);
        return inode;
    }
}

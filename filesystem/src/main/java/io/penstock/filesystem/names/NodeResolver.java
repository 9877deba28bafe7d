package io.penstock.filesystem.names;

import io.penstock.core.Errno;
import io.penstock.core.ErrnoException;
import io.penstock.core.ObjectVersion;
import io.penstock.filesystem.files.SharedFile;
import io.penstock.filesystem.files.SharedFiles;
import io.penstock.filesystem.kernel.Errnos;
import io.penstock.filesystem.names.MovingDirectories.Call;
import io.penstock.metadata.Answer;
import io.penstock.metadata.CachedLookup;
import io.penstock.metadata.Directory;
import io.penstock.metadata.Inode;
import io.penstock.metadata.Inode.Place;
import io.penstock.metadata.InodeTable;
import io.penstock.metadata.Names;
import io.penstock.metadata.Node;
import io.penstock.metadata.Tree;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** Resolves inodes and names to their current nodes, or throws the errno that says why it cannot. Thread-safe. */
public final class NodeResolver {
    /**
     * The store's timeout where its response is optional: it responds within some ten milliseconds, or is in trouble.
     */
    private static final Duration PATIENCE = Duration.ofSeconds(1);

    private final Tree tree;
    private final InodeTable inodes;
    private final SharedFiles files;
    private final boolean worksOffline;

    /** @param worksOffline whether programs continue with cached answers while the store cannot be reached */
    public NodeResolver(Tree tree, InodeTable inodes, SharedFiles files, boolean worksOffline) {
        this.tree = tree;
        this.inodes = inodes;
        this.files = files;
        this.worksOffline = worksOffline;
    }

    public Inode inode(long number) throws ErrnoException {
        Inode inode = inodes.get(number);
        if (inode == null) {
            throw new ErrnoException(Errno.ESTALE, "inode " + number + " is not in use");
        }
        return inode;
    }

    public Directory directory(long number) throws ErrnoException {
        Inode inode = inode(number);
        Directory directory = inode.directory();
        if (directory == null) {
            throw new ErrnoException(Errno.ENOTDIR, inode + " is not a directory");
        }
        return directory;
    }

    /** A directory in which an entry is about to be created. */
    public Directory existingDirectory(long number) throws ErrnoException {
        Directory directory = directory(number);
        if (number != InodeTable.ROOT && inode(number).place() == null) {
            throw new ErrnoException(Errno.ENOENT, "the directory '" + directory.prefix() + "' was removed");
        }
        return directory;
    }

    /** The directory that the inode is in: none for the root, and for an inode without a name. */
    public List<Directory> parents(long number) throws ErrnoException {
        Place place = inode(number).place();
        return place == null ? List.of() : List.of(place.parent());
    }

    /** The node at an inode's place, and how long it is valid. */
    public record Resolved(Node node, long validNanos) {}

    /** The node at the inode's place: ESTALE if there is none, or one of another kind. */
    public Resolved resolve(long number) throws ErrnoException {
        Inode inode = inode(number);
        while (true) {
            Place place = inode.place();
            if (place == null) {
                return placeless(inode);
            }
            CachedLookup found = answer(place.parent(), place.name());
            if (place.equals(inode.place())) { // a rename may come before the answer
                return same(inode, found);
            }
        }
    }

    /** The same if it is known: null if it is not. */
    public @Nullable Resolved resolveNow(long number) throws ErrnoException {
        Inode inode = inode(number);
        Place place = inode.place();
        if (place == null) {
            return placeless(inode);
        }
        CachedLookup cached = tree.resolveNow(place.parent(), place.name());
        return cached == null ? null : same(inode, cached);
    }

    /** Like {@link #resolve}, without the validity. */
    public Node node(long number) throws ErrnoException {
        return resolve(number).node();
    }

    /** Like {@link #resolveNow}, without the validity. */
    public @Nullable Node nodeNow(long number) throws ErrnoException {
        Resolved known = resolveNow(number);
        return known == null ? null : known.node();
    }

    /**
     * {@link #node} as the store has it now, for a caller about to replace it. Where programs continue while the store
     * is away, the cached node is returned if the store does not respond soon: the commit is conditional on that node.
     */
    public Node revalidated(long number) throws ErrnoException {
        Resolved known = worksOffline ? resolveNow(number) : null;
        return askedOr(known == null ? null : known.node(), () -> asked(number));
    }

    /** The same for a name: {@code Absent} if there is nothing. */
    Answer revalidated(Directory directory, String name) throws ErrnoException {
        CachedLookup known = worksOffline ? answerNow(directory, name) : null;
        return askedOr(
                known == null ? null : known.answer(), () -> Errnos.call(() -> tree.revalidate(directory, name)));
    }

    /** The store's answer. If it does not arrive within a second, the known one, unless that is null. */
    public static <T> T askedOr(@Nullable T known, Call<T> asked) throws ErrnoException {
        if (known == null) {
            return asked.run();
        }
        FutureTask<T> asking = new FutureTask<>(asked::run);
        Thread.ofVirtual().name("revalidate").start(asking);
        try {
            return asking.get(PATIENCE.toNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            return known;
        } catch (ExecutionException e) {
            if (!(e.getCause() instanceof ErrnoException failure)) {
                throw new IllegalStateException(e);
            } else if (!Errnos.isOutage(failure)) {
                throw failure;
            }
            return known;
        } catch (InterruptedException e) {
            throw Errnos.of(e);
        } finally {
            asking.cancel(true);
        }
    }

    private Node asked(long number) throws ErrnoException {
        Inode inode = inode(number);
        Place place = inode.place();
        if (place == null) {
            return placeless(inode).node();
        }
        return same(inode, new CachedLookup(Errnos.call(() -> tree.revalidate(place.parent(), place.name())), 0))
                .node();
    }

    private Resolved placeless(Inode inode) throws ErrnoException {
        return inode.isRoot() ? new Resolved(tree.root(), Long.MAX_VALUE) : new Resolved(removed(inode), 0);
    }

    /** The node of an inode that has lost its name. */
    private Node removed(Inode inode) throws ErrnoException {
        Directory directory = inode.directory();
        if (directory != null) {
            return directory;
        }
        SharedFile file = files.removed(inode);
        if (file == null) {
            throw new ErrnoException(Errno.ESTALE, inode + " no longer has a name");
        }
        return file;
    }

    public CachedLookup answer(Directory directory, String name) throws ErrnoException {
        checkLength(name);
        return Errnos.call(() -> tree.resolve(directory, name));
    }

    /** The same if it is known: null if it is not. */
    public @Nullable CachedLookup answerNow(Directory directory, String name) throws ErrnoException {
        checkLength(name);
        return tree.resolveNow(directory, name);
    }

    /** The store no longer has this version: the next lookup of its name asks the store. */
    public void forget(ObjectVersion gone) {
        Place place = Place.of(gone.key());
        tree.invalidate(place.parent(), place.name(), gone);
    }

    /** The node of that name: null if there is none. */
    public @Nullable Node find(Directory directory, String name) throws ErrnoException {
        return answer(directory, name).answer() instanceof Node node ? node : null;
    }

    /** The node of that name: ENOENT if there is none. */
    Node existing(Directory directory, String name) throws ErrnoException {
        Node node = find(directory, name);
        if (node == null) {
            throw new NoEntryException(directory.key(name), 0);
        }
        return node;
    }

    private static Resolved same(Inode inode, CachedLookup cached) throws ErrnoException {
        if (cached.answer() instanceof Node node && inode.isDirectory() == node instanceof Directory) {
            return new Resolved(node, cached.nanos());
        }
        throw new ErrnoException(Errno.ESTALE, inode + " is no longer what it was");
    }

    /**
     * Checks that a new entry can have the name.
     *
     * @param suffix of its key, after the name
     * @throws ErrnoException ENAMETOOLONG; EPERM if the name is reserved by Penstock: no mount would show it
     */
    public static void checkNew(Directory directory, String name, String suffix) throws ErrnoException {
        checkLength(name);
        if (Names.isReserved(name)) {
            throw new ErrnoException(Errno.EPERM, "'" + directory.key(name) + "' is a name reserved for Penstock");
        }
        if (Names.utf8Length(directory.key(name) + suffix) > Names.MAX_KEY_BYTES) {
            throw new ErrnoException(Errno.ENAMETOOLONG, "the path is longer than " + Names.MAX_KEY_BYTES + " bytes");
        }
    }

    private static void checkLength(String name) throws ErrnoException {
        if (Names.utf8Length(name) > Names.MAX_NAME_BYTES) {
            throw new ErrnoException(Errno.ENAMETOOLONG, "the name is longer than " + Names.MAX_NAME_BYTES + " bytes");
        }
    }
}

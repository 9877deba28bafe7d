package io.penstock.filesystem;

import static java.util.Objects.requireNonNull;

import io.penstock.core.ErrnoException;
import io.penstock.filesystem.Places.Standing;
import io.penstock.metadata.Absent;
import io.penstock.metadata.CachedLookup;
import io.penstock.metadata.Directory;
import io.penstock.metadata.FileEntry;
import io.penstock.metadata.Inode;
import io.penstock.metadata.InodeTable;
import io.penstock.metadata.Node;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What names and inodes show to the kernel, and which inodes it knows. Safe for use by any number of threads. */
final class Lookups {
    private final Places places;
    private final InodeTable inodes;
    private final NamedInodes named;
    private final KernelView kernel;
    private final AttributeView view;

    Lookups(Places places, InodeTable inodes, NamedInodes named, KernelView kernel, AttributeView view) {
        this.places = places;
        this.inodes = inodes;
        this.named = named;
        this.kernel = kernel;
        this.view = view;
    }

    Attributes lookup(long parent, String name) throws ErrnoException {
        Directory directory = places.directory(parent);
        return acquire(directory, name, places.answer(directory, name));
    }

    /** {@link #lookup} if the answer is known: null if it is not. */
    @Nullable
    Attributes lookupNow(long parent, String name) throws ErrnoException {
        Directory directory = places.directory(parent);
        CachedLookup cached = places.answerNow(directory, name);
        return cached == null ? null : acquire(directory, name, cached);
    }

    private Attributes acquire(Directory parent, String name, CachedLookup cached) throws ErrnoException {
        return switch (cached.answer()) {
            case Absent _ -> throw new AbsentException(parent.key(name), cached.nanos());
            case Node node -> view.of(named.acquire(parent, name, node).number(), node, cached.nanos());
        };
    }

    void forget(long inode, long lookups) {
        Inode known = inodes.get(inode);
        if (known != null) {
            inodes.release(known, lookups);
        }
    }

    Attributes attributes(long inode) throws ErrnoException {
        return show(inode, standing(inode));
    }

    /** {@link #attributes} if the answer is known: null if it is not. */
    @Nullable
    Attributes attributesNow(long inode) throws ErrnoException {
        Standing standing = standing(inode, places::standingNow);
        return standing == null ? null : show(inode, standing);
    }

    private Attributes show(long number, Standing standing) {
        Inode inode = inodes.get(number);
        if (inode != null) {
            kernel.asked(inode, standing.node());
        }
        return view.of(number, standing.node(), standing.validNanos());
    }

    void checkAccess(long inode, int mask, int uid, int gid) throws ErrnoException {
        view.checkAccess(standing(inode).node(), mask, uid, gid);
    }

    byte[] xattr(long inode, String name) throws ErrnoException {
        return AttributeView.xattr(standing(inode).node(), name);
    }

    List<String> xattrNames(long inode) throws ErrnoException {
        return AttributeView.xattrNames(standing(inode).node());
    }

    /** What the inode shows. */
    Node node(long inode) throws ErrnoException {
        return standing(inode).node();
    }

    private Standing standing(long inode) throws ErrnoException {
        return requireNonNull(standing(inode, places::standing));
    }

    /** Says what stands at an inode's place. */
    private interface Asking {
        /** Null if it is not known, and would have to be waited for. */
        @Nullable
        Standing of(long inode) throws ErrnoException;
    }

    /** Whether the node is what is open, or a version that it shares its bytes with. */
    private static boolean isOf(Node node, SharedFile open) {
        return node.equals(open) || (node instanceof FileEntry(var object) && open.isOf(object.version()));
    }

    /** What the inode shows: what the kernel has open of it, else what its place stands for now. */
    private @Nullable Standing standing(long inode, Asking place) throws ErrnoException {
        SharedFile open = named.opened(inode);
        if (open == null) {
            return place.of(inode);
        } else if (kernel.isPassedThrough(open.inode())) { // the store has no part in it
            return new Standing(open, 0);
        }
        try {
            Standing standing = place.of(inode);
            return standing == null || isOf(standing.node(), open)
                    ? standing
                    : new Standing(open, standing.validNanos());
        } catch (ErrnoException e) { // what is open is known, whatever became of its name, or of the store
            return new Standing(open, 0);
        }
    }
}

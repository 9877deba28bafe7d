package io.penstock.filesystem;

import io.penstock.core.Errno;
import io.penstock.core.ErrnoException;
import io.penstock.core.ObjectVersion;
import io.penstock.filesystem.files.SharedFile;
import io.penstock.filesystem.kernel.KernelView;
import io.penstock.filesystem.names.NamedInodes;
import io.penstock.filesystem.names.NoEntryException;
import io.penstock.filesystem.names.NodeResolver;
import io.penstock.filesystem.names.NodeResolver.Resolved;
import io.penstock.metadata.CachedLookup;
import io.penstock.metadata.Directory;
import io.penstock.metadata.FileEntry;
import io.penstock.metadata.Inode;
import io.penstock.metadata.Inode.Place;
import io.penstock.metadata.InodeTable;
import io.penstock.metadata.Node;
import io.penstock.metadata.attributes.ObjectAttributes;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Shows names and inodes to the kernel, and counts its lookups. Thread-safe. */
final class Lookups {
    private final NodeResolver resolver;
    private final InodeTable inodes;
    private final NamedInodes named;
    private final KernelView kernel;
    private final AttributeView view;
    private final ObjectFacts facts;

    Lookups(
            NodeResolver resolver,
            InodeTable inodes,
            NamedInodes named,
            KernelView kernel,
            AttributeView view,
            ObjectFacts facts) {
        this.resolver = resolver;
        this.inodes = inodes;
        this.named = named;
        this.kernel = kernel;
        this.view = view;
        this.facts = facts;
    }

    Attributes lookup(long parent, String name) throws ErrnoException {
        ObjectVersion gone = null;
        while (true) {
            Directory directory = resolver.directory(parent);
            view.expect(directory);
            CachedLookup found = resolver.answer(directory, name);
            AttributeLookup kept = found.answer() instanceof Node node
                    ? view.kept(directory, node)
                    : new AttributeLookup.Found(ObjectAttributes.NONE);
            if (kept instanceof AttributeLookup.Gone(ObjectVersion version) && !version.equals(gone)) {
                resolver.forget(version);
                gone = version;
                continue;
            }
            Attributes acquired = acquire(parent, directory, name, found, kept.orThrow());
            if (acquired != null) {
                return acquired;
            }
        }
    }

    /** {@link #lookup} if the answer is known: null if it is not. */
    @Nullable
    Attributes lookupNow(long parent, String name) throws ErrnoException {
        Directory directory = resolver.directory(parent);
        CachedLookup cached = resolver.answerNow(directory, name);
        if (cached == null) {
            return null;
        }
        ObjectAttributes kept =
                cached.answer() instanceof Node node ? view.keptNow(directory, node) : ObjectAttributes.NONE;
        return kept == null ? null : acquire(parent, directory, name, cached, kept);
    }

    /** Null if the directory was renamed since the lookup: the answer is about the old name. */
    private @Nullable Attributes acquire(
            long parent, Directory directory, String name, CachedLookup cached, ObjectAttributes kept)
            throws ErrnoException {
        Inode acquired = cached.answer() instanceof Node node ? named.acquire(directory, name, node) : null;
        if (!directory.equals(resolver.directory(parent))) { // after the inode was acquired: a later rename moves it
            if (acquired != null) {
                inodes.release(acquired, 1);
            }
            return null;
        }
        if (acquired != null && cached.answer() instanceof Node node) {
            SharedFile open = named.opened(acquired.number());
            if (open != null && isOf(node, open)) {
                var _ = open.lastKnown(kept);
            }
            return view.of(acquired.number(), node, kept, cached.nanos());
        }
        throw new NoEntryException(directory.key(name), cached.nanos());
    }

    void forget(long inode, long lookups) {
        Inode known = inodes.get(inode);
        if (known != null) {
            inodes.release(known, lookups);
        }
    }

    Attributes attributes(long inode) throws ErrnoException {
        return show(inode, shown(inode));
    }

    /** The kept attributes of the node that the inode shows. */
    ObjectAttributes kept(long inode, Node node) throws ErrnoException {
        return view.kept(parent(inode), node).orThrow();
    }

    /** The directory that the inode is in; null for the root, and for an inode without a name. */
    @Nullable
    Directory parent(long number) {
        Inode inode = inodes.get(number);
        Place place = inode == null ? null : inode.place();
        return place == null ? null : place.parent();
    }

    /** {@link #attributes} if the answer is known: null if it is not. */
    @Nullable
    Attributes attributesNow(long inode) throws ErrnoException {
        Shown known = shownNow(inode);
        return known == null ? null : show(inode, known);
    }

    private Attributes show(long number, Shown shown) {
        Inode inode = inodes.get(number);
        if (inode != null) {
            kernel.asked(inode, shown.node());
        }
        return view.of(number, shown.node(), shown.kept(), view.validNanos(shown.validNanos()));
    }

    void checkAccess(long inode, int mask, int uid, int gid) throws ErrnoException {
        Shown shown = shown(inode);
        view.checkAccess(shown.node(), shown.kept(), mask, uid, gid);
    }

    byte[] xattr(long inode, String name) throws ErrnoException {
        AttributeView.checkXattr(name);
        if (name.equals(ObjectFacts.NAME)) {
            return facts.of(node(inode));
        }
        return shown(inode).xattr(name);
    }

    /** {@link #xattr} if the value is known: null if it is not. The facts of an object may take a request. */
    byte @Nullable [] xattrNow(long inode, String name) throws ErrnoException {
        AttributeView.checkXattr(name);
        Shown known = name.equals(ObjectFacts.NAME) ? null : shownNow(inode);
        return known == null ? null : known.xattr(name);
    }

    /** Only those set by programs: Penstock's own describe this object, and a copy cannot have them. */
    List<String> xattrNames(long inode) throws ErrnoException {
        return shown(inode).xattrNames();
    }

    /** {@link #xattrNames} if they are known: null if they are not. */
    @Nullable
    List<String> xattrNamesNow(long inode) throws ErrnoException {
        Shown known = shownNow(inode);
        return known == null ? null : known.xattrNames();
    }

    /** The target of a symbolic link. */
    String link(long inode) throws ErrnoException {
        String target = shown(inode).kept().target();
        if (target == null) {
            throw new ErrnoException(Errno.EINVAL, "inode " + inode + " is not a symbolic link");
        }
        return target;
    }

    /** The node that the inode shows: the store is asked only if none is known. */
    Node node(long inode) throws ErrnoException {
        SharedFile open = named.opened(inode);
        return (open == null ? resolver.resolve(inode) : opened(inode, open)).node();
    }

    /** The node that the inode shows, how long it is valid, and the attributes that its object keeps. */
    private record Shown(Node node, long validNanos, ObjectAttributes kept) {
        byte[] xattr(String name) throws ErrnoException {
            return AttributeView.xattr(node, kept, name);
        }

        List<String> xattrNames() {
            return List.copyOf(kept.extended().keySet());
        }
    }

    private Shown shown(long inode) throws ErrnoException {
        ObjectVersion gone = null;
        while (true) {
            SharedFile open = named.opened(inode);
            Resolved resolved = open == null ? resolver.resolve(inode) : opened(inode, open);
            Node node = resolved.node();
            AttributeLookup kept = open == null ? view.kept(parent(inode), node) : keptOf(open, parent(inode), node);
            if (!(kept instanceof AttributeLookup.Gone(ObjectVersion version)) || version.equals(gone)) {
                return new Shown(node, resolved.validNanos(), kept.orThrow());
            }
            resolver.forget(version);
            gone = version;
        }
    }

    /** Null if some of it is not known. */
    private @Nullable Shown shownNow(long inode) throws ErrnoException {
        SharedFile open = named.opened(inode);
        Resolved resolved = open == null ? resolver.resolveNow(inode) : opened(inode, open);
        if (resolved == null) {
            return null;
        }
        ObjectAttributes now = view.keptNow(parent(inode), resolved.node());
        ObjectAttributes kept = open == null ? now : open.lastKnown(now);
        return kept == null ? null : new Shown(resolved.node(), resolved.validNanos(), kept);
    }

    /** Those of a file that the kernel has open: the defaults if never known, unless the store responds soon. */
    private AttributeLookup keptOf(SharedFile open, @Nullable Directory parent, Node node) throws ErrnoException {
        ObjectAttributes known = open.lastKnown(view.keptNow(parent, node));
        if (known != null) {
            return new AttributeLookup.Found(known);
        }
        return NodeResolver.<AttributeLookup>askedOr(new AttributeLookup.Found(ObjectAttributes.NONE), () -> {
            AttributeLookup asked = view.kept(parent, node);
            if (asked instanceof AttributeLookup.Found(var attributes)) {
                var _ = open.lastKnown(attributes);
            }
            return asked;
        });
    }

    /** Whether the node is the open file, or a version that has its bytes. */
    private static boolean isOf(Node node, SharedFile open) {
        return node.equals(open) || (node instanceof FileEntry(var object) && open.isStoredAs(object.version()));
    }

    /**
     * The node of a file that the kernel has open: always known, whatever happens to its name or the store. The kernel
     * requests it before it reads from its pages (FUSE_AUTO_INVAL_DATA), so any wait here would delay a read(2).
     */
    private Resolved opened(long inode, SharedFile open) {
        Resolved atItsName;
        try {
            atItsName = resolver.resolveNow(inode);
        } catch (ErrnoException e) { // the name is gone
            return new Resolved(open, 0);
        }
        if (atItsName == null) { // the next open by the name looks it up first
            return new Resolved(open, view.ttlNanos());
        }
        return isOf(atItsName.node(), open) ? atItsName : new Resolved(open, atItsName.validNanos());
    }
}

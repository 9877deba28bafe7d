package io.penstock.filesystem;

import static java.util.Objects.requireNonNull;

import io.penstock.core.Errno;
import io.penstock.core.ErrnoException;
import io.penstock.filesystem.OpenHandle.OpenDirectory;
import io.penstock.filesystem.OpenHandle.OpenDirectory.View;
import io.penstock.filesystem.kernel.BackingFile;
import io.penstock.filesystem.kernel.Errnos;
import io.penstock.filesystem.kernel.Inherited;
import io.penstock.filesystem.kernel.KernelContent;
import io.penstock.filesystem.kernel.KernelView;
import io.penstock.filesystem.kernel.OpenFile;
import io.penstock.filesystem.kernel.OpenFile.PageCachePolicy;
import io.penstock.filesystem.names.NamedInodes;
import io.penstock.filesystem.names.NodeResolver;
import io.penstock.metadata.Answer;
import io.penstock.metadata.CachedLookup;
import io.penstock.metadata.Directory;
import io.penstock.metadata.Inode;
import io.penstock.metadata.Inode.Place;
import io.penstock.metadata.InodeTable;
import io.penstock.metadata.Listing;
import io.penstock.metadata.Node;
import io.penstock.metadata.Tree;
import io.penstock.metadata.attributes.ObjectAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Opens and closes directories, and returns their entries. Offset 0 is {@code .}, and 1 is {@code ..}. Next come the
 * names that differed here from the store when the directory was opened or rewound, then the listing's other names. A
 * rename of the directory between two calls, and the kernel's copy of its entries, affect each of these steps.
 */
final class Directories {
    private static final int FIRST_ENTRY = 2;

    /** Entries whose attributes are requested at the same time; one reply has room for some 200. */
    private static final int ASKED_AT_ONCE = 256;

    /** Once a call finds this many entries gone, it returns only names: another node may have removed the directory. */
    private static final int MOST_GONE = 8;

    /** {@link FileSystem#UNKNOWN_INODE}. */
    static final long UNKNOWN_INODE = 0xffff_ffffL;

    private final NodeResolver resolver;
    private final HandleTable handles;
    private final Tree tree;
    private final InodeTable inodes;
    private final NamedInodes named;
    private final AttributeView view;
    private final KernelView kernel;

    Directories(
            NodeResolver resolver,
            Tree tree,
            InodeTable inodes,
            HandleTable handles,
            NamedInodes named,
            AttributeView view,
            KernelView kernel) {
        this.resolver = resolver;
        this.handles = handles;
        this.tree = tree;
        this.inodes = inodes;
        this.named = named;
        this.view = view;
        this.kernel = kernel;
    }

    OpenFile open(long number) throws ErrnoException {
        Directory directory = resolver.directory(number);
        Node _ = resolver.node(number);
        return open(number, directory);
    }

    /** {@link #open} if the directory is known: null if it is not. */
    @Nullable
    OpenFile openNow(long number) throws ErrnoException {
        Directory directory = resolver.directory(number);
        return resolver.resolveNow(number) == null ? null : open(number, directory);
    }

    private OpenFile open(long number, Directory directory) throws ErrnoException {
        Inode inode = resolver.inode(number);
        View shown = view(directory);
        inodes.acquire(inode);
        PageCachePolicy policy = requireNonNull(kernel.open(inode, new KernelContent.Listing(shown.generation()), null))
                .policy();
        boolean cached = policy != PageCachePolicy.BYPASS;
        return new OpenFile(handles.add(new OpenDirectory(inode, shown, cached)), policy);
    }

    /**
     * A directory that an earlier process of this mount opened: the names that it returned keep their offsets, and the
     * present listing's others follow them.
     */
    void inherit(Inherited.Directory open) throws ErrnoException {
        Inode inode = resolver.inode(open.node());
        inodes.acquire(inode);
        View shown = View.inherited(open.names(), FIRST_ENTRY + 1, tree.list(resolver.directory(open.node())));
        handles.inherit(open.handle(), OpenDirectory.inherited(inode, shown));
    }

    void close(OpenDirectory directory) {
        if (directory.isCached()) {
            BackingFile _ = kernel.close(directory.inode()); // a directory has none
        }
        inodes.release(directory.inode(), 1);
    }

    /**
     * Waits only for the first entry: if an entry has not arrived when it is its turn, it is left to the next call.
     *
     * @param counted whether each entry taken by the sink counts as a lookup
     */
    void read(long handle, long offset, DirectorySink sink, boolean counted) throws ErrnoException {
        OpenDirectory open = handles.directory(handle);
        if (offset < 0 || offset > Integer.MAX_VALUE) {
            throw new ErrnoException(Errno.EINVAL, "no such directory offset: " + offset);
        }
        if (offset == 0) {
            start(open);
            // The kernel uses only the type of these two.
            if (!sink.add(".", view.of(open.inode().number(), open.directory(), ObjectAttributes.NONE, 0), 1)) {
                return;
            }
        }
        if (offset <= 1 && !sink.add("..", parentOf(open.inode()), FIRST_ENTRY)) {
            return;
        }
        List<String> shown = inPlace(open).shown();
        int index = (int) Math.max(0, offset - FIRST_ENTRY);
        boolean any = offset < FIRST_ENTRY;
        while (index < shown.size()) {
            String name = shown.get(index);
            if (name.isEmpty()) { // an earlier process returned none at this offset
                index++;
                continue;
            }
            Directory directory = open.directory();
            Answer now = tree.lookupNow(directory, name);
            if (now == null && any) {
                return; // it is no longer shown, and must be requested
            }
            Answer answer = now == null ? ask(directory, name) : now;
            if (any && !isReady(open, directory, answer, counted)) {
                return;
            }
            Added added = add(
                    new EntrySlot(open, directory, name, (long) index + 1 + FIRST_ENTRY, sink), answer, counted, any);
            if (added == Added.FULL) {
                return;
            }
            any |= added == Added.TAKEN;
            index += added == Added.MOVED ? 0 : 1;
        }
        readListing(open, index, sink, counted, any);
    }

    private void readListing(OpenDirectory open, int from, DirectorySink sink, boolean counted, boolean some)
            throws ErrnoException {
        int index = from;
        boolean any = some;
        int gone = 0;
        while (true) {
            View view = inPlace(open);
            Listing listing = view.listing();
            Directory directory = listing.directory();
            int listed = index - view.shown().size();
            if (!(any ? listing.has(listed) : await(listing, listed))) {
                if (any || open.isInPlace()) {
                    return;
                }
                continue; // it was renamed since
            }
            Listing.Entry entry = listing.get(listed);
            if (entry == null && listing.hasDropped(listed)) {
                listAnew(open);
                continue;
            }
            if (entry == null || view.isShown().contains(entry.name())) {
                index++;
                continue;
            }
            // It may have changed since.
            Answer now = tree.overlaid(directory).getOrDefault(entry.name(), entry.node());
            boolean isReady = isReady(open, directory, now, counted);
            if (!isReady && any) {
                return; // the next call waits for it
            } else if (!isReady && gone == 0) {
                expect(directory, listing, listed, counted);
            }
            Added added = add(
                    new EntrySlot(open, directory, entry.name(), (long) index + 1 + FIRST_ENTRY, sink),
                    now,
                    counted,
                    any);
            if (added == Added.FULL) {
                return;
            }
            if (!isReady && added == Added.SKIPPED && ++gone == MOST_GONE) {
                open.nameOnly();
            }
            any |= added == Added.TAKEN;
            index += added == Added.MOVED ? 0 : 1;
        }
    }

    /** The view that offsets refer to from now on. */
    private View view(Directory directory) {
        // In this order: a file committed between the two is in the listing, or was overlaid before.
        Map<String, Answer> shown = tree.overlaid(directory);
        return View.of(shown, tree.list(directory));
    }

    /** The view that offsets refer to, for the directory's current name. */
    private View inPlace(OpenDirectory open) {
        if (!open.isInPlace()) {
            listAnew(open);
        }
        return open.view();
    }

    /** Continues in another listing: this one has dropped the next entries, or has an old name. Offsets stay valid. */
    private void listAnew(OpenDirectory open) {
        open.rewind(open.view().over(tree.list(open.directory())));
        if (open.isCached()) {
            kernel.mixed(open.inode()); // its copy mixes two listings
        }
    }

    /** The entries read next may end up in the kernel's copy: of the listing that was opened, or of an unknown mix. */
    private void start(OpenDirectory open) {
        if (open.firstRead()) {
            if (open.isCached()) {
                kernel.read(open.inode());
            }
        } else {
            open.rewind(view(open.directory()));
        }
        if (open.isCached() && !open.isAsOpened()) {
            kernel.mixed(open.inode());
        }
    }

    /** An entry's kept attributes, as far as the reader needs them: null if they are not known. */
    private @Nullable ObjectAttributes kept(Directory directory, Node node, boolean counted) {
        return counted ? view.keptNow(directory, node) : view.kindNow(directory, node);
    }

    /** Whether the answer can be returned without waiting. */
    private boolean isReady(OpenDirectory open, Directory directory, Answer answer, boolean counted) {
        return open.isNamesOnly() || !(answer instanceof Node node) || kept(directory, node, counted) != null;
    }

    /** Requests the attributes of the next entries, all at the same time. */
    private void expect(Directory directory, Listing listing, int from, boolean counted) throws ErrnoException {
        List<Node> next = new ArrayList<>();
        for (int i = from; i < from + ASKED_AT_ONCE && listing.has(i); i++) {
            Listing.Entry entry = listing.get(i);
            if (entry != null && kept(directory, entry.node(), counted) == null) {
                next.add(entry.node());
            }
        }
        view.expect(directory, next);
    }

    /** @param any whether the sink has entries already: a failure would lose their lookups, so nothing is requested */
    private Added add(EntrySlot slot, Answer answer, boolean counted, boolean any) throws ErrnoException {
        if (!(answer instanceof Node node)) {
            return slot.skip();
        }
        // The kernel takes this as the inode's current attributes. If the listing is older, or turned out to be wrong,
        // the entry is returned only if nothing better is known, and is not valid for any time.
        CachedLookup cached = counted ? tree.resolveNow(slot.directory(), slot.name()) : null;
        Node now = node;
        long validNanos = 0;
        if (cached != null && cached.answer() instanceof Node current) {
            now = current;
            validNanos = cached.nanos();
        }
        ObjectAttributes known = kept(slot.directory(), now, counted);
        if (known == null && slot.open().isNamesOnly()) {
            return addName(slot, now);
        } else if (known == null && any) {
            return Added.FULL; // the next call requests it
        }
        AttributeLookup kept = known == null ? view.kept(slot.directory(), now) : new AttributeLookup.Found(known);
        return switch (kept) {
            case AttributeLookup.Found(var attributes) ->
                counted
                        ? addLookedUp(slot, now, attributes, validNanos)
                        : slot.add(view.of(number(inodes.find(slot.directory(), slot.name())), now, attributes, 0));
            case AttributeLookup.Gone _ -> slot.skip();
            case AttributeLookup.Denied _ -> {
                slot.open().nameOnly();
                yield addName(slot, now);
            }
        };
    }

    private Added addLookedUp(EntrySlot slot, Node node, ObjectAttributes kept, long validNanos) {
        Inode inode = named.acquire(slot.directory(), slot.name(), node);
        Added added = slot.add(view.of(inode.number(), node, kept, validNanos)); // a later rename moves the inode
        if (added != Added.TAKEN) {
            inodes.release(inode, 1);
        }
        return added;
    }

    /** An entry whose attributes the store has not provided: a stat of it asks again, and reports the failure. */
    private Added addName(EntrySlot slot, Node node) {
        return slot.add(view.ofName(slot.directory(), node));
    }

    private Answer ask(Directory directory, String name) throws ErrnoException {
        return Errnos.call(() -> tree.lookup(directory, name));
    }

    /** The root is its own parent, as in every file system. */
    private Attributes parentOf(Inode inode) {
        Place place = inode.place();
        Directory parent = place == null ? tree.root() : place.parent();
        return view.of(number(inodes.find(parent)), parent, ObjectAttributes.NONE, 0);
    }

    private static long number(@Nullable Inode inode) {
        return inode == null ? UNKNOWN_INODE : inode.number();
    }

    private static boolean await(Listing listing, int index) throws ErrnoException {
        return Errnos.call(() -> listing.await(index));
    }

    /** What happened to an entry. */
    private enum Added {
        /** The sink has it. */
        TAKEN,
        /** The sink has no room for it. */
        FULL,
        /** Its name no longer refers to anything. */
        SKIPPED,
        /** The directory was renamed: this entry belongs to the old name. */
        MOVED
    }

    /**
     * The place of one entry of an open directory.
     *
     * @param directory by its name when the entry was found in it
     * @param next the offset after the entry
     */
    private record EntrySlot(OpenDirectory open, Directory directory, String name, long next, DirectorySink sink) {
        Added add(Attributes attributes) {
            if (isMoved()) {
                return Added.MOVED;
            }
            return sink.add(name, attributes, next) ? Added.TAKEN : Added.FULL;
        }

        Added skip() {
            return isMoved() ? Added.MOVED : Added.SKIPPED;
        }

        private boolean isMoved() {
            return !directory.equals(open.directory());
        }
    }
}

package io.penstock.filesystem;

import static java.util.Objects.requireNonNull;

import io.penstock.filesystem.files.OpenCounts.Opener;
import io.penstock.filesystem.files.SharedFile;
import io.penstock.filesystem.kernel.KernelView;
import io.penstock.metadata.Directory;
import io.penstock.metadata.Inode;
import io.penstock.metadata.Listing;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;

/** What a handle stands for. */
sealed interface OpenHandle {
    Inode inode();

    /** An open file. */
    final class OpenObject implements OpenHandle {
        private final SharedFile file;
        private final int flags;
        private final boolean cached;
        private final Opener opener;

        /** Whether {@link KernelView} was told of a read. Racy on purpose: at worst it is told twice. */
        private boolean confirmed;

        private volatile boolean closed;

        OpenObject(SharedFile file, int flags, boolean cached) {
            this.file = file;
            this.flags = flags;
            this.cached = cached;
            this.opener = new Opener(OpenFlags.isChange(flags));
        }

        @Override
        public Inode inode() {
            return file.inode();
        }

        /** What it shares with the other handles of the file. */
        SharedFile file() {
            return file;
        }

        boolean isWritable() {
            return OpenFlags.isWrite(flags);
        }

        /** Its part in the file. It may have joined to write without being writable: to make or truncate the file. */
        Opener opener() {
            return opener;
        }

        /** A descriptor is closed. @return whether one was before, so that the program has duplicated it */
        boolean closesAgain() {
            boolean again = closed;
            closed = true;
            return again;
        }

        /** Whether {@link KernelView} counts it: the kernel has bytes of this inode from elsewhere too. */
        boolean isCached() {
            return cached;
        }

        /** Whether this is the first read. */
        boolean firstRead() {
            boolean first = !confirmed;
            confirmed = true;
            return first;
        }
    }

    /** A directory, and what its offsets count in. */
    final class OpenDirectory implements OpenHandle {
        private final Inode inode;
        private final boolean cached;

        /** The generation that the kernel believes its copy to be, if the handle is cached. */
        private final String generation;

        private volatile View view;

        private volatile boolean namesOnly;

        /** Whether it was read from. Racy on purpose: at worst a listing is asked for twice. */
        private boolean read;

        /**
         * The view that its offsets count in.
         *
         * @param shown names that stood for something else here than in the store, in any order: they come first
         * @param listing the others
         * @param generation names it as it was made
         */
        record View(java.util.List<String> shown, Set<String> isShown, Listing listing, String generation) {
            private static final AtomicLong OWN = new AtomicLong();

            static View of(Map<String, ?> shown, Listing listing) {
                Set<String> names = Set.copyOf(shown.keySet());
                // With names of our own it is like no other.
                String generation = names.isEmpty() ? listing.generation() : "own " + OWN.incrementAndGet();
                return new View(java.util.List.copyOf(names), names, listing, generation);
            }

            /** The same names over another listing. */
            View over(Listing another) {
                return new View(shown, isShown, another, another.generation());
            }

            /** Whether it is still what {@link #generation} names. */
            boolean isUnchanged() {
                return !shown.isEmpty() || listing.generation().equals(generation);
            }
        }

        /** @param cached whether the kernel may keep what it reads through this handle */
        OpenDirectory(Inode inode, View view, boolean cached) {
            this.inode = inode;
            this.view = view;
            this.generation = view.generation();
            this.cached = cached;
        }

        @Override
        public Inode inode() {
            return inode;
        }

        /** The directory as it is called now: a rename may move it at any moment. */
        Directory directory() {
            return requireNonNull(inode.directory());
        }

        /** Whether the view is of that. */
        boolean isInPlace() {
            return view.listing().directory().equals(directory());
        }

        View view() {
            return view;
        }

        /** Whether the kernel may keep what it reads through this handle. */
        boolean isCached() {
            return cached;
        }

        /** Whether this is the first read. */
        boolean firstRead() {
            boolean first = !read;
            read = true;
            return first;
        }

        /** Whether the listing read now is the one that was opened. */
        boolean isAsOpened() {
            View now = view;
            return now.generation().equals(generation) && now.isUnchanged();
        }

        /** Goes on with another view. */
        void rewind(View fresh) {
            view = fresh;
            namesOnly = false;
        }

        /** The store does not give what entries keep: asked for each, it would let each take a call of its own. */
        void nameOnly() {
            namesOnly = true;
        }

        /** Whether entries of which nothing is known come by their names alone, until the directory is rewound. */
        boolean isNamesOnly() {
            return namesOnly;
        }
    }
}

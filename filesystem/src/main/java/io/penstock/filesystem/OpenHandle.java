package io.penstock.filesystem;

import static java.util.Objects.requireNonNull;

import io.penstock.filesystem.files.OpenCounts.Opener;
import io.penstock.filesystem.files.SharedFile;
import io.penstock.filesystem.kernel.KernelView;
import io.penstock.metadata.Directory;
import io.penstock.metadata.Inode;
import io.penstock.metadata.Listing;
import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;

/** An open file or directory. */
sealed interface OpenHandle {
    Inode inode();

    /** An open file. */
    final class OpenObject implements OpenHandle {
        private final SharedFile file;
        private final int flags;
        private final boolean cached;
        private final Opener opener;

        /** Whether {@link KernelView} was notified of a read. Racy on purpose: at worst it is notified twice. */
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

        /** The file shared with its other handles. */
        SharedFile file() {
            return file;
        }

        /** open(2)'s flags. */
        int flags() {
            return flags;
        }

        boolean isWritable() {
            return OpenFlags.isWrite(flags);
        }

        /** Its share of the file's counts. It may join to write without being writable: to create or truncate. */
        Opener opener() {
            return opener;
        }

        /** A descriptor is closed. @return whether one was closed before: then the program has duplicated it */
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

    /** A file whose written content was lost with the process that it was opened in. */
    record LostFile(Inode inode) implements OpenHandle {}

    /** A directory, and the view that its offsets refer to. */
    final class OpenDirectory implements OpenHandle {
        private final Inode inode;
        private final boolean cached;

        /** The generation of the kernel's copy, if the handle is cached. */
        private final String generation;

        private volatile View view;

        private volatile boolean namesOnly;

        /** Whether it was read from. Racy on purpose: at worst a listing is requested twice. */
        private boolean read;

        /**
         * The view that its offsets refer to.
         *
         * @param shown names that differed here from the store, in any order: they come first; empty for none
         * @param listing the others
         * @param generation identifies the view as created
         */
        record View(java.util.List<String> shown, Set<String> isShown, Listing listing, String generation) {
            private static final AtomicLong OWN = new AtomicLong();

            static View of(Map<String, ?> shown, Listing listing) {
                Set<String> names = Set.copyOf(shown.keySet());
                // With our own names, it equals no other.
                String generation = names.isEmpty() ? listing.generation() : "own " + OWN.incrementAndGet();
                return new View(java.util.List.copyOf(names), names, listing, generation);
            }

            /**
             * Names that an earlier process returned.
             *
             * @param names by the offset that follows each
             * @param first the offset that follows the first possible name
             */
            static View inherited(Map<Long, String> names, int first, Listing listing) {
                int last =
                        names.keySet().stream().mapToInt(Long::intValue).max().orElse(first - 1);
                String[] shown = new String[last - first + 1];
                Arrays.fill(shown, "");
                names.forEach((offset, name) -> shown[offset.intValue() - first] = name);
                return new View(
                        java.util.List.of(shown), Set.copyOf(names.values()), listing, "own " + OWN.incrementAndGet());
            }

            /** The same names over another listing. */
            View over(Listing another) {
                return new View(shown, isShown, another, another.generation());
            }

            /** Whether it is still the one identified by {@link #generation}. */
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

        /** One that an earlier process of this mount opened, and perhaps read. */
        static OpenDirectory inherited(Inode inode, View view) {
            OpenDirectory open = new OpenDirectory(inode, view, false);
            open.read = true;
            return open;
        }

        @Override
        public Inode inode() {
            return inode;
        }

        /** The directory by its current name: a rename may move it at any moment. */
        Directory directory() {
            return requireNonNull(inode.directory());
        }

        /** Whether the view is of that directory. */
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

        /** Whether the current listing is the one that was opened. */
        boolean isAsOpened() {
            View now = view;
            return now.generation().equals(generation) && now.isUnchanged();
        }

        /** Continues with another view. */
        void rewind(View fresh) {
            view = fresh;
            namesOnly = false;
        }

        /** The store does not provide entries' kept attributes: requesting them would take a call per entry. */
        void nameOnly() {
            namesOnly = true;
        }

        /** Whether entries with unknown attributes are returned by name only, until the directory is rewound. */
        boolean isNamesOnly() {
            return namesOnly;
        }
    }
}

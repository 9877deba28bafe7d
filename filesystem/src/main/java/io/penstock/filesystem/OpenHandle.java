package io.penstock.filesystem;

import io.penstock.core.ObjectVersion;
import io.penstock.metadata.Directory;
import io.penstock.metadata.Inode;
import io.penstock.metadata.Listing;
import io.penstock.prefetch.ObjectReader;

/** What a handle stands for. */
sealed interface OpenHandle {
    Inode inode();

    /** A file, bound for good to the version that was current at its open. */
    final class OpenObject implements OpenHandle {
        private final Inode inode;
        private final ObjectVersion version;
        private final ObjectReader reader;
        private final boolean cached;

        /** Whether {@link KernelPages} was told of a read. Racy on purpose: at worst it is told twice. */
        private boolean confirmed;

        OpenObject(Inode inode, ObjectVersion version, ObjectReader reader, boolean cached) {
            this.inode = inode;
            this.version = version;
            this.reader = reader;
            this.cached = cached;
        }

        @Override
        public Inode inode() {
            return inode;
        }

        ObjectVersion version() {
            return version;
        }

        ObjectReader reader() {
            return reader;
        }

        /** Whether {@link KernelPages} counts it: the kernel has bytes of this inode from elsewhere too. */
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

    /** A directory, and the listing that its offsets count in. */
    final class OpenDirectory implements OpenHandle {
        private final Inode inode;
        private final Directory directory;
        private final String edition;
        private final boolean cached;
        private volatile Listing listing;

        /** Whether it was read from. Racy on purpose: at worst a listing is asked for twice. */
        private boolean read;

        /** @param edition what the kernel believes its copy to be, if the handle is cached */
        OpenDirectory(Inode inode, Directory directory, Listing listing, String edition, boolean cached) {
            this.inode = inode;
            this.directory = directory;
            this.listing = listing;
            this.edition = edition;
            this.cached = cached;
        }

        @Override
        public Inode inode() {
            return inode;
        }

        Directory directory() {
            return directory;
        }

        Listing listing() {
            return listing;
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

        /** Whether what is read now is what was opened. */
        boolean isAsOpened() {
            return listing.edition().equals(edition);
        }

        /** Goes on with another listing: offsets of the former no longer count. */
        void rewind(Listing fresh) {
            listing = fresh;
        }
    }
}

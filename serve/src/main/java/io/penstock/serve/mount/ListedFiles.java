package io.penstock.serve.mount;

import io.penstock.core.ObjectVersion;
import io.penstock.metadata.FileEntry;
import io.penstock.metadata.Inode.Place;
import io.penstock.metadata.Listing;
import io.penstock.metadata.Tree;
import io.penstock.prefetch.DirectoryFiles;
import org.jspecify.annotations.Nullable;

/** A directory's listing, as readahead needs it. */
record ListedFiles(Listing listing, int prefixLength) implements DirectoryFiles {
    /** The files of the directory that shows the object; null if it is not listed yet. */
    static @Nullable ListedFiles around(Tree tree, String key) {
        Place place = tree.place(key);
        Listing listing = place == null ? null : tree.listNow(place.parent());
        return place == null || listing == null
                ? null
                : new ListedFiles(listing, key.length() - place.name().length());
    }

    @Override
    public int indexOf(String key) {
        return listing.indexOf(key.substring(prefixLength));
    }

    @Override
    public @Nullable ObjectVersion get(int index) {
        Listing.Entry entry = listing.get(index);
        return entry != null && entry.node() instanceof FileEntry(var object) ? object.version() : null;
    }

    @Override
    public int size() {
        return listing.size();
    }

    @Override
    public boolean isWhole() {
        return listing.isWhole();
    }
}

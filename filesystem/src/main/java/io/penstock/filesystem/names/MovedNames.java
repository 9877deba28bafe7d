package io.penstock.filesystem.names;

import io.penstock.core.ObjectVersion;
import io.penstock.filesystem.files.SharedFiles;
import io.penstock.filesystem.names.MovingDirectories.Move;
import io.penstock.filesystem.names.ObjectMoves.Moved;
import io.penstock.metadata.FileEntry;
import io.penstock.metadata.Inode;
import io.penstock.metadata.Inode.Place;
import io.penstock.metadata.InodeTable;
import io.penstock.metadata.Tree;
import io.penstock.metadata.attributes.KeptAttributes;
import io.penstock.metadata.attributes.ObjectAttributes;
import io.penstock.objectstore.StoredObject;
import java.util.HashMap;
import java.util.Map;

/**
 * Moves the cached state of a directory to its new name, once its objects are copied: inodes, open files, times and
 * attributes. Thread-safe.
 */
final class MovedNames {
    private final Tree tree;
    private final InodeTable inodes;
    private final SharedFiles files;
    private final KeptAttributes kept;

    MovedNames(InodeTable inodes, SharedFiles files) {
        this.tree = files.tree();
        this.inodes = inodes;
        this.files = files;
        this.kept = files.kept();
    }

    /**
     * @param copies by the keys of the originals
     * @param replacesMarker whether the new name still has another directory's object
     */
    void open(Move move, Map<String, Moved> copies, boolean replacesMarker) {
        Place from = Place.of(move.from());
        Map<Inode, Moved> opened = new HashMap<>();
        Map<ObjectVersion, ObjectAttributes> attributes = new HashMap<>();
        for (Moved moved : copies.values()) {
            ObjectVersion original = moved.original().version();
            if (original.key().endsWith("/")) {
                continue; // a directory's marker is not a file
            }
            files.times()
                    .set(moved.copy(), files.times().of(original), files.times().changed(original));
            ObjectAttributes known = kept.of(original);
            if (known != null) {
                attributes.put(moved.copy(), known);
            }
            Place place = Place.of(original.key());
            Inode inode = inodes.find(place.parent(), place.name());
            if (inode != null && !inode.isDirectory()) {
                opened.put(inode, moved);
            }
        }
        tree.keep(from.parent());
        tree.forgetAll(move.to()); // answers from before the copies existed must not show below the moved inodes
        kept.forgetAll(move.to());
        if (replacesMarker) {
            kept.moved(move.from(), move.to());
        }
        inodes.move(move.from(), move.to(), copies::containsKey);
        files.times().moved(move.from(), move.to());
        tree.moved(move.from(), move.to());
        kept.forgetAll(move.from());
        attributes.forEach(kept::set);
        opened.forEach(this::open);
    }

    /** The inode's files read the copy from now on. */
    private void open(Inode inode, Moved moved) {
        ObjectVersion after = moved.copy();
        Place place = inode.place();
        if (place == null || !place.key().equals(after.key())) {
            return; // it was removed since
        }
        tree.changed(
                place.parent(),
                place.name(),
                new FileEntry(new StoredObject(after, moved.original().storageClass())));
        files.moved(inode.number(), moved.original().version(), after);
    }
}

package io.penstock.filesystem.files;

import io.penstock.metadata.Inode;
import io.penstock.metadata.Inode.Place;
import io.penstock.metadata.LiveFile;
import io.penstock.metadata.Tree;
import org.jspecify.annotations.Nullable;

/** The name of a {@link SharedFile}, which the tree shows as this file at times. Guarded by the file's monitor. */
final class OverlaidName {
    private final Tree tree;
    private final Inode inode;
    private final LiveFile file;

    /** Where the tree shows the file; null if it does not. */
    private @Nullable Place overlaidAt;

    OverlaidName(Tree tree, Inode inode, LiveFile file) {
        this.tree = tree;
        this.inode = inode;
        this.file = file;
    }

    boolean isOverlaid() {
        return overlaidAt != null;
    }

    /** Shows the file at its current name, whatever the store has. */
    void overlay() {
        Place place = inode.place();
        if (place != null) {
            if (!place.equals(overlaidAt)) {
                uncover(); // it was moved since
            }
            tree.overlay(place.parent(), place.name(), file);
            overlaidAt = place;
        }
    }

    /** Shows the store's object at the name again. */
    void uncover() {
        Place place = overlaidAt;
        if (place != null) {
            tree.uncover(place.parent(), place.name(), file);
            overlaidAt = null;
        }
    }
}

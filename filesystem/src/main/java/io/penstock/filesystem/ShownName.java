package io.penstock.filesystem;

import io.penstock.metadata.Inode;
import io.penstock.metadata.Inode.Place;
import io.penstock.metadata.LiveFile;
import io.penstock.metadata.Tree;
import org.jspecify.annotations.Nullable;

/** The name of a {@link SharedFile}, which at times stands for it in the tree. Guarded by the file's monitor. */
final class ShownName {
    private final Tree tree;
    private final Inode inode;
    private final LiveFile file;

    /** Where it stands for the file; null if it does not. */
    private @Nullable Place shownAt;

    ShownName(Tree tree, Inode inode, LiveFile file) {
        this.tree = tree;
        this.inode = inode;
        this.file = file;
    }

    boolean isShown() {
        return shownAt != null;
    }

    /** The name that the file has now stands for it, whatever the store has. */
    void show() {
        Place place = inode.place();
        if (place != null) {
            if (!place.equals(shownAt)) {
                hide(); // it was moved in between
            }
            tree.show(place.parent(), place.name(), file);
            shownAt = place;
        }
    }

    /** The name stands for what the store has. */
    void hide() {
        Place place = shownAt;
        if (place != null) {
            tree.unshow(place.parent(), place.name(), file);
            shownAt = null;
        }
    }
}

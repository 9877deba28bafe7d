package io.penstock.filesystem;

import io.penstock.filesystem.OpenHandle.OpenDirectory;
import io.penstock.metadata.Directory;

/**
 * Where one entry of an open directory goes.
 *
 * @param directory by its name when the entry was found in it
 * @param next the offset after the entry
 */
record EntrySlot(OpenDirectory open, Directory directory, String name, long next, DirectorySink sink) {
    /** What happened to an entry. */
    enum Added {
        /** The sink has it. */
        TAKEN,
        /** The sink has no room for it. */
        FULL,
        /** Its name has nothing any more. */
        SKIPPED,
        /** The directory was renamed: this entry belongs to the old name. */
        MOVED
    }

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

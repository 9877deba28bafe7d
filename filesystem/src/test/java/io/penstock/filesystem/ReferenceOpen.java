package io.penstock.filesystem;

import org.jspecify.annotations.Nullable;

/**
 * The state of an open file in {@link ReferenceTree}.
 *
 * @param path null once it is removed, or replaced
 * @param byOthers whether another node may have done that
 * @param now its state; for a file that has a path and is open for reading, use the tree's
 * @param dirty whether the store does not have its current state
 * @param synced the state promised by the last fsync: null if nothing was written before it, or all is committed
 */
record ReferenceOpen(
        boolean writes,
        @Nullable String path,
        boolean byOthers,
        ReferenceEntry now,
        boolean dirty,
        @Nullable ReferenceEntry synced) {
    static ReferenceOpen toRead(String path, ReferenceEntry entry) {
        return new ReferenceOpen(false, path, false, entry, false, null);
    }

    static ReferenceOpen toWrite(String path, ReferenceEntry entry, boolean dirty) {
        return new ReferenceOpen(true, path, false, entry, dirty, null);
    }

    ReferenceOpen removed(ReferenceEntry last, boolean others) {
        return new ReferenceOpen(writes, null, others, last, false, null);
    }

    ReferenceOpen at(String name) {
        return new ReferenceOpen(writes, name, byOthers, now, dirty, synced);
    }

    ReferenceOpen changed(ReferenceEntry after) {
        return new ReferenceOpen(writes, path, byOthers, after, path != null, synced);
    }

    ReferenceOpen committed() {
        return new ReferenceOpen(writes, path, byOthers, now, false, null);
    }

    ReferenceOpen fsynced() {
        return dirty ? new ReferenceOpen(writes, path, byOthers, now, true, now) : this;
    }
}

package io.penstock.prefetch;

import io.penstock.core.ObjectVersion;
import org.jspecify.annotations.Nullable;

/**
 * The listed files of a directory, each with an index that never changes. Two objects of the same listing are equal.
 * Safe for use by any number of threads; never waits.
 */
public interface DirectoryFiles {
    /** The index of the file with this key; -1 if it is not listed. */
    int indexOf(String key);

    /** The file's version; null if the file is gone, or if no file has this index. */
    @Nullable
    ObjectVersion get(int index);

    /** One above the highest index so far. */
    int size();

    /** Whether the listing is complete. */
    boolean isWhole();

    /** Finds the directory of a file. */
    @FunctionalInterface
    interface Source {
        /** The directory of the file with this key; null if it is not listed, or not yet. Never waits. */
        @Nullable
        DirectoryFiles of(String key);
    }
}

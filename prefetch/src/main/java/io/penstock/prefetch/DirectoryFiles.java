package io.penstock.prefetch;

import io.penstock.core.ObjectVersion;
import org.jspecify.annotations.Nullable;

/**
 * The listed files of a directory, each with an index that it keeps. Equal to those of the same listing. Safe for use by any
 * number of threads; never waits.
 */
public interface DirectoryFiles {
    /** The index of the file with this key; -1 if it is not listed. */
    int indexOf(String key);

    /** The file's version; null if it is gone, or no file has this index. */
    @Nullable
    ObjectVersion get(int index);

    /** One above the last index by now. */
    int size();

    /** Whether no others will come. */
    boolean isWhole();

    /** Knows directories by the files in them. */
    @FunctionalInterface
    interface Source {
        /** The directory of the file with this key; null if it is not listed yet, but may be soon. Never waits. */
        @Nullable
        DirectoryFiles of(String key);
    }
}

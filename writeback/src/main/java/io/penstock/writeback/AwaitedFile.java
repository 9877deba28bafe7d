package io.penstock.writeback;

/**
 * The changes of a file that were closed or fsynced by some moment, for a caller that waits until the object contains
 * them. Later writes to the file do not matter. Holds nothing that must be released. Safe for use by any number of
 * threads.
 */
public interface AwaitedFile {
    /** Key of the object under the file's current name. */
    String key();

    /** Never waits. Begins a commit of a file that a program has open, if none is under way. */
    Progress progress();

    /** State of these changes. */
    sealed interface Progress {
        /** @param bytes of the file not uploaded yet */
        record Waiting(long bytes) implements Progress {}

        /** The object contains the changes, or the file was removed or replaced. */
        record Visible() implements Progress {}

        /** The commit failed until something is fixed, or permanently. The content is in the staging folder. */
        record Failed(String why) implements Progress {}
    }
}

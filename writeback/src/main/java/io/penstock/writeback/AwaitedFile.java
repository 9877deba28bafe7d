package io.penstock.writeback;

/**
 * The changes of a file that were closed or fsynced by some moment, for a caller that waits until the object has them,
 * whatever is written to the file afterwards. Holds nothing that must be given back. Safe for use by any number of
 * threads.
 */
public interface AwaitedFile {
    /** Of the object, as the file is named now. */
    String key();

    /** Never waits. A file that a program has open is committed for this, if nothing else has it committed. */
    Progress progress();

    /** How far it is. */
    sealed interface Progress {
        /** @param bytes of the file that are not uploaded */
        record Waiting(long bytes) implements Progress {}

        /** The object has it, or the file was removed or replaced. */
        record Visible() implements Progress {}

        /** It cannot be committed until something is mended, or never: its content is in the staging folder. */
        record Failed(String why) implements Progress {}
    }
}

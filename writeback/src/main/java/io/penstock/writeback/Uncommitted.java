package io.penstock.writeback;

/**
 * The progress of a written file towards the store.
 *
 * @param progress of the whole file
 * @param size of the file in bytes
 * @param writtenBytes that the base version does not contain
 * @param stagedBytes of these on the staging disk, in whole blocks
 * @param uploadedBytes of the next version that the store has
 */
public record Uncommitted(
        WrittenFile.Progress progress, long size, long writtenBytes, long stagedBytes, long uploadedBytes) {}

package io.penstock.writeback;

/**
 * How far a written file is on its way to the store.
 *
 * @param progress of the file as a whole
 * @param size of the file in bytes
 * @param writtenBytes that the base version does not have
 * @param stagedBytes of these on the staging disk, in whole blocks
 * @param uploadedBytes that the store has of the next version
 */
public record Uncommitted(
        WrittenFile.Progress progress, long size, long writtenBytes, long stagedBytes, long uploadedBytes) {}

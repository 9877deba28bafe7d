package io.penstock.writeback;

/**
 * A snapshot of counters and levels.
 *
 * @param dirtyBytes blocks in memory
 * @param stagedBytes bytes on the staging disk
 * @param backlogFiles files closed and not yet visible
 * @param backlogBytes bytes of those files still to upload
 * @param uploadedBytes sent to the store since the mount
 * @param copiedBytes copied within the store since the mount
 * @param failedFiles files whose commit failed permanently and whose content waits for {@code penstock recover}
 */
public record WritebackStatistics(
        long dirtyBytes,
        long stagedBytes,
        int backlogFiles,
        long backlogBytes,
        long uploadedBytes,
        long copiedBytes,
        int failedFiles) {}

package io.penstock.serve.control;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The progress of a mount's job, as the control socket sends it.
 *
 * @param job its number
 * @param command its kind, such as {@code warm}
 * @param paths its paths, as given
 * @param error null unless it has failed
 * @param seconds how long it has run, or took
 * @param files files done so far
 * @param bytes bytes of the files done so far
 * @param totalFiles null while they are being counted
 * @param totalBytes null while they are being counted
 * @param waitsFor the path that it waits for; null if there is none
 * @param outcomes the number of files by outcome
 * @param problemCount the number of files and paths that could not be processed
 * @param problems the first of them
 * @param residencies the result of {@code residency}, a row for each path; empty while it runs, in lists of jobs, and
 *     once several later jobs have ended
 */
public record JobStatus(
        int job,
        String command,
        List<String> paths,
        State state,
        @Nullable String error,
        double seconds,
        long files,
        long bytes,
        @Nullable Long totalFiles,
        @Nullable Long totalBytes,
        @Nullable String waitsFor,
        Map<String, Long> outcomes,
        long problemCount,
        List<Problem> problems,
        List<PathResidency> residencies) {
    public enum State {
        RUNNING,
        DONE,
        FAILED,
        CANCELLED
    }

    /** A path, and why it was not processed. */
    public record Problem(String path, String why) {}

    /**
     * How many bytes of a path's files are where.
     *
     * @param files the number of files that have bytes
     * @param pinned the bytes of pinned files, cached or not
     * @param pinnedUntil when the first of these pins ends; null if none does
     */
    public record PathResidency(
            String path,
            long files,
            long bytes,
            long nvme,
            long memory,
            long pinned,
            @Nullable String pinnedUntil) {}
}

package io.penstock.serve.control;

/**
 * A mount's knowledge of a file that is being written: the result of {@code why} for such a file.
 *
 * @param state {@code dirty}, {@code staged}, {@code sent} or {@code visible}, as in the attribute user.penstock.object
 * @param bytes the file's size
 * @param written bytes that the version in the bucket does not have
 * @param staged of these, on the staging disk
 * @param uploaded bytes that the store has of the next version
 */
public record WrittenFileReport(
        String path, String key, String state, long bytes, long written, long staged, long uploaded) {}

package io.penstock.serve.control;

/**
 * What a mount knows about a file that is being written: the result of {@code why} for such a file.
 *
 * @param state {@code dirty}, {@code staged}, {@code sent} or {@code visible}, as in the attribute user.penstock.object
 * @param bytes the file's size
 * @param written bytes that the version in the bucket lacks
 * @param staged those of them that are on the staging disk
 * @param uploaded bytes of the next version that the store already has
 */
public record WrittenFileReport(
        String path, String key, String state, long bytes, long written, long staged, long uploaded) {}

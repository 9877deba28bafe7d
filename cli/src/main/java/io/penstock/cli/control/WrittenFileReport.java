package io.penstock.cli.control;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;

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
        String path, String key, String state, long bytes, long written, long staged, long uploaded) {
    /** Whether the mount's response is such a report. */
    public static boolean isIn(JsonNode result) {
        return result.has("state");
    }

    /** From the mount's response. */
    public static WrittenFileReport of(JsonNode result) throws IOException {
        return Json.MAPPER.treeToValue(result, WrittenFileReport.class);
    }
}

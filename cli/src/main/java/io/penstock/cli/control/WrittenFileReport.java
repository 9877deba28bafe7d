package io.penstock.cli.control;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;

/**
 * What a mount knows of a file that is being written: the result of {@code why} for such a file.
 *
 * @param state {@code dirty}, {@code staged}, {@code sent} or {@code visible}, as in the attribute user.penstock.object
 * @param bytes the file's size
 * @param written bytes that the version in the bucket does not have
 * @param staged of these, on the staging disk
 * @param uploaded bytes that the store has of the next version
 */
public record WrittenFileReport(
        String path, String key, String state, long bytes, long written, long staged, long uploaded) {
    /** Whether this is what the mount's answer has. */
    public static boolean isIn(JsonNode result) {
        return result.has("state");
    }

    /** As the mount's answer has it. */
    public static WrittenFileReport of(JsonNode result) throws IOException {
        return Json.MAPPER.treeToValue(result, WrittenFileReport.class);
    }
}

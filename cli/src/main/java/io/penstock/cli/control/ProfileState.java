package io.penstock.cli.control;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * The last profile of a mount: the result of {@code profile} and {@code profile-state}.
 *
 * @param output the file, an absolute path; null if there was none
 * @param recording whether it is not written yet
 * @param failure why it was not written; null if it was
 * @param shortened whether the mount ended before its time, and it has the events until then
 */
public record ProfileState(
        @Nullable String output,
        boolean recording,
        @Nullable String failure,
        boolean shortened) {
    /** The longest recording. */
    public static final int LONGEST_SECONDS = 3_600;

    /** There was none yet. */
    public static final ProfileState NONE = new ProfileState(null, false, null, false);

    /** From the mount's response. */
    public static ProfileState of(JsonNode result) throws IOException {
        return Json.MAPPER.treeToValue(result, ProfileState.class);
    }

    /** As {@link #of} takes it. */
    public JsonNode toJson() {
        return Json.MAPPER.valueToTree(this);
    }
}

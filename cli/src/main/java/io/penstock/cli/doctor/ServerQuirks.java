package io.penstock.cli.doctor;

import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * How the server behaves where servers differ. A trial that was not made is null, or not in the map.
 *
 * @param ifMatchOnGet whether a GET of another version is refused
 * @param startAfter whether a listing begins where it is to begin
 * @param namesKept whether a key with special characters is listed as it was written
 * @param unequalParts whether an upload may have parts of unequal sizes
 * @param upload how bodies must be sent for the server to take them
 * @param gaps requests and headers that the server does not implement and Penstock goes without, as S3 names them
 * @param conditions whether conditions are checked, by kind of request
 */
record ServerQuirks(
        @Nullable Boolean ifMatchOnGet,
        @Nullable Boolean startAfter,
        @Nullable Boolean namesKept,
        @Nullable Boolean unequalParts,
        @Nullable Upload upload,
        Set<String> gaps,
        Map<String, Boolean> conditions) {

    /** The outcome of sending a body. */
    sealed interface Upload {
        /** As the settings have it. */
        record AsSet() implements Upload {}

        /**
         * Only with other settings.
         *
         * @param refusal the server's message for the present ones
         * @param settings such as {@code write.checksums=md5}
         */
        record Otherwise(String refusal, String settings) implements Upload {}

        /** Not at all. */
        record Refused(String refusal) implements Upload {}
    }
}

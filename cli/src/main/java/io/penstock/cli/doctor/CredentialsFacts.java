package io.penstock.cli.doctor;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** The credentials that sign requests. */
sealed interface CredentialsFacts {
    /** Nothing, as the settings want it. */
    record Anonymous() implements CredentialsFacts {}

    /**
     * There are none.
     *
     * @param why and where they were looked for
     */
    record Missing(String why) implements CredentialsFacts {}

    /**
     * An access key.
     *
     * @param accessKeyId its name, which is no secret
     * @param source which of the places has it
     * @param left the time until they expire; null if they do not, or do not tell
     */
    record Found(
            String accessKeyId, String source, @Nullable Duration left) implements CredentialsFacts {}
}

package io.penstock.metadata;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * When the whole bucket is listed, and how long that is believed.
 *
 * @param mode when it is listed first
 * @param refresh how long after a listing the next one begins, and until when the one before it is believed: above zero;
 *     null to list once, and to believe each name for {@link MetadataConfig#ttl} since its page was asked for
 * @param memoryBytes what the names of one listing may take outside the heap: more ends it
 */
public record PreloadConfig(Mode mode, @Nullable Duration refresh, long memoryBytes) {
    /** Each directory is listed when it is entered. */
    public static final PreloadConfig OFF = new PreloadConfig(Mode.OFF, null, 0);

    /** When the whole bucket is listed first. */
    public enum Mode {
        OFF,
        /** Once many directories have been listed one by one, if it takes less than half of the time it is believed for. */
        AUTO,
        /** As soon as it is mounted. */
        ON
    }

    public PreloadConfig {
        if (refresh != null && !refresh.isPositive()) {
            throw new IllegalArgumentException("metadata.refresh is " + refresh + ", not above zero");
        }
        if (memoryBytes < 0) {
            throw new IllegalArgumentException("metadata.preload-memory is " + memoryBytes + ", not 0 or more");
        }
    }
}

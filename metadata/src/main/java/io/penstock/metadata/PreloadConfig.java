package io.penstock.metadata;

import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * When the whole bucket is listed, and how long that is believed.
 *
 * @param mode when it is listed first
 * @param refresh how long after a listing the next one begins, and until when the one before it is believed: above zero;
 *     null to list once, and to believe each name for {@link MetadataConfig#ttl} since its page was asked for
 * @param memoryBytes what the names of one listing may take outside the heap: more ends it
 * @param kept where the listing is kept for the next mount, if it is refreshed; null for nowhere
 */
public record PreloadConfig(
        Mode mode,
        @Nullable Duration refresh,
        long memoryBytes,
        @Nullable Kept kept) {
    /** Each directory is listed when it is entered. */
    public static final PreloadConfig OFF = new PreloadConfig(Mode.OFF, null, 0, null);

    /** When the whole bucket is listed first. */
    public enum Mode {
        OFF,
        /** Once many directories have been listed one by one, if it takes less than half of the time it is believed for. */
        AUTO,
        /** As soon as it is mounted. */
        ON
    }

    /**
     * A file for this process alone.
     *
     * @param owner what the bucket is told from others by: server, name and prefix
     */
    public record Kept(Path file, String owner) {}

    public PreloadConfig {
        if (refresh != null && !refresh.isPositive()) {
            throw new IllegalArgumentException("metadata.refresh is " + refresh + ", not above zero");
        }
        if (memoryBytes < 0) {
            throw new IllegalArgumentException("metadata.preload-memory is " + memoryBytes + ", not 0 or more");
        }
    }
}

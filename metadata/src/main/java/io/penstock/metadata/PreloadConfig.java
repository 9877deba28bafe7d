package io.penstock.metadata;

import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * When the whole bucket is listed, and how long the listing is valid.
 *
 * @param mode when it is first listed
 * @param refresh the time between a listing and the next one, during which the listing is valid: above zero; null to
 *     list once, and to keep each name for {@link MetadataConfig#ttl} since its page was requested
 * @param memoryBytes maximum memory outside the heap for the names of one listing: more ends it
 * @param kept where the listing is kept for the next mount, if it is refreshed; null for nowhere
 */
public record PreloadConfig(
        Mode mode,
        @Nullable Duration refresh,
        long memoryBytes,
        @Nullable Kept kept) {
    /** Each directory is listed when it is entered. */
    public static final PreloadConfig OFF = new PreloadConfig(Mode.OFF, null, 0, null);

    /** When the whole bucket is first listed. */
    public enum Mode {
        OFF,
        /**
         * After many directories have been listed one by one, if listing the bucket takes less than half of the
         * listing's validity.
         */
        AUTO,
        /** Right after mounting. */
        ON
    }

    /**
     * A file for this process alone.
     *
     * @param owner identifies the bucket: server, name and prefix
     */
    public record Kept(Path file, String owner) {}

    public PreloadConfig {
        if (refresh != null && !refresh.isPositive()) {
            throw new IllegalArgumentException("metadata.refresh must be more than 0, not " + refresh);
        }
        if (memoryBytes < 0) {
            throw new IllegalArgumentException("metadata.preload-memory must be 0 or more, not " + memoryBytes);
        }
    }
}

package io.penstock.filesystem;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * What chmod(2), chown(2), truncate(2) and utimensat(2) ask for; what is null stays as it is.
 *
 * @param mode permission bits
 * @param size bytes
 */
public record AttributeChange(
        @Nullable Integer mode,
        @Nullable Integer uid,
        @Nullable Integer gid,
        @Nullable Long size,
        @Nullable Instant accessed,
        @Nullable Instant modified) {}

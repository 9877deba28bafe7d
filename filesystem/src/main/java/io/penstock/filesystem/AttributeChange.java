package io.penstock.filesystem;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * The changes that chmod(2), chown(2), truncate(2) and utimensat(2) ask for; null leaves an attribute as it is.
 *
 * @param mode permission bits
 * @param size bytes
 * @param written the time of the last write, as a kernel tells that collects writes: no program has set it
 * @param dropsSetIds whether a program without CAP_FSETID cuts a file, which takes its set-user-ID and set-group-ID bits
 */
public record AttributeChange(
        @Nullable Integer mode,
        @Nullable Integer uid,
        @Nullable Integer gid,
        @Nullable Long size,
        @Nullable Instant accessed,
        @Nullable Instant modified,
        @Nullable Instant written,
        boolean dropsSetIds) {
    public AttributeChange(
            @Nullable Integer mode,
            @Nullable Integer uid,
            @Nullable Integer gid,
            @Nullable Long size,
            @Nullable Instant accessed,
            @Nullable Instant modified,
            @Nullable Instant written) {
        this(mode, uid, gid, size, accessed, modified, written, false);
    }

    /** Whether something is asked for that is kept beside the content. */
    boolean isOfAttributes() {
        return mode != null || uid != null || gid != null || accessed != null || modified != null;
    }
}

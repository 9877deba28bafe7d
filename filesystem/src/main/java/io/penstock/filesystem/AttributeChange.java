package io.penstock.filesystem;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * The changes requested by chmod(2), chown(2), truncate(2) and utimensat(2); null leaves an attribute as it is.
 *
 * @param mode permission bits
 * @param size bytes
 * @param written the time of the last write, from a kernel that collects writes: no program has set it
 * @param dropsSetIds whether a program without CAP_FSETID truncates the file, which clears its set-ID bits
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

    /** Whether it changes something that is kept separately from the content. */
    boolean isOfAttributes() {
        return mode != null || uid != null || gid != null || accessed != null || modified != null;
    }
}

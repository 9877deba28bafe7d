package io.penstock.writeback.content;

import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;
import org.jspecify.annotations.Nullable;

/**
 * A run of a file's bytes from one place.
 *
 * @param range of the file
 * @param source the version with these bytes at the same offsets, so that the store can copy them; null if they must be
 *     sent
 */
public record Run(ByteRange range, @Nullable ObjectVersion source) {
    /** Bytes that must be sent. */
    public static Run sent(ByteRange range) {
        return new Run(range, null);
    }

    public boolean isSent() {
        return source == null;
    }

    public long length() {
        return range.length();
    }

    /** The same run with other ends. The bytes it gains are from the same place. */
    public Run between(long start, long end) {
        return new Run(new ByteRange(start, end - start), source);
    }

    /** Whether the next run, which begins where this one ends, is from the same place. */
    public boolean continuesIn(Run next) {
        return source == null ? next.source == null : source.equals(next.source);
    }
}

package io.penstock.fuse.jnr;

import io.penstock.filesystem.AttributeChange;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import ru.serce.jnrfuse.struct.Timespec;

/** Changes that libfuse requests, one kind at a time. */
final class SetattrUpcalls {
    /** tv_nsec in utimensat(2): the current time, or unchanged. */
    private static final long UTIME_NOW = 0x3fff_ffff;

    private static final long UTIME_OMIT = 0x3fff_fffe;

    /** chown(2): (uid_t) -1 leaves it unchanged. */
    private static final int UNCHANGED = -1;

    private SetattrUpcalls() {}

    static AttributeChange mode(long mode) {
        return new AttributeChange((int) mode, null, null, null, null, null, null);
    }

    static AttributeChange owner(long uid, long gid) {
        return new AttributeChange(null, id(uid), id(gid), null, null, null, null);
    }

    static AttributeChange size(long size) {
        return new AttributeChange(null, null, null, size, null, null, null);
    }

    static AttributeChange times(Timespec accessed, Timespec modified) {
        return new AttributeChange(null, null, null, null, time(accessed), time(modified), null);
    }

    private static @Nullable Integer id(long id) {
        return (int) id == UNCHANGED ? null : (Integer) (int) id;
    }

    private static @Nullable Instant time(Timespec time) {
        long nanoseconds = time.tv_nsec.longValue();
        if (nanoseconds == UTIME_OMIT) {
            return null;
        }
        return nanoseconds == UTIME_NOW ? Instant.now() : Instant.ofEpochSecond(time.tv_sec.longValue(), nanoseconds);
    }
}

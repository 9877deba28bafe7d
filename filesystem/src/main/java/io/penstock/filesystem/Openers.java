package io.penstock.filesystem;

import io.penstock.filesystem.OpenHandle.OpenObject;

/** Who has a {@link SharedFile} open, counted. Guarded by the file's monitor. */
final class Openers {
    private int handles;
    private int writers;

    /** Writers that have not been flushed since they wrote last: the last of these commits. */
    private int unflushed;

    void join(boolean write) {
        handles++;
        if (write) {
            writers++;
            unflushed++;
        }
    }

    /** @param flushed whether it was {@link #flush}ed and has not written since */
    void leave(boolean wrote, boolean flushed) {
        handles--;
        if (wrote) {
            writers--;
            unflushed -= flushed ? 0 : 1;
        }
    }

    /** A descriptor of the handle is closed. */
    void flush(OpenObject handle) {
        if (!handle.flushed) {
            handle.flushed = true;
            unflushed--;
        }
    }

    /** The handle cannot be written through: no flush of it is to be waited for. */
    void add(OpenObject handle) {
        if (handle.isWriter() && !handle.isWritable()) {
            flush(handle);
        }
    }

    /** The handle, which may have been flushed, writes. */
    void write(OpenObject handle) {
        if (handle.flushed) {
            handle.flushed = false;
            unflushed++;
        }
    }

    boolean isAny() {
        return handles > 0;
    }

    boolean isAnyToWrite() {
        return writers > 0;
    }

    boolean isAnyUnflushed() {
        return unflushed > 0;
    }
}

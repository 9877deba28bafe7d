package io.penstock.filesystem.files;

/** Counts the handles that have a {@link SharedFile} open. Guarded by the file's monitor. */
public final class OpenCounts {
    private int handles;
    private int writers;

    /** Writers that have not been flushed since their last write: the last of these commits. */
    private int unflushed;

    /** One handle's share of the counts. */
    public static final class Opener {
        private final boolean isWriter;

        /** Whether it was closed, by a flush, since its last write. */
        private boolean flushed;

        /** @param isWriter whether it has joined to write */
        public Opener(boolean isWriter) {
            this.isWriter = isWriter;
        }

        public boolean isWriter() {
            return isWriter;
        }

        boolean isFlushed() {
            return flushed;
        }
    }

    void join(boolean write) {
        handles++;
        if (write) {
            writers++;
            unflushed++;
        }
    }

    void leave(Opener opener) {
        handles--;
        if (opener.isWriter) {
            writers--;
            unflushed -= opener.flushed ? 0 : 1;
        }
    }

    /** A descriptor of the handle is closed. */
    void flush(Opener opener) {
        if (opener.isWriter && !opener.flushed) {
            opener.flushed = true;
            unflushed--;
        }
    }

    /** The handle writes; it may have been flushed before. */
    void write(Opener opener) {
        if (opener.flushed) {
            opener.flushed = false;
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

package io.penstock.fuse.kernel;

import java.util.function.LongUnaryOperator;

/**
 * How far the kernel reads ahead in files that are opened from now on, chosen for each open.
 *
 * <p>The kernel copies the mount's value into a file once it has the reply to OPEN (do_dentry_open in fs/open.c), and
 * keeps it there. So it is set before the reply. An open that is answered at the same time may get the other's value: it
 * reads too little ahead, or too much, until it is closed.
 *
 * <p>Safe for use by any number of threads.
 */
final class Readahead {
    /**
     * In a file that is not known to be read in sequence, bytes. A fault in a map reads so much around it, wanted or not,
     * and a read of up to so much is one request.
     */
    static final long CAUTIOUS = 256 << 10;

    private static final int BYTES_PER_KIB = 1024;

    private final LongUnaryOperator setting;

    /** In a file that is read in sequence, bytes; {@link #CAUTIOUS} is at most as much. */
    private final long far;

    /** Whether the value can be chosen. Guarded by this for writing: once it is refused, it is left. */
    private volatile boolean isChosen;

    /** Guarded by this for writing. */
    private volatile long now;

    /**
     * @param setting sets the value in bytes; returns the present one, 0 if it is unknown
     * @param far in a file that is read in sequence, bytes; 0 leaves the kernel's default
     */
    Readahead(LongUnaryOperator setting, long far) {
        this.setting = setting;
        this.far = far;
        this.now = setting.applyAsLong(far);
        this.isChosen = far > CAUTIOUS && now == far;
    }

    /** For the file whose OPEN is answered next. */
    void choose(boolean streamed) {
        long wanted = streamed ? far : CAUTIOUS;
        if (isChosen && now != wanted) {
            set(wanted);
        }
    }

    private synchronized void set(long bytes) {
        if (isChosen && now != bytes) {
            now = setting.applyAsLong(bytes);
            isChosen = now == bytes;
        }
    }

    @Override
    public String toString() {
        String cautious = isChosen ? CAUTIOUS / BYTES_PER_KIB + " or " : "";
        return cautious + (isChosen ? far : now) / BYTES_PER_KIB + " KiB";
    }
}

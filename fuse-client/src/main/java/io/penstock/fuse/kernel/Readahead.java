package io.penstock.fuse.kernel;

import java.util.function.LongUnaryOperator;

/**
 * How far the kernel reads ahead in files opened from now on, chosen for each open.
 *
 * <p>After the reply to OPEN, the kernel copies the mount's value into the file, which keeps it (do_dentry_open in
 * fs/open.c). So the value is set before the reply. A concurrent open may get the other's value: until it is closed, it
 * reads ahead too little or too much.
 *
 * <p>Safe for use by any number of threads.
 */
final class Readahead {
    /**
     * In bytes, for files not known to be read sequentially. A fault in a map reads this much around it, wanted or not,
     * and a read of up to this much is one request.
     */
    static final long CAUTIOUS = 256 << 10;

    private static final int BYTES_PER_KIB = 1024;

    private final LongUnaryOperator setting;

    /** In bytes, for files read sequentially; {@link #CAUTIOUS} is at most as much. */
    private final long far;

    /** Whether the value can be chosen. Guarded by this for writing: once the kernel refuses a value, this stops. */
    private volatile boolean isChosen;

    /** Guarded by this for writing. */
    private volatile long now;

    /**
     * @param setting sets the value in bytes; returns the current one, 0 if unknown
     * @param far bytes for files read sequentially; 0 leaves the kernel's default
     */
    Readahead(LongUnaryOperator setting, long far) {
        this.setting = setting;
        this.far = far;
        this.now = setting.applyAsLong(far);
        this.isChosen = far > CAUTIOUS && now == far;
    }

    /** Chooses for the file whose OPEN gets the next reply. */
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

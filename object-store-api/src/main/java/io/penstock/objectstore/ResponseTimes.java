package io.penstock.objectstore;

/**
 * How long responses usually take to begin, from those so far: the mean plus four times the mean deviation, TCP's bound
 * in RFC 6298. Not safe for use by several threads.
 */
public final class ResponseTimes {
    /** Fewer responses give no bound. */
    private static final int FEW = 16;

    /** A new response contributes one part in this many. */
    private static final int WEIGHT = 16;

    private long responses;

    /** In nanoseconds, as is the deviation from it. */
    private long mean;

    private long deviation;

    /** Records a response that began after this many nanoseconds. */
    public void responded(long nanos) {
        if (responses++ == 0) {
            mean = nanos;
            deviation = nanos / 2;
        } else {
            deviation += (Math.abs(nanos - mean) - deviation) / WEIGHT;
            mean += (nanos - mean) / WEIGHT;
        }
    }

    /** The nanoseconds that few responses exceed; {@link Long#MAX_VALUE} while too few are known. */
    public long bound() {
        return responses < FEW ? Long.MAX_VALUE : mean + 4 * deviation;
    }
}

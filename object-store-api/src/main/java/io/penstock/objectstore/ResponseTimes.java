package io.penstock.objectstore;

/**
 * How long responses usually take to begin, by those that came: the mean and four times the mean deviation, which is the bound
 * of RFC 6298 for TCP. Not safe for use by several threads.
 */
public final class ResponseTimes {
    /** So many responses make a mean. */
    private static final int FEW = 16;

    /** A new response counts for one part in so many. */
    private static final int WEIGHT = 16;

    private long responses;

    /** Nanoseconds, as is the deviation from it. */
    private long mean;

    private long deviation;

    /** A response has begun after so many nanoseconds. */
    public void responded(long nanos) {
        if (responses++ == 0) {
            mean = nanos;
            deviation = nanos / 2;
        } else {
            deviation += (Math.abs(nanos - mean) - deviation) / WEIGHT;
            mean += (nanos - mean) / WEIGHT;
        }
    }

    /** Nanoseconds that few responses take longer than; {@link Long#MAX_VALUE} while too few are known. */
    public long bound() {
        return responses < FEW ? Long.MAX_VALUE : mean + 4 * deviation;
    }
}

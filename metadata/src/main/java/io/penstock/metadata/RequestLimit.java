package io.penstock.metadata;

/**
 * How many requests may be under way: one at first, twice as many with each page that brings something, half as many when
 * the store asks for fewer, and from then on one more for each round of answers. Guarded by the lister.
 */
final class RequestLimit {
    private int most;
    private int now = 1;

    /** Whether the store has asked for fewer. */
    private boolean careful;

    private int answeredSinceChange;

    /** The number of the last request that was made when it was halved: those before say nothing new. */
    private long halvedAt = -1;

    RequestLimit(int most) {
        if (most < 1) {
            throw new IllegalArgumentException("concurrency " + most);
        }
        this.most = most;
    }

    int now() {
        return now;
    }

    /** So many at first. */
    void beginWith(int count) {
        now = Math.min(most, count);
    }

    /** One after the other from now on. */
    void single() {
        most = 1;
        now = 1;
    }

    void answered() {
        answeredSinceChange++;
        if (!careful) {
            now = Math.min(most, 2 * now);
        } else if (answeredSinceChange >= now && now < most) {
            now++;
            answeredSinceChange = 0;
        }
    }

    /**
     * @param request the number of the request that was refused
     * @param latest that of the last one that was made
     */
    void throttled(long request, long latest) {
        careful = true;
        answeredSinceChange = 0;
        if (request > halvedAt) {
            now = Math.max(1, now / 2);
            halvedAt = latest;
        }
    }
}

package io.penstock.listing;

/**
 * The number of concurrent requests. One at first, it is doubled by each useful page, and halved when the store
 * throttles. From then on each round of responses adds one. Guarded by the lister.
 */
final class RequestLimit {
    private int most;
    private int now = 1;

    /** Whether the store has throttled. */
    private boolean careful;

    private int answeredSinceChange;

    /** The number of the last request before the limit was halved: throttled responses to earlier ones are ignored. */
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

    /** Sets the first limit. */
    void beginWith(int count) {
        now = Math.min(most, count);
    }

    /** From now on one request at a time. */
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
     * @param request the number of the throttled request
     * @param latest the number of the last request
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

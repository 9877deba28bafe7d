package io.penstock.listing;

/**
 * Counts wasted requests, in pages, to bound the probes: a listing of n pages takes at most
 * {@code n + n/8 + 3 * concurrency + 8} requests. Guarded by the lister.
 */
final class ProbeBudget {
    /** The number of wasted pages allowed for each useful page. */
    private static final double SHARE = 1.0 / 8;

    /** The number of refused probes, without any other response, that indicates a store without start-after. */
    private static final int REFUSALS = 2;

    private final int allowance;

    /** Running probes. */
    private int probing;

    private double useful;
    private double inVain;
    private boolean answered;
    private int refused;

    ProbeBudget(int concurrency) {
        this.allowance = 3 * concurrency + 8;
    }

    /**
     * Whether one more probe may be made.
     *
     * @param ranges that are not done: the last page of each may be cut where the next one begins
     */
    boolean allows(int ranges) {
        return inVain + probing + ranges + 1 <= allowance + useful * SHARE;
    }

    void begins() {
        probing++;
    }

    void ends() {
        probing--;
    }

    /** A probe got a response of any kind. */
    void answered() {
        answered = true;
    }

    /** @return whether the store seems to refuse all probes */
    boolean refused() {
        refused++;
        return !answered && refused == REFUSALS;
    }

    /** A page arrived, and nothing on it was useful. */
    void missed() {
        inVain++;
    }

    /** A page arrived, and a part of it was useful. */
    void came(int used, int all) {
        if (all > 0) {
            useful += (double) used / all;
            inVain += 1 - (double) used / all;
        }
    }

    /** All pages so far are wasted. */
    void restart() {
        inVain += useful;
        useful = 0;
    }
}

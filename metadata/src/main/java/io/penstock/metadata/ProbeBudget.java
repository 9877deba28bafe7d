package io.penstock.metadata;

/**
 * Counts what was asked for in vain, in pages, and so bounds the probes: a listing of n pages takes at most
 * {@code n + n/8 + 3 * concurrency + 8} requests. Guarded by the lister.
 */
final class ProbeBudget {
    /** Of the pages that were of use, how many in vain they allow. */
    private static final double SHARE = 1.0 / 8;

    /** Probes that are refused before any other is answered: a store without start-after. */
    private static final int REFUSALS = 2;

    private final int allowance;

    /** Probes that are under way. */
    private int probing;

    private double useful;
    private double inVain;
    private boolean answered;
    private int refused;

    ProbeBudget(int concurrency) {
        this.allowance = 3 * concurrency + 8;
    }

    /**
     * Whether one more may be made.
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

    /** A probe was answered, whatever by. */
    void answered() {
        answered = true;
    }

    /** @return whether the store seems to refuse all */
    boolean refused() {
        refused++;
        return !answered && refused == REFUSALS;
    }

    /** A page came of which nothing was of use. */
    void missed() {
        inVain++;
    }

    /** A page came of which a part was of use. */
    void came(int used, int all) {
        if (all > 0) {
            useful += (double) used / all;
            inVain += 1 - (double) used / all;
        }
    }

    /** What came is dropped. */
    void beginAnew() {
        inVain += useful;
        useful = 0;
    }
}

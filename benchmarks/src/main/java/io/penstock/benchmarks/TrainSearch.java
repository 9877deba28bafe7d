package io.penstock.benchmarks;

/**
 * The most accelerators that are kept busy.
 *
 * @param most the greatest number that was kept busy; 0 if one was too many
 * @param limited whether a greater number could not be tried
 */
record TrainSearch(int most, boolean limited) {
    /** Whether this many accelerators are kept busy. */
    @FunctionalInterface
    interface Probe {
        boolean keeps(int accelerators) throws Exception;
    }

    /** Doubles the number from 1 until there are too many, and then bisects the interval. */
    static TrainSearch find(int limit, Probe probe) throws Exception {
        int kept = 0;
        int next = 1;
        while (next <= limit && probe.keeps(next)) {
            kept = next;
            if (kept == limit) {
                return new TrainSearch(kept, true);
            }
            next = Math.min(2 * next, limit);
        }
        int tooMany = next;
        while (tooMany - kept > 1) {
            int middle = (kept + tooMany) >>> 1;
            if (probe.keeps(middle)) {
                kept = middle;
            } else {
                tooMany = middle;
            }
        }
        return new TrainSearch(kept, false);
    }
}

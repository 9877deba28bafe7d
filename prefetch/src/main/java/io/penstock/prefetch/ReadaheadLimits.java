package io.penstock.prefetch;

/**
 * The limits of readahead that hold now, read where they are used. Safe for use by any number of threads; a lower limit is
 * reached as what exceeds it drains.
 */
final class ReadaheadLimits {
    private volatile ReadaheadConfig values;

    ReadaheadLimits(ReadaheadConfig values) {
        this.values = values;
    }

    ReadaheadConfig get() {
        return values;
    }

    void set(ReadaheadConfig changed) {
        values = changed;
    }
}

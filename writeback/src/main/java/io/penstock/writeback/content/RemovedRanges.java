package io.penstock.writeback.content;

/** The ranges removed since some moment: the version below must not become visible there again. */
public final class RemovedRanges {
    final Ranges zeroed = new Ranges();
    long cut = Long.MAX_VALUE;

    public Ranges zeroed() {
        return zeroed;
    }

    /** The smallest size that the file had. */
    public long cut() {
        return cut;
    }

    Ranges zeroedUpTo(long end) {
        Ranges some = zeroed.copy();
        some.remove(end, Long.MAX_VALUE);
        return some;
    }
}

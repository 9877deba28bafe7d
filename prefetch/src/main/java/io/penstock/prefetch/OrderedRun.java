package io.penstock.prefetch;

/** Files read one after the other, each near the one before by its place in some order. Not safe for use by several threads. */
final class OrderedRun {
    private final int near;
    private int last = -1;
    private int length;

    /** @param near at most so many places lie between a file and the one before it */
    OrderedRun(int near) {
        this.near = near;
    }

    /**
     * A file is read: the run goes on if the file is near the last one, and begins anew otherwise.
     *
     * @param place -1 if the order does not have the file
     */
    void add(int place) {
        length = place >= 0 && last >= 0 && Math.abs(place - last) <= near ? length + 1 : 0;
        last = place;
    }

    /** The files after the first. */
    int length() {
        return length;
    }

    /** Whether a file at this place would lie too far behind the last one to continue the run. */
    boolean hasPassed(int place) {
        return place < last - near;
    }
}

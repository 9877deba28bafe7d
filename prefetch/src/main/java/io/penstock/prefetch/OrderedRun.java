package io.penstock.prefetch;

/** Files read one after the other, each near the previous one in some order. Not thread-safe. */
final class OrderedRun {
    private final int near;
    private int last = -1;
    private int length;

    /** @param near the most places between a file and the previous one */
    OrderedRun(int near) {
        this.near = near;
    }

    /**
     * A file is read. The run continues if the file is near the last one; otherwise a new run begins.
     *
     * @param place -1 if the order lacks the file
     */
    void add(int place) {
        length = place >= 0 && last >= 0 && Math.abs(place - last) <= near ? length + 1 : 0;
        last = place;
    }

    /** The number of files after the first. */
    int length() {
        return length;
    }

    /** Whether this place is too far behind the last file to continue the run. */
    boolean hasPassed(int place) {
        return place < last - near;
    }
}

package io.penstock.share;

import org.jgroups.Message;
import org.jgroups.util.Table;

/** JGroups' table of messages that arrived early, but bounded: it would grow to any number that a message claims. */
final class BoundedTable extends Table<Message> {
    /** Numbered messages are views and requests to join: a few per minute. */
    private static final int MOST_ROWS = 1_024;

    private static final int ROWS = 16;
    private static final int ROW = 64;

    BoundedTable(long last) {
        super(ROWS, ROW, last, DEFAULT_RESIZE_FACTOR);
    }

    /** Called with the lock, for a number beyond the last row. */
    @Override
    protected void resize(long number) {
        if (computeRow(number) - computeRow(low) >= MOST_ROWS) {
            throw new IllegalStateException("a message with the number " + number + " after " + low);
        }
        super.resize(number);
    }
}

package io.penstock.writeback.staging;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.io.IOException;

/**
 * The names of one file in the staging folder, numbered in the order of creation, and which of them would survive a
 * crash of the machine. Safe for use by any number of threads.
 */
final class StagedNames {
    /** The number of a name left by an earlier run, and so of durable data. */
    static final int FOUND = 0;

    private final Staging staging;

    @GuardedBy("this")
    private int made;

    /** The last durable name. All earlier ones are durable too. */
    @GuardedBy("this")
    private int durable;

    StagedNames(Staging staging) {
        this.staging = staging;
    }

    /** A file has been created. @return the number of its name */
    synchronized int add() {
        return ++made;
    }

    synchronized boolean isDurable(int number) {
        return number <= durable;
    }

    /** Makes all names created before durable. */
    void force() throws IOException {
        int last = last();
        if (!isDurable(last)) {
            staging.files().force();
            durableUpTo(last);
        }
    }

    private synchronized int last() {
        return made;
    }

    private synchronized void durableUpTo(int number) {
        durable = Math.max(durable, number);
    }
}

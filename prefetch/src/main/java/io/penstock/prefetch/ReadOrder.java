package io.penstock.prefetch;

import java.util.Arrays;
import java.util.BitSet;

/**
 * The order in which the files of a directory are read in this epoch, and were read in the previous one, in some 12
 * bytes a file. An epoch begins when files are read again without others between them. Not thread-safe.
 */
final class ReadOrder {
    /** An epoch begins once this many files, or all of the directory, are read again without others between them. */
    static final int AGAIN = 32;

    /** A read's role in its epoch. */
    enum Reading {
        FIRST_IN_EPOCH,
        AGAIN,
        /** An epoch has begun, with this file and up to {@link #AGAIN} before it. */
        BEGINS_EPOCH
    }

    private static final class Epoch {
        final BitSet read = new BitSet();
        int[] order = new int[AGAIN];
        int count;

        boolean add(int index) {
            if (read.get(index)) {
                return false;
            }
            read.set(index);
            if (count == order.length) {
                order = Arrays.copyOf(order, 2 * count);
            }
            order[count++] = index;
            return true;
        }
    }

    private Epoch before = new Epoch();
    private Epoch now = new Epoch();

    /** The files that were read again, without others between them. */
    private Epoch again = new Epoch();

    /** Place in {@link #before} by index; -1 for none. */
    private int[] ranks = {};

    /**
     * A file is read.
     *
     * @param files the number of files that may be read; the largest integer if unknown
     */
    Reading read(int index, int files) {
        if (now.add(index)) {
            if (again.count > 0) {
                again = new Epoch();
            }
            return Reading.FIRST_IN_EPOCH;
        }
        boolean isNew = again.add(index);
        if (!isNew || (again.count < AGAIN && now.count < files)) {
            return Reading.AGAIN;
        }
        before = now;
        now = again;
        again = new Epoch();
        rank();
        return Reading.BEGINS_EPOCH;
    }

    private void rank() {
        ranks = new int[before.read.length()];
        Arrays.fill(ranks, -1);
        for (int rank = 0; rank < before.count; rank++) {
            ranks[before.order[rank]] = rank;
        }
    }

    /** The files read in this epoch. */
    BitSet readInEpoch() {
        return now.read;
    }

    /** The file's place in the order of the previous epoch; -1 if it was not read then. */
    int rank(int index) {
        return index < ranks.length ? ranks[index] : -1;
    }

    /** The number of files read in the previous epoch. */
    int ranked() {
        return before.count;
    }

    /** The file at that place in the order of the previous epoch. */
    int atRank(int rank) {
        return before.order[rank];
    }
}

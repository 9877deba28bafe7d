package io.penstock.prefetch;

import java.util.Arrays;
import java.util.BitSet;

/**
 * The order in which the files of a directory are read in this epoch, and were read in the one before: some 12 bytes a file. An
 * epoch begins when files are read again and no others between. Not safe for use by several threads.
 */
final class ReadOrder {
    /** So many files that are read again, and no other between, begin an epoch, unless all of the directory has been read. */
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

    /** Read again, and no other file between. */
    private Epoch again = new Epoch();

    /** By index, the place in {@link #before}; -1 for none. */
    private int[] ranks = {};

    /**
     * A file is read.
     *
     * @param files how many there are to read; the largest integer if that is not known
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

    /** The file's place in the order of the epoch before; -1 if it was not read there. */
    int rank(int index) {
        return index < ranks.length ? ranks[index] : -1;
    }

    /** How many files were read in the epoch before. */
    int ranked() {
        return before.count;
    }

    /** The file at that place in the order of the epoch before. */
    int atRank(int rank) {
        return before.order[rank];
    }
}

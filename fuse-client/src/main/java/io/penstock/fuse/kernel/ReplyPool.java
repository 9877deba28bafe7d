package io.penstock.fuse.kernel;

import io.penstock.core.NativeMemory.UsedUpException;
import java.util.Arrays;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;

/**
 * Replies of waiting requests, kept for reuse. The number of each size is limited; further requests wait for one to be
 * given back. A reply never waits for another reply, so one always comes back.
 */
final class ReplyPool {
    private static final int SMALL = 4 << 10;
    private static final int MEDIUM = 128 << 10;

    /** Replies of one size. */
    private static final class Shelf {
        final int capacity;
        final int count;
        final Semaphore free;
        final Queue<Reply> made = new ConcurrentLinkedQueue<>();

        Shelf(int capacity, int count) {
            this.capacity = capacity;
            this.count = count;
            this.free = new Semaphore(count);
        }
    }

    /** In ascending order of size. */
    private final Shelf[] shelves;

    /**
     * @param largest bytes of the longest body
     * @param budget approximate limit of all bytes taken
     */
    ReplyPool(int largest, long budget) {
        // Readahead needs the large ones; the others are many and cheap.
        shelves = new Shelf[] {
            new Shelf(SMALL, (int) Math.max(1, budget / 8 / SMALL)),
            new Shelf(MEDIUM, (int) Math.max(1, budget / 8 / MEDIUM)),
            new Shelf(largest, (int) Math.max(1, budget * 3 / 4 / largest))
        };
    }

    /** Takes a reply with room for this many bytes; {@link #giveBack} must follow. */
    Reply take(int bytes) throws InterruptedException {
        Shelf shelf = shelf(bytes);
        shelf.free.acquire();
        try {
            Reply reply = shelf.made.poll();
            return reply != null ? reply : new Reply(shelf.capacity);
        } catch (UsedUpException e) {
            shelf.free.release();
            throw e;
        }
    }

    void giveBack(Reply reply) {
        Shelf shelf = shelf(reply.capacity());
        shelf.made.add(reply);
        shelf.free.release();
    }

    /** For leak checks. */
    int inUse() {
        return Arrays.stream(shelves)
                .mapToInt(shelf -> shelf.count - shelf.free.availablePermits())
                .sum();
    }

    private Shelf shelf(int bytes) {
        for (Shelf shelf : shelves) {
            if (bytes <= shelf.capacity) {
                return shelf;
            }
        }
        throw new IllegalArgumentException("no reply has a body of " + bytes + " bytes");
    }
}

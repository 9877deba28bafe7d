package io.penstock.listing;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;

/**
 * Runs tasks on one thread, in an order that the test chooses. So requests overlap as in practice, but each run is the
 * same.
 */
final class LockStep implements Executor {
    private final LinkedBlockingQueue<Runnable> given = new LinkedBlockingQueue<>();

    @Override
    public void execute(Runnable task) {
        given.add(task);
    }

    /**
     * Completes all requests in flight, then those that they caused.
     *
     * @return the number of rounds
     */
    int rounds(CompletableFuture<?> listing) throws Exception {
        int rounds = 0;
        for (awaitFirst(listing); !given.isEmpty(); rounds++) {
            List<Runnable> round = new ArrayList<>();
            given.drainTo(round);
            round.forEach(Runnable::run);
        }
        return rounds;
    }

    /** Completes the requests in flight one by one, until none is left. */
    void inAnyOrder(CompletableFuture<?> listing, RandomGenerator random, Runnable meanwhile) throws Exception {
        awaitFirst(listing);
        List<Runnable> tasks = new ArrayList<>();
        while (given.drainTo(tasks) > 0 || !tasks.isEmpty()) {
            tasks.remove(random.nextInt(tasks.size())).run();
            meanwhile.run();
        }
    }

    private void awaitFirst(CompletableFuture<?> listing) throws Exception {
        Runnable first = null;
        while (first == null && !listing.isDone()) {
            first = given.poll(10, TimeUnit.MILLISECONDS);
        }
        if (first != null) {
            given.add(first);
        }
    }
}

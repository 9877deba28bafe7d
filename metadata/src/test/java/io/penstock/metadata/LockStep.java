package io.penstock.metadata;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;

/**
 * Runs what it is given on one thread: what a test decides to be next, so that requests overlap as in time, and each run
 * is like the last.
 */
final class LockStep implements Executor {
    private final LinkedBlockingQueue<Runnable> given = new LinkedBlockingQueue<>();

    @Override
    public void execute(Runnable task) {
        given.add(task);
    }

    /**
     * Answers all requests that are under way, and then those that they led to.
     *
     * @return how many times
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

    /** Answers one of the requests that are under way, until there are none. */
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

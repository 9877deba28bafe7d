package io.penstock.tools.measure;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Measurements on several virtual threads. */
final class Parallel {
    private Parallel() {}

    /**
     * Runs all tasks and returns all their results.
     *
     * @throws IOException if one fails
     */
    static <T> List<T> all(List<Callable<List<T>>> tasks) throws IOException, InterruptedException {
        List<T> results = new ArrayList<>();
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            for (Future<List<T>> task : threads.invokeAll(tasks)) {
                results.addAll(task.get());
            }
        } catch (ExecutionException e) {
            throw new IOException(String.valueOf(e.getCause()), e);
        }
        return results;
    }

    /**
     * A percentile of durations; zero if there are none.
     *
     * @param percent 1 to 100
     */
    static Duration percentile(List<Long> nanos, int percent) {
        List<Long> sorted = nanos.stream().sorted().toList();
        return sorted.isEmpty()
                ? Duration.ZERO
                : Duration.ofNanos(sorted.get(Math.ceilDiv(sorted.size() * percent, 100) - 1));
    }
}

package io.penstock.objectstore.s3;

import io.penstock.objectstore.Deadline;
import io.penstock.objectstore.ObjectStoreException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Requests of one call, several at the same time, within one deadline. */
final class ConcurrentRequests {
    private ConcurrentRequests() {}

    /** One of the requests. */
    @FunctionalInterface
    interface Request<T> extends Deadline.Work<T, RuntimeException> {}

    /**
     * Makes all requests, in order; the first failure cancels the unfinished ones.
     *
     * @param concurrency requests at a time
     * @return the results in the order of the requests
     */
    static <T> List<T> all(int concurrency, List<Request<T>> requests)
            throws ObjectStoreException, InterruptedException {
        Deadline deadline = RequestExecutor.deadline();
        try (ExecutorService threads =
                Executors.newFixedThreadPool(concurrency, Thread.ofVirtual().factory())) {
            List<Future<T>> running = requests.stream()
                    .map(request -> threads.submit(() -> deadline.call(request)))
                    .toList();
            try {
                List<T> done = new ArrayList<>();
                for (Future<T> each : running) {
                    done.add(each.get());
                }
                return done;
            } catch (ExecutionException e) {
                if (e.getCause() instanceof ObjectStoreException failure) {
                    throw failure;
                }
                throw new IllegalStateException(e.getCause());
            } finally {
                threads.shutdownNow();
            }
        }
    }
}

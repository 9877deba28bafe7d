package io.penstock.objectstore;

import io.penstock.core.ObjectVersion;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Deletes objects by one request each, some at the same time, where one request cannot delete several. Thread-safe. */
final class SingleDeletions {
    /** Requests at a time. */
    static final int CONCURRENCY = 16;

    private final ObjectStore store;

    SingleDeletions(ObjectStore store) {
        this.store = store;
    }

    /** @return those that stay, because the key has another version */
    List<ObjectVersion> deleteAll(List<ObjectVersion> versions) throws ObjectStoreException, InterruptedException {
        Deadline deadline = RequestExecutor.deadline();
        List<Callable<Boolean>> deletions = versions.stream()
                .<Callable<Boolean>>map(version -> () -> deadline.call(() -> isDeleted(version)))
                .toList();
        try (ExecutorService threads =
                Executors.newFixedThreadPool(CONCURRENCY, Thread.ofVirtual().factory())) {
            List<Future<Boolean>> running =
                    deletions.stream().map(threads::submit).toList();
            try {
                List<ObjectVersion> others = new ArrayList<>();
                for (int i = 0; i < running.size(); i++) {
                    if (!running.get(i).get()) {
                        others.add(versions.get(i));
                    }
                }
                return others;
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

    private boolean isDeleted(ObjectVersion version) throws ObjectStoreException, InterruptedException {
        try {
            store.delete(version);
            return true;
        } catch (ObjectStoreException.PreconditionFailed _) {
            return false;
        }
    }
}

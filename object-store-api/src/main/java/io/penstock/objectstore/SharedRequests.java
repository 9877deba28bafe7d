package io.penstock.objectstore;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/** Requests that several threads await. A thread that stops waiting does not end the request for the others. */
public final class SharedRequests {
    private SharedRequests() {}

    /** The signature of the store's methods. */
    public interface StoreCall<T> {
        T call() throws ObjectStoreException, InterruptedException;
    }

    /** Starts the request. If it fails, all threads that await the result get the failure. */
    public static <T> CompletableFuture<T> start(Executor executor, StoreCall<T> call) {
        CompletableFuture<T> result = new CompletableFuture<>();
        executor.execute(() -> {
            try {
                result.complete(call.call());
            } catch (Throwable e) { // the awaiting threads get it
                result.completeExceptionally(e);
            }
        });
        return result;
    }

    /**
     * The same within the deadline of this thread's call, if it has one. Time in queues counts from now on.
     *
     * @param own the deadline if this thread's call has none
     */
    public static <T> CompletableFuture<T> start(Executor executor, Deadline own, StoreCall<T> call) {
        Deadline outer = Deadline.current();
        Deadline deadline = outer == null ? own : outer;
        return start(executor, () -> deadline.call(call::call));
    }

    /** @throws InterruptedException if this thread was interrupted, or the one that sends the request */
    public static <T> T await(CompletableFuture<T> result) throws ObjectStoreException, InterruptedException {
        try {
            return result.get();
        } catch (ExecutionException e) {
            throw rethrow(e.getCause());
        }
    }

    /** Throws the failure of a request. */
    public static IllegalStateException rethrow(@Nullable Throwable cause)
            throws ObjectStoreException, InterruptedException {
        switch (cause) {
            case ObjectStoreException failure -> throw failure;
            case InterruptedException closed -> throw closed;
            case Error error -> throw error;
            case RuntimeException unforeseen -> throw unforeseen;
            case null, default -> throw new IllegalStateException(cause);
        }
    }
}

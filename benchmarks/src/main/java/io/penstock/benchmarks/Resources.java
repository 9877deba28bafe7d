package io.penstock.benchmarks;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Resources to close at the end of the benchmark, the last one first, whether it ends normally or by a signal. Failures
 * to close are reported on standard error, and the other resources are still closed. Thread-safe: on a signal the JVM's
 * shutdown hook closes this concurrently with the main thread.
 */
final class Resources implements AutoCloseable {
    @GuardedBy("this")
    private final Deque<AutoCloseable> open = new ArrayDeque<>();

    @GuardedBy("this")
    private boolean closed;

    /** Held while resources are closed: a second caller must wait for the first, or the JVM would exit too early. */
    private final ReentrantLock ending = new ReentrantLock();

    Resources() {
        Runtime.getRuntime().addShutdownHook(new Thread(this::close, "clean-up"));
    }

    /** Takes over a resource. After {@link #close}, closes it and throws. */
    <T extends AutoCloseable> T add(T resource) {
        synchronized (this) {
            if (!closed) {
                open.push(resource);
                return resource;
            }
        }
        end(resource);
        throw new IllegalStateException("the benchmark is ending");
    }

    /** Closes one before its turn. */
    void close(AutoCloseable resource) {
        synchronized (this) {
            if (!open.remove(resource)) {
                return;
            }
        }
        end(resource);
    }

    @Override
    public void close() {
        ending.lock();
        try {
            for (AutoCloseable next = next(); next != null; next = next()) {
                end(next);
            }
        } finally {
            ending.unlock();
        }
    }

    private synchronized @Nullable AutoCloseable next() {
        closed = true;
        return open.poll();
    }

    private void end(AutoCloseable resource) {
        ending.lock();
        try {
            resource.close();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (Exception e) {
            System.err.println("bench: not cleaned up: " + e.getMessage());
        } finally {
            ending.unlock();
        }
    }
}

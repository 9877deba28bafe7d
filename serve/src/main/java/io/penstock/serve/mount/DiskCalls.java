package io.penstock.serve.mount;

import io.penstock.serve.control.ControlCommand;
import io.penstock.settings.process.Reason;
import io.penstock.settings.process.RefusedException;
import java.io.IOException;
import java.nio.file.InvalidPathException;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Runs commands that may wait for a disk on a few separate threads. While the disk hangs, they are refused after a few
 * seconds, and other commands still have threads. Thread-safe.
 */
final class DiskCalls {
    /** Shorter than the client's timeout. */
    static final Duration PATIENCE = Duration.ofSeconds(5);

    private static final int THREADS = 4;
    private static final int IDLE_SECONDS = 10;

    private final Duration patience;
    private final ExecutorService threads;

    DiskCalls(Duration patience) {
        this.patience = patience;
        ThreadPoolExecutor pool = new ThreadPoolExecutor(
                THREADS,
                THREADS,
                IDLE_SECONDS,
                TimeUnit.SECONDS,
                new LinkedBlockingQueue<>(),
                Thread.ofPlatform().daemon().name("disk-call-", 0).factory());
        pool.allowCoreThreadTimeOut(true);
        this.threads = pool;
    }

    ControlCommand bounded(ControlCommand command) {
        return arguments -> call(() -> command.run(arguments));
    }

    /** @throws RefusedException also if the disk fails or does not respond */
    <T> T call(Callable<T> call) throws RefusedException {
        Future<T> running = threads.submit(call);
        try {
            return running.get(patience.toNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            boolean _ = running.cancel(false); // if it has not started
            throw new RefusedException("the disk of the cache or of the list of paths has not responded for "
                    + patience.toSeconds() + " s; work in progress continues once it does");
        } catch (ExecutionException e) {
            switch (e.getCause()) {
                case RefusedException refused -> throw refused;
                case InvalidPathException wrong -> throw wrong;
                case IOException failure ->
                    throw new RefusedException("cannot write to the cache disk: " + Reason.of(failure));
                case null, default -> throw new IllegalStateException(e);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new RefusedException("the mount is being unmounted");
        }
    }
}

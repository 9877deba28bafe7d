package io.penstock.objectstore.s3;

import static java.util.Objects.requireNonNull;

import io.penstock.objectstore.Deadline;
import io.penstock.objectstore.ObjectStoreException;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.core.exception.AbortedException;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.http.SdkHttpClient;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.RequestPayer;

/**
 * Makes all requests to one bucket: holds the client, retries within the caller's {@link Deadline}, cancels requests
 * and maps errors. Safe for use by any number of threads.
 */
final class RequestExecutor implements AutoCloseable {
    final S3Config config;
    final S3Client client;
    final ErrorMapper errors;
    final Gaps gaps;
    /** Null if the bucket's owner pays. */
    final @Nullable RequestPayer payer;

    /** Null if the SDK's client makes all requests. */
    final @Nullable DirectRequests direct;

    /**
     * One permit for each body that may be sent at the same time: one fewer than there are connections. A body may
     * first need data from the store, over a connection that no body occupies.
     */
    final Semaphore sendPermits;

    private final SdkHttpClient http;
    private final RequestCounters counters;
    /** Bodies that are being read; {@link #close} aborts them. */
    private final Set<ObjectBody> bodies = ConcurrentHashMap.newKeySet();

    /** Attempts whose response has not begun or whose body is not sent yet. */
    private final LongAdder attempts = new LongAdder();

    private volatile boolean closed;

    /** {@link System#nanoTime} of the last successful response to any call. */
    private volatile long lastResponse = System.nanoTime();

    /**
     * Closes client, HTTP client and direct requests: an SDK client does not close an HTTP client that is passed to it.
     */
    RequestExecutor(
            S3Config config,
            S3Client client,
            SdkHttpClient http,
            @Nullable DirectRequests direct,
            RequestCounters counters) {
        this.counters = counters;
        this.direct = direct;
        this.config = config;
        this.client = client;
        this.http = http;
        this.errors = new ErrorMapper(config);
        this.gaps = new Gaps(errors.bucket());
        this.sendPermits = new Semaphore(config.limits().connections() - 1);
        this.payer = config.requester().pays() ? RequestPayer.REQUESTER : null;
    }

    String bucket() {
        return config.bucket();
    }

    /** Makes a request that changes nothing. */
    <T> T ask(String subject, Call<T> call) throws ObjectStoreException, InterruptedException {
        return make(subject, new RetryState(), call);
    }

    /** Makes a request that changes something. */
    <T> T change(String subject, Call<T> call) throws ObjectStoreException, InterruptedException {
        return change(subject, new RetryState(), call);
    }

    /** Makes a request that changes something, for a caller that later needs the state of its attempts. */
    <T> T change(String subject, RetryState retryState, Call<T> call)
            throws ObjectStoreException, InterruptedException {
        T made = make(subject, retryState, call);
        progressed();
        return made;
    }

    /** Records that a call begins. */
    void begin() {
        deadline().storeResponded(lastResponse);
    }

    /** Records that the store has made progress with the call. */
    void progressed() {
        lastResponse = System.nanoTime();
        deadline().restart();
    }

    /** The deadline of the call that this thread makes. */
    static Deadline deadline() {
        return requireNonNull(Deadline.current(), "no deadline");
    }

    /**
     * Makes the call until it succeeds or finally fails.
     *
     * @param subject a bucket or an object, named as in {@link ErrorMapper}
     */
    <T> T make(String subject, RetryState retryState, Call<T> call) throws ObjectStoreException, InterruptedException {
        while (true) {
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
            checkOpen();
            retryState.attemptStarts();
            try {
                T response = attempt(call);
                lastResponse = System.nanoTime();
                return response;
            } catch (SdkException e) {
                checkInterrupt(e);
                if (ErrorMapper.isNotApplied(e)) {
                    retryState.attemptRefused();
                }
                if (ErrorMapper.isClockSkewed(e) && retryState.mayRetryClockSkew()) {
                    continue;
                }
                ObjectStoreException failure = errors.explain(subject, e);
                if (!ErrorMapper.isTransient(e)) {
                    throw failure;
                }
                retryOrThrow(retryState, failure);
            } catch (IllegalStateException e) {
                checkOpen(); // a closed HTTP client throws this
                throw e;
            }
        }
    }

    private <T> T attempt(Call<T> call) throws ObjectStoreException, InterruptedException {
        attempts.increment();
        try {
            return call.make();
        } finally {
            attempts.decrement();
        }
    }

    /** Requests in flight, including those whose bodies are arriving. */
    long inFlight() {
        return Math.max(0, attempts.sum()) + bodies.size();
    }

    /** Pauses before a retry, or throws a final failure. */
    void retryOrThrow(RetryState retryState, ObjectStoreException failure)
            throws ObjectStoreException, InterruptedException {
        boolean hopeless = failure instanceof ObjectStoreException.Corrupt && !retryState.mayRetryCorruption();
        if (hopeless || closed) {
            throw failure;
        }
        begin(); // the call may have waited for a connection
        if (!retryState.awaitNextAttempt(deadline(), failure instanceof ObjectStoreException.Throttled)) {
            throw ErrorMapper.deadlineExceeded(failure, deadline());
        }
        counters.retried();
    }

    /** Throws if the thread was interrupted: the SDK has its own exceptions for an interrupt. */
    static void checkInterrupt(Exception failure) throws InterruptedException {
        if (Thread.interrupted() || failure instanceof AbortedException) {
            InterruptedException interrupted = new InterruptedException();
            interrupted.initCause(failure);
            throw interrupted;
        }
    }

    void checkOpen() throws ObjectStoreException {
        if (closed) {
            throw new ObjectStoreException.Unavailable(errors.bucket() + " was closed", null);
        }
    }

    /** Lets {@link #close} break the body until {@link #unwatch}. */
    void watch(ObjectBody body) throws ObjectStoreException {
        bodies.add(body);
        checkOpen();
    }

    void unwatch(ObjectBody body) {
        bodies.remove(body);
    }

    /** Aborts the requests in flight. */
    @Override
    public void close() {
        closed = true;
        bodies.forEach(ObjectBody::abort);
        if (direct != null) {
            direct.close();
        }
        client.close();
        http.close();
    }

    /** One attempt: neither the SDK nor the HTTP client below it retries. */
    @FunctionalInterface
    interface Call<T> {
        T make() throws ObjectStoreException, InterruptedException;
    }
}

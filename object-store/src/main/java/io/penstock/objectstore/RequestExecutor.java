package io.penstock.objectstore;

import static java.util.Objects.requireNonNull;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.core.exception.AbortedException;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.http.SdkHttpClient;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.RequestPayer;

/**
 * What all requests to one bucket share: the client, the loop that repeats them within the caller's {@link Deadline}, how
 * they are cancelled, and what their failures mean. Safe for use by any number of threads.
 */
final class RequestExecutor implements AutoCloseable {
    final S3Config config;
    final S3Client client;
    final ErrorMapper errors;
    /** Null where the bucket's owner pays. */
    final @Nullable RequestPayer payer;

    /** Null if all requests are made by the SDK's client. */
    final @Nullable DirectRequests direct;

    /**
     * One for each body that may be on its way at once: one connection fewer than there are. What a body reads may have to
     * be fetched first, over a connection that no body holds.
     */
    final Semaphore sendPermits;

    private final SdkHttpClient http;
    /** Bodies that are being read, for {@link #close} to break. */
    private final Set<ObjectBody> bodies = ConcurrentHashMap.newKeySet();

    private volatile boolean closed;

    /** {@link System#nanoTime} of the last answer of success to anybody. */
    private volatile long lastResponse = System.nanoTime();

    /** Closes all three: an SDK client leaves the HTTP client that it was given open. */
    RequestExecutor(S3Config config, S3Client client, SdkHttpClient http, @Nullable DirectRequests direct) {
        this.direct = direct;
        this.config = config;
        this.client = client;
        this.http = http;
        this.errors = new ErrorMapper(config);
        this.sendPermits = new Semaphore(config.limits().connections() - 1);
        this.payer = config.requester().pays() ? RequestPayer.REQUESTER : null;
    }

    String bucket() {
        return config.bucket();
    }

    /** A question. */
    <T> T ask(String subject, Call<T> call) throws ObjectStoreException, InterruptedException {
        return make(subject, new RetryState(), call);
    }

    /** A change. */
    <T> T change(String subject, Call<T> call) throws ObjectStoreException, InterruptedException {
        return change(subject, new RetryState(), call);
    }

    /** The same, for who is to know afterwards what became of its attempts. */
    <T> T change(String subject, RetryState retryState, Call<T> call)
            throws ObjectStoreException, InterruptedException {
        T made = make(subject, retryState, call);
        progressed();
        return made;
    }

    /** A call begins. */
    void begin() {
        deadline().storeResponded(lastResponse);
    }

    /** The store got on with the call. */
    void progressed() {
        lastResponse = System.nanoTime();
        deadline().restart();
    }

    /** That of the call which the thread is in. */
    static Deadline deadline() {
        return requireNonNull(Deadline.current(), "no deadline");
    }

    /**
     * Makes the call until it succeeds or is not worth another attempt.
     *
     * @param subject a bucket or an object, as {@link ErrorMapper} puts it
     */
    <T> T make(String subject, RetryState retryState, Call<T> call) throws ObjectStoreException, InterruptedException {
        while (true) {
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
            checkOpen();
            retryState.attemptStarts();
            try {
                T response = call.make();
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
                checkOpen(); // what HTTP clients throw once they are closed
                throw e;
            }
        }
    }

    /** Pauses, unless the failure is final. */
    void retryOrThrow(RetryState retryState, ObjectStoreException failure)
            throws ObjectStoreException, InterruptedException {
        boolean hopeless = failure instanceof ObjectStoreException.Corrupt && !retryState.mayRetryCorruption();
        if (hopeless || closed) {
            throw failure;
        }
        begin(); // it may have waited for a connection
        if (!retryState.awaitNextAttempt(deadline(), failure instanceof ObjectStoreException.Throttled)) {
            throw ErrorMapper.deadlineExceeded(failure, deadline());
        }
    }

    /** A failure of an interrupted thread is the interrupt's doing: the SDK has its own exceptions for it. */
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

    /** The body is broken when this is closed, until {@link #unwatch}. */
    void watch(ObjectBody body) throws ObjectStoreException {
        bodies.add(body);
        checkOpen();
    }

    void unwatch(ObjectBody body) {
        bodies.remove(body);
    }

    /** Ends what is in flight. */
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

    /** One attempt: neither the SDK nor the HTTP client within makes another. */
    @FunctionalInterface
    interface Call<T> {
        T make() throws ObjectStoreException, InterruptedException;
    }
}

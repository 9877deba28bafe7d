package io.penstock.objectstore.s3;

import io.penstock.objectstore.Deadline;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.http.ContentStreamProvider;
import software.amazon.awssdk.http.ExecutableHttpRequest;
import software.amazon.awssdk.http.HttpExecuteRequest;
import software.amazon.awssdk.http.HttpExecuteResponse;
import software.amazon.awssdk.http.SdkHttpClient;

/**
 * An HTTP client whose requests always end. It aborts all requests when it is closed, requests whose body the server
 * has not accepted for longer than the read timeout, and requests whose call's {@link Deadline} is over. The client
 * below it has a timeout only for reading and would write forever into a connection that the server does not read. Safe
 * for use by any number of threads.
 */
final class DeadlineHttpClient implements SdkHttpClient {
    /** Checks per timeout: a stalled body is noticed at most a quarter of the timeout late. */
    private static final int CHECKS_PER_TIMEOUT = 4;

    /** The maximum delay until the end of a deadline is noticed. */
    private static final Duration CHECK_INTERVAL = Duration.ofSeconds(1);

    private final SdkHttpClient client;
    private final long timeoutNanos;
    private final Set<Sent> inFlight = ConcurrentHashMap.newKeySet();
    private final Thread watch;

    /** @param timeout between two reads of a body */
    DeadlineHttpClient(SdkHttpClient client, Duration timeout) {
        this.client = client;
        this.timeoutNanos = timeout.toNanos();
        this.watch = Thread.ofVirtual()
                .name("stalled uploads")
                .start(() -> watch(Collections.min(List.of(timeout.dividedBy(CHECKS_PER_TIMEOUT), CHECK_INTERVAL))));
    }

    @Override
    public ExecutableHttpRequest prepareRequest(HttpExecuteRequest request) {
        ContentStreamProvider content = request.contentStreamProvider().orElse(null);
        Sent sent = new Sent();
        HttpExecuteRequest watched = content == null
                ? request
                : HttpExecuteRequest.builder()
                        .request(request.httpRequest())
                        .contentStreamProvider(() -> sent.watched(content.newStream()))
                        .build();
        sent.request = client.prepareRequest(watched);
        return new ExecutableHttpRequest() {
            @Override
            public HttpExecuteResponse call() throws IOException {
                sent.begin();
                inFlight.add(sent);
                try {
                    return sent.request().call();
                } catch (CancellationException e) {
                    // Thrown by the connection pool if an interrupt or an abort ends the wait for a connection.
                    throw new IOException("the request ended before it got a connection", e);
                } finally {
                    inFlight.remove(sent);
                }
            }

            @Override
            public void abort() {
                sent.request().abort();
            }
        };
    }

    @Override
    public String clientName() {
        return client.clientName();
    }

    @Override
    public void close() {
        watch.interrupt();
        inFlight.forEach(sent -> sent.request().abort());
        client.close();
    }

    private void watch(Duration period) {
        try {
            while (true) {
                Thread.sleep(period);
                long now = System.nanoTime();
                inFlight.stream()
                        .filter(sent -> sent.isStalled(now))
                        .forEach(sent -> sent.request().abort());
            }
        } catch (InterruptedException _) {
            // The client is closed.
        }
    }

    /** A request in flight and the progress of its body. */
    private final class Sent {
        private @Nullable ExecutableHttpRequest request;

        private @Nullable Deadline deadline;

        /** {@link System#nanoTime} of the last read of the body's stream, or of the request's start. */
        private volatile long lastRead;

        private volatile boolean sending;

        ExecutableHttpRequest request() {
            if (request == null) {
                throw new IllegalStateException("not prepared");
            }
            return request;
        }

        void begin() {
            deadline = Deadline.current();
            lastRead = System.nanoTime();
        }

        boolean isStalled(long now) {
            long silent = now - lastRead;
            return (sending && silent > timeoutNanos) || (deadline != null && deadline.endsSilence(silent));
        }

        InputStream watched(InputStream body) {
            return new FilterInputStream(body) {
                @Override
                public int read() throws IOException {
                    return noted(super.read());
                }

                @Override
                public int read(byte[] target, int offset, int length) throws IOException {
                    return noted(super.read(target, offset, length));
                }
            };
        }

        /** Records a read. The time until the next read is the time that the connection takes to accept these bytes. */
        private int noted(int read) {
            lastRead = System.nanoTime();
            sending = read >= 0;
            return read;
        }
    }
}

package io.penstock.objectstore.s3;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.util.Objects.requireNonNull;

import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.Deadline;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.http.HttpConnection;
import io.penstock.objectstore.http.HttpConnection.StalledException;
import io.penstock.objectstore.http.ResponseHead;
import io.penstock.objectstore.http.Tls;
import io.penstock.objectstore.s3.RequestCounters.Kind;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ProtocolException;
import java.net.URI;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLHandshakeException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import software.amazon.awssdk.auth.credentials.AwsCredentials;
import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider;
import software.amazon.awssdk.core.SdkGlobalTime;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.http.SdkHttpMethod;
import software.amazon.awssdk.http.SdkHttpRequest;
import software.amazon.awssdk.http.auth.aws.signer.AwsV4HttpSigner;
import software.amazon.awssdk.utils.http.SdkHttpUtils;

/**
 * Makes GETs of ranges, HEADs, and PUTs of objects and parts without the SDK's pipeline, which took a third or more of
 * the CPU time of such a request. These are most requests of a mount, and most of their bytes. This class handles only
 * successful responses. After any other response the SDK repeats the request, because it knows every error, redirect
 * and refusal. Safe for use by any number of threads.
 */
final class DirectRequests implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(DirectRequests.class);

    private static final String CHECKSUM_MODE = "x-amz-checksum-mode";

    private static final int OK = 200;
    private static final int PARTIAL_CONTENT = 206;

    /**
     * For GETs: bytes come as they are stored, even from stores that would decompress them (Google's "decompressive
     * transcoding"). Nothing is encoded in transit, as a range of it would be useless. Unsigned: proxies may change it.
     */
    static final Map.Entry<String, String> AS_STORED = Map.entry("Accept-Encoding", "gzip");

    /**
     * This status and the next four concern a single object and say nothing against the store; 400 only for a HEAD, of
     * an object with a customer key (SSE-C).
     */
    static final int NOT_FOUND = 404;

    private static final int BAD_REQUEST = 400;

    private static final int CONFLICT = 409;
    private static final int PRECONDITION_FAILED = 412;
    private static final int RANGE_NOT_SATISFIABLE = 416;

    /** A response about this one object (archived, or under a denied prefix), or about the request's signature. */
    private static final int FORBIDDEN = 403;

    /** This many failures in a row are no longer explained by single objects or connections. */
    private static final int FAILURE_LIMIT = 8;

    /** The time during which the SDK makes all requests after trouble. It slows down when the store asks for that. */
    private static final Duration BACK_OFF = Duration.ofSeconds(10);

    private final S3Config config;
    private final URI base;
    private final String region;
    private final AwsCredentialsProvider credentials;
    private final ConnectionPool connections;

    /** See {@link RequestExecutor#sendPermits}. */
    private final Semaphore sendPermits;

    private final AwsV4HttpSigner signer = AwsV4HttpSigner.create();
    private final RequestCounters counters;
    private final LongSupplier nanoTime;

    /** The {@link #nanoTime} until which the SDK makes the requests. */
    private volatile long backOffUntil;

    /** Responses with status 403 and broken connections since the last success. */
    private final AtomicInteger failures = new AtomicInteger();

    /**
     * @param base the address to which a key is appended
     * @param context null if connections are not encrypted
     * @param counters of the requests
     * @param nanoTime as {@link System#nanoTime}; ends the back-off
     */
    DirectRequests(
            S3Config config,
            URI base,
            String region,
            AwsCredentialsProvider credentials,
            @Nullable SSLContext context,
            RequestCounters counters,
            LongSupplier nanoTime)
            throws ObjectStoreException {
        this.config = config;
        this.base = base;
        this.region = region;
        this.credentials = credentials;
        this.counters = counters;
        this.nanoTime = nanoTime;
        this.sendPermits = new Semaphore(config.limits().connections() - 1);
        this.backOffUntil = nanoTime.getAsLong();
        ServerAddresses addresses = new ServerAddresses(base.getHost(), InetAddress::getAllByName, System::nanoTime);
        boolean encrypted = base.getScheme().equals("https");
        int port = base.getPort() >= 0 ? base.getPort() : encrypted ? 443 : 80;
        Tls tls = encrypted ? new Tls(requireNonNull(context), base.getHost(), port) : null;
        this.connections = new ConnectionPool(addresses, port, tls, config.limits());
    }

    /**
     * The body of exactly this range of this version; null if the SDK must make the request.
     *
     * @param checked whether to request a checksum of the range and compare the bytes with it
     */
    @Nullable
    ObjectBody get(ObjectVersion version, ByteRange range, boolean checked) throws InterruptedException {
        if (version.etag().equals(ResponseValues.NO_ETAG) || isBackingOff()) {
            return null;
        }
        SdkHttpRequest.Builder request = request(SdkHttpMethod.GET, version.key())
                .putHeader("If-Match", version.etag())
                .putHeader("Range", range.toHttpRange());
        if (checked) {
            request.putHeader(CHECKSUM_MODE, "ENABLED");
        }
        try {
            byte[] text = signedText(request);
            if (text == null) {
                return null;
            }
            for (int stalls = 0; ; stalls++) {
                try {
                    return get(text, version, range, checked, stalls);
                } catch (StalledException e) {
                    LOG.debug("{} of '{}': {}", range, version.key(), e.getMessage());
                }
            }
        } catch (SdkException e) {
            checkInterrupt();
            onFailure(e, null);
            return null;
        }
    }

    private @Nullable ObjectBody get(byte[] text, ObjectVersion version, ByteRange range, boolean checked, int stalls)
            throws StalledException, InterruptedException {
        HttpConnection connection = null;
        ObjectBody body = null;
        try {
            connection = connections.take();
            counters.sent(Kind.GET);
            ResponseHead head = connection.send(text, stalls);
            counters.responded(head.status());
            connections.stalls().responded(connection.sinceSent());
            if (isPart(head, version, range)) {
                ExpectedChecksum checksum = checked ? ExpectedChecksum.of(head) : null;
                body = new DirectBody(connections, connection, head, range.length(), checksum);
                onSuccess();
            } else {
                onRefusal(head.status());
            }
        } catch (StalledException e) {
            throw e;
        } catch (IOException e) {
            checkInterrupt();
            onFailure(e, connection);
        } finally {
            if (connection != null && body == null) {
                connections.end(connection);
            }
        }
        return body;
    }

    /**
     * Whether the response has exactly the requested range. The entity tag and the positions tie it to the request: a
     * response to another request is not accepted. A whole object may come as a 200 (RFC 9110, section 14.2).
     */
    private static boolean isPart(ResponseHead head, ObjectVersion version, ByteRange range) throws IOException {
        String contentRange = head.header("Content-Range");
        boolean isRange = switch (head.status()) {
            case PARTIAL_CONTENT -> contentRange != null && RangeGet.isRange(contentRange, range, version.size());
            case OK -> contentRange == null && range.length() == version.size();
            default -> false;
        };
        return isRange
                && head.contentLength() == range.length()
                && version.etag().equals(ResponseValues.etag(head.header("ETag")));
    }

    /**
     * Requests an object's headers. If a connection breaks before the response, the request is not left to the SDK,
     * whose HTTP client takes a connection's end for the end of the headers.
     *
     * @param checksums whether to request the object's checksums too
     * @return the head of a response with status 200 or 404; null if the SDK must make the request
     * @throws IOException if the connection broke before the head was complete: the request may be repeated
     */
    @Nullable
    ResponseHead head(String key, boolean checksums) throws IOException, InterruptedException {
        if (isBackingOff()) {
            return null;
        }
        HttpConnection connection = null;
        boolean reusable = false;
        try {
            SdkHttpRequest.Builder request = request(SdkHttpMethod.HEAD, key);
            if (checksums) {
                request.putHeader(CHECKSUM_MODE, "ENABLED");
            }
            byte[] text = signedText(request);
            if (text == null) {
                return null;
            }
            connection = connections.take();
            counters.sent(Kind.HEAD);
            ResponseHead head = connection.send(text);
            counters.responded(head.status());
            if (head.status() == BAD_REQUEST) {
                return null;
            }
            if (head.status() != OK && head.status() != NOT_FOUND) {
                onRefusal(head.status());
                return null;
            }
            onSuccess();
            reusable = head.keepsAlive();
            return head;
        } catch (ProtocolException e) {
            LOG.debug("The SDK repeats the request for '{}'", key, e);
            return null; // the SDK may understand it
        } catch (IOException | SdkException e) {
            checkInterrupt();
            if (connection != null && connection.isSent() && e instanceof IOException broken) {
                throw broken;
            }
            onFailure(e, connection);
            return null;
        } finally {
            leave(connection, reusable);
        }
    }

    /**
     * Sends an object, or a part of one, with {@code UNSIGNED-PAYLOAD} as {@link UnsignedPayloads} does.
     *
     * @param retryState notified of the attempt, if there is one
     * @param query the address's query parameters by name, encoded
     * @param headers in addition to those of every request
     * @param body read from its start, at most once
     * @param length of the body in bytes
     * @return the head of a successful response; null if the SDK must make the request
     * @throws RuntimeException thrown by reading the body
     */
    @Nullable
    ResponseHead put(
            RetryState retryState,
            String key,
            Map<String, String> query,
            Map<String, String> headers,
            HttpConnection.Body body,
            long length)
            throws InterruptedException {
        if (config.integrity().signedPayloads() || isBackingOff()) {
            return null;
        }
        SdkHttpRequest.Builder request = request(SdkHttpMethod.PUT, key);
        query.forEach(request::putRawQueryParameter);
        headers.forEach(request::putHeader);
        request.putHeader("Content-Length", Long.toString(length));
        HttpConnection connection = null;
        boolean reusable = false;
        Deadline.acquire(sendPermits);
        try {
            byte[] text = signedText(request);
            if (text == null) {
                return null;
            }
            connection = connections.take();
            retryState.attemptStarts();
            counters.sent(Kind.PUT);
            ResponseHead head = connection.send(text, body, length);
            counters.responded(head.status());
            if (ErrorMapper.isNotApplied(head)) {
                retryState.attemptRefused();
            }
            if (head.status() != OK || head.header("ETag") == null) {
                onRefusal(head.status());
                return null;
            }
            onSuccess();
            reusable = head.contentLength() == 0 && head.keepsAlive();
            return head;
        } catch (IOException | SdkException e) {
            checkInterrupt();
            onFailure(e, connection);
            return null;
        } finally {
            leave(connection, reusable);
            sendPermits.release();
        }
    }

    /** @param connection null if there was none */
    private void leave(@Nullable HttpConnection connection, boolean reusable) {
        if (connection == null) {
            return;
        }
        if (reusable) {
            connections.giveBack(connection);
        } else {
            connections.end(connection);
        }
    }

    @Override
    public void close() {
        connections.close();
    }

    private static void checkInterrupt() throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
    }

    private void onSuccess() {
        if (failures.get() != 0) { // otherwise all threads would write the field that they all read
            failures.set(0);
        }
    }

    /**
     * Handles an unsuccessful response. A status about one object says nothing about other objects. Every other status
     * means trouble at the store (429, 5xx), for which the SDK slows down, or a store that needs more than these
     * requests have: another address (3xx), credentials (401), a header or an encoding (400, 411, 501). Or the store
     * sends whole objects for ranges (200), or omits headers (206).
     */
    private void onRefusal(int status) {
        switch (status) {
            case NOT_FOUND, CONFLICT, PRECONDITION_FAILED, RANGE_NOT_SATISFIABLE -> {}
            case FORBIDDEN -> countFailure();
            default -> backOff();
        }
    }

    /**
     * Handles a failure without a response. The server may have closed a kept connection. If connecting or the TLS
     * handshake fails, later requests would wait here and then again in the SDK.
     *
     * @param connection null if connecting failed
     */
    private void onFailure(Exception e, @Nullable HttpConnection connection) {
        if (connection == null || e instanceof SSLHandshakeException) {
            backOff();
        } else {
            countFailure();
        }
    }

    private void countFailure() {
        if (failures.incrementAndGet() >= FAILURE_LIMIT) {
            backOff();
        }
    }

    private void backOff() {
        failures.set(0);
        backOffUntil = nanoTime.getAsLong() + BACK_OFF.toNanos();
    }

    private boolean isBackingOff() {
        return nanoTime.getAsLong() - backOffUntil < 0;
    }

    private SdkHttpRequest.Builder request(SdkHttpMethod method, String key) {
        SdkHttpRequest.Builder request = SdkHttpRequest.builder()
                .method(method)
                .protocol(base.getScheme())
                .host(base.getHost())
                .port(base.getPort() < 0 ? null : base.getPort())
                .encodedPath(base.getRawPath() + SdkHttpUtils.urlEncodeIgnoreSlashes(key))
                .putHeader("User-Agent", config.requester().userAgent());
        if (config.requester().pays()) {
            request.putHeader("x-amz-request-payer", "requester");
        }
        return request;
    }

    /**
     * The request's head; null if a header contains characters that would break it. An entity tag comes from XML and
     * may contain line breaks.
     */
    private byte @Nullable [] signedText(SdkHttpRequest.Builder request) {
        SdkHttpRequest signed = sign(request.build());
        StringBuilder text = new StringBuilder(1024);
        text.append(signed.method()).append(' ').append(signed.encodedPath());
        signed.encodedQueryParameters().ifPresent(query -> text.append('?').append(query));
        text.append(" HTTP/1.1\r\n");
        boolean plain = true;
        if (signed.method() == SdkHttpMethod.GET) {
            text.append(AS_STORED.getKey())
                    .append(": ")
                    .append(AS_STORED.getValue())
                    .append("\r\n");
        }
        for (Map.Entry<String, List<String>> header : signed.headers().entrySet()) {
            String value = String.join(",", header.getValue());
            plain &= value.chars().allMatch(c -> c >= ' ' && c < 0x7f);
            text.append(header.getKey()).append(": ").append(value).append("\r\n");
        }
        return plain ? text.append("\r\n").toString().getBytes(US_ASCII) : null;
    }

    private SdkHttpRequest sign(SdkHttpRequest request) {
        AwsCredentials identity = credentials.resolveCredentials();
        if (identity.accessKeyId() == null) {
            String host = base.getPort() < 0 ? base.getHost() : base.getHost() + ":" + base.getPort();
            return request.toBuilder().putHeader("Host", host).build();
        }
        return signer.sign(sign -> sign.identity(identity)
                        .request(request)
                        .putProperty(AwsV4HttpSigner.SERVICE_SIGNING_NAME, "s3")
                        .putProperty(AwsV4HttpSigner.REGION_NAME, region)
                        .putProperty(AwsV4HttpSigner.SIGNING_CLOCK, storesClock())
                        // S3's own rule: keys are signed as they are.
                        .putProperty(AwsV4HttpSigner.DOUBLE_URL_ENCODE, false)
                        .putProperty(AwsV4HttpSigner.NORMALIZE_PATH, false)
                        .putProperty(AwsV4HttpSigner.PAYLOAD_SIGNING_ENABLED, request.method() != SdkHttpMethod.PUT)
                        .putProperty(AwsV4HttpSigner.CHUNK_ENCODING_ENABLED, false))
                .request();
    }

    /** This machine's clock, corrected by the offset that the SDK has learnt from refusals of its own requests. */
    static Clock storesClock() {
        return Clock.offset(Clock.systemUTC(), Duration.ofSeconds(-SdkGlobalTime.getGlobalTimeOffset()));
    }
}

package io.penstock.objectstore;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;
import java.io.IOException;
import java.net.InetAddress;
import java.net.URI;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.SSLHandshakeException;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.auth.credentials.AwsCredentials;
import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.http.SdkHttpMethod;
import software.amazon.awssdk.http.SdkHttpRequest;
import software.amazon.awssdk.http.auth.aws.signer.AwsV4HttpSigner;
import software.amazon.awssdk.utils.http.SdkHttpUtils;

/**
 * GETs of parts of objects and PUTs of objects and parts, made without the SDK's pipeline: most of the requests of a
 * mount, and most of their bytes. The SDK's share of such a request was a third of its CPU time and more. What is not
 * answered as usual is nothing for this class: the same request is then made through the SDK, which knows every error,
 * redirect and refusal. Safe for use by any number of threads.
 */
final class DirectRequests implements AutoCloseable {
    private static final int OK = 200;
    private static final int PARTIAL_CONTENT = 206;

    /** Answers of a healthy store about this one object. */
    private static final int NOT_FOUND = 404;

    private static final int CONFLICT = 409;
    private static final int PRECONDITION_FAILED = 412;
    private static final int RANGE_NOT_SATISFIABLE = 416;

    /** About this one object (it is archived, or below a prefix that is denied), or about the request's signature. */
    private static final int FORBIDDEN = 403;

    /** So many refusals, and nothing else between them, are about the signature. */
    private static final int MANY_REFUSALS = 8;

    /** How long to leave all requests to the SDK after a trouble, which slows down when asked to. */
    private static final Duration REST = Duration.ofSeconds(10);

    private final S3Config config;
    private final URI base;
    private final String region;
    private final AwsCredentialsProvider credentials;
    private final Connections connections;
    private final AwsV4HttpSigner signer = AwsV4HttpSigner.create();

    /** {@link System#nanoTime} until which the SDK has the requests. */
    private volatile long restUntil = System.nanoTime();

    /** Since the last success. */
    private final AtomicInteger refusals = new AtomicInteger();

    /**
     * @param base what a key is appended to
     * @throws ObjectStoreException if the trusted certificates cannot be read
     */
    DirectRequests(S3Config config, URI base, String region, AwsCredentialsProvider credentials)
            throws ObjectStoreException {
        this.config = config;
        this.base = base;
        this.region = region;
        this.credentials = credentials;
        ServerAddresses addresses = new ServerAddresses(base.getHost(), InetAddress::getAllByName, System::nanoTime);
        boolean encrypted = base.getScheme().equals("https");
        int port = base.getPort() >= 0 ? base.getPort() : encrypted ? 443 : 80;
        Tls tls = encrypted ? new Tls(config.caFile(), base.getHost(), port) : null;
        this.connections = new Connections(addresses, port, tls, config);
    }

    /** An answer to the request; null if the SDK is to make it. */
    @Nullable
    ObjectBody get(ObjectVersion version, ByteRange range) throws InterruptedException {
        // Of a whole object S3 may send a checksum, which the SDK compares.
        if (range.length() == version.size() || System.nanoTime() - restUntil < 0) {
            return null;
        }
        Connection connection = null;
        ObjectBody body = null;
        try {
            byte[] request = request(version, range);
            connection = connections.take();
            ResponseHead head = connection.ask(request);
            long length = head.contentLength();
            if (head.status() == PARTIAL_CONTENT && length > 0) {
                body = new DirectBody(connections, connection, head, length);
                usual();
            } else {
                unusual(head.status());
            }
        } catch (IOException | SdkException e) {
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
            failed(e);
        } finally {
            if (connection != null && body == null) {
                connections.end(connection);
            }
        }
        return body;
    }

    /**
     * Sends an object, or a part of one, with {@code UNSIGNED-PAYLOAD} as {@link UnsignedPayloads} does.
     *
     * @param query what follows the key in the address, by name
     * @param headers beside those that every request has
     * @param body read from its start, once at most
     * @param length of the body in bytes
     * @return the head of an answer that tells success; null if the SDK is to make the request
     * @throws RuntimeException what reading the body threw
     */
    @Nullable
    ResponseHead put(String key, Map<String, String> query, Map<String, String> headers, BodyReader body, long length)
            throws InterruptedException {
        if (config.signedPayloads() || System.nanoTime() - restUntil < 0) {
            return null;
        }
        SdkHttpRequest.Builder request = request(SdkHttpMethod.PUT, key);
        query.forEach(request::putRawQueryParameter);
        headers.forEach(request::putHeader);
        request.putHeader("Content-Length", Long.toString(length));
        Connection connection = null;
        boolean reusable = false;
        try {
            byte[] head = text(sign(request.build()));
            connection = connections.take();
            ResponseHead answer = connection.send(head, body, length);
            if (answer.status() != OK || answer.header("ETag") == null) {
                unusual(answer.status());
                return null;
            }
            usual();
            reusable = answer.contentLength() == 0 && answer.keepsAlive() && !connection.hasUnread();
            return answer;
        } catch (IOException | SdkException e) {
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
            failed(e);
            return null;
        } finally {
            if (connection != null) {
                if (reusable) {
                    connections.giveBack(connection);
                } else {
                    connections.end(connection);
                }
            }
        }
    }

    @Override
    public void close() {
        connections.close();
    }

    private void usual() {
        if (refusals.get() != 0) { // else all threads would write what they all read
            refusals.set(0);
        }
    }

    /**
     * What is about one object says nothing of the others. All else is either trouble of the store's (429, 5xx), which the
     * SDK slows down for, or shows that it wants something of requests that these lack: another address (3xx),
     * credentials (401), a header or an encoding (400, 411, 501), or that it sends whole objects for parts (200).
     */
    private void unusual(int status) {
        switch (status) {
            case NOT_FOUND, CONFLICT, PRECONDITION_FAILED, RANGE_NOT_SATISFIABLE -> {}
            case FORBIDDEN -> {
                if (refusals.incrementAndGet() >= MANY_REFUSALS) {
                    rest();
                }
            }
            default -> rest();
        }
    }

    /** A kept connection may have ended meanwhile; whatever else it is, the SDK will find it out. */
    private void failed(Exception e) {
        if (e instanceof SSLHandshakeException) {
            rest(); // the next handshake would fail as well
        }
    }

    private void rest() {
        refusals.set(0);
        restUntil = System.nanoTime() + REST.toNanos();
    }

    private byte[] request(ObjectVersion version, ByteRange range) {
        SdkHttpRequest.Builder request = request(SdkHttpMethod.GET, version.key())
                .putHeader("If-Match", version.etag())
                .putHeader("Range", range.toHttpRange());
        return text(sign(request.build()));
    }

    private SdkHttpRequest.Builder request(SdkHttpMethod method, String key) {
        SdkHttpRequest.Builder request = SdkHttpRequest.builder()
                .method(method)
                .protocol(base.getScheme())
                .host(base.getHost())
                .port(base.getPort() < 0 ? null : base.getPort())
                .encodedPath(base.getRawPath() + SdkHttpUtils.urlEncodeIgnoreSlashes(key))
                .putHeader("User-Agent", config.userAgent());
        if (config.requesterPays()) {
            request.putHeader("x-amz-request-payer", "requester");
        }
        return request;
    }

    private static byte[] text(SdkHttpRequest signed) {
        StringBuilder text = new StringBuilder(1024);
        text.append(signed.method()).append(' ').append(signed.encodedPath());
        signed.encodedQueryParameters().ifPresent(query -> text.append('?').append(query));
        text.append(" HTTP/1.1\r\n");
        signed.forEachHeader((name, values) ->
                text.append(name).append(": ").append(String.join(",", values)).append("\r\n"));
        return text.append("\r\n").toString().getBytes(ISO_8859_1);
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
                        // S3's own rules: keys are signed as they are.
                        .putProperty(AwsV4HttpSigner.DOUBLE_URL_ENCODE, false)
                        .putProperty(AwsV4HttpSigner.NORMALIZE_PATH, false)
                        .putProperty(AwsV4HttpSigner.PAYLOAD_SIGNING_ENABLED, request.method() == SdkHttpMethod.GET)
                        .putProperty(AwsV4HttpSigner.CHUNK_ENCODING_ENABLED, false))
                .request();
    }
}

package io.penstock.objectstore;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PushbackInputStream;
import java.util.List;
import java.util.Set;
import software.amazon.awssdk.http.Abortable;
import software.amazon.awssdk.http.AbortableInputStream;
import software.amazon.awssdk.http.ExecutableHttpRequest;
import software.amazon.awssdk.http.HttpExecuteRequest;
import software.amazon.awssdk.http.HttpExecuteResponse;
import software.amazon.awssdk.http.SdkHttpClient;
import software.amazon.awssdk.http.SdkHttpMethod;
import software.amazon.awssdk.http.SdkHttpResponse;

/**
 * An HTTP client that closes an unfinished body at once by breaking its connection. The client below it would read the
 * rest first, which takes until the read timeout when the body stalls. The SDK closes a body when its thread is
 * interrupted. A document is broken off too if it is longer than any of S3: the SDK would read all of it into memory.
 * It asks for objects {@linkplain DirectRequests#AS_STORED as they are stored}, here because the SDK has signed by now.
 */
final class AbortingHttpClient implements SdkHttpClient {
    /** Bytes of a document. What S3 says of 1,000 deleted keys of 1,024 bytes, all of them encoded, takes half of it. */
    private static final int LONGEST_DOCUMENT = 16 << 20;

    /** Requests whose successful responses have a body, or say that they have none. */
    private static final Set<SdkHttpMethod> HAVE_LENGTH =
            Set.of(SdkHttpMethod.GET, SdkHttpMethod.PUT, SdkHttpMethod.POST);

    private static final List<String> LENGTHS = List.of("Content-Length", "Transfer-Encoding");
    private static final int OK = 200;

    private final SdkHttpClient client;

    AbortingHttpClient(SdkHttpClient client) {
        this.client = client;
    }

    @Override
    public ExecutableHttpRequest prepareRequest(HttpExecuteRequest request) {
        ExecutableHttpRequest prepared = client.prepareRequest(hasRange(request) ? asStored(request) : request);
        return new ExecutableHttpRequest() {
            @Override
            public HttpExecuteResponse call() throws IOException {
                HttpExecuteResponse response = prepared.call();
                boolean isHandedOn = isHandedOn(request, response);
                AbortableInputStream body = response.responseBody()
                        .orElseGet(() -> AbortableInputStream.create(InputStream.nullInputStream()));
                try {
                    InputStream bytes = isHandedOn ? body : begun(request, response.httpResponse(), body);
                    Body limited = new Body(bytes, body, isHandedOn ? Long.MAX_VALUE : LONGEST_DOCUMENT);
                    return HttpExecuteResponse.builder()
                            .response(response.httpResponse())
                            .responseBody(
                                    response.responseBody().isEmpty()
                                            ? null
                                            : AbortableInputStream.create(limited, body))
                            .build();
                } catch (IOException e) {
                    body.abort();
                    throw e;
                }
            }

            @Override
            public void abort() {
                prepared.abort();
            }
        };
    }

    /**
     * The body, once its first byte is there or its end. A connection's end is that of the headers for the client below: the body
     * of a response that was cut there has no length, and is empty. A body that ends before its first byte is an error here,
     * and not one of the SDK's parser, which would not call it one of the connection.
     */
    private static InputStream begun(HttpExecuteRequest request, SdkHttpResponse head, InputStream received)
            throws IOException {
        PushbackInputStream body = new PushbackInputStream(received);
        int first = body.read();
        if (first >= 0) {
            body.unread(first);
        } else if (HAVE_LENGTH.contains(request.httpRequest().method())
                && head.statusCode() == OK
                && head.firstMatchingHeader(LENGTHS).isEmpty()
                && !ResponseValues.isWhole(head.firstMatchingHeader("ETag").orElse(null))) {
            throw new IOException("the connection ended within the headers of the response");
        }
        return body;
    }

    /**
     * Whether the SDK hands the body on unread: an object's, of which each GET names a range, or a page of a listing, which
     * {@link ListingInterceptor} limits.
     */
    private static boolean isHandedOn(HttpExecuteRequest request, HttpExecuteResponse response) {
        return response.httpResponse().isSuccessful()
                && (hasRange(request)
                        || request.httpRequest()
                                .firstMatchingRawQueryParameter("list-type")
                                .isPresent());
    }

    private static boolean hasRange(HttpExecuteRequest request) {
        return request.httpRequest().firstMatchingHeader("Range").isPresent();
    }

    private static HttpExecuteRequest asStored(HttpExecuteRequest request) {
        return HttpExecuteRequest.builder()
                .contentStreamProvider(request.contentStreamProvider().orElse(null))
                .request(request.httpRequest().toBuilder()
                        .putHeader(DirectRequests.AS_STORED.getKey(), DirectRequests.AS_STORED.getValue())
                        .build())
                .build();
    }

    @Override
    public String clientName() {
        return client.clientName();
    }

    @Override
    public void close() {
        client.close();
    }

    /** Confined to the reading thread; any thread may abort. */
    private static final class Body extends FilterInputStream {
        private final Abortable body;
        private long left;
        private boolean ended;

        /** @param limit in bytes: a longer body is an error */
        Body(InputStream bytes, Abortable body, long limit) {
            super(bytes);
            this.body = body;
            this.left = limit;
        }

        @Override
        public int read() throws IOException {
            int read = in.read();
            noted(read < 0 ? -1 : 1);
            return read;
        }

        @Override
        public int read(byte[] target, int offset, int length) throws IOException {
            int read = in.read(target, offset, length);
            noted(read);
            return read;
        }

        /** @param read bytes; negative at the end */
        private void noted(int read) throws IOException {
            ended |= read < 0;
            left -= Math.max(0, read);
            if (left < 0) {
                throw new IOException("the response has more than " + (LONGEST_DOCUMENT >> 20) + " MiB");
            }
        }

        @Override
        public void close() throws IOException {
            if (ended) {
                in.close();
            } else {
                body.abort();
            }
        }
    }
}

package io.penstock.objectstore.s3;

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
 * An HTTP client that closes an unfinished body immediately, by breaking its connection. The client below it would
 * first read the rest, which takes until the read timeout if the body stalls. The SDK closes a body when its thread is
 * interrupted. A document longer than any of S3's is broken off too, because the SDK would read all of it into memory.
 * Requests objects {@linkplain DirectRequests#AS_STORED as they are stored}, here because the SDK has signed the
 * request by now.
 */
final class AbortingHttpClient implements SdkHttpClient {
    /** Bytes of a document. S3's response for 1,000 deleted keys of 1,024 encoded bytes is half as long. */
    private static final int LONGEST_DOCUMENT = 16 << 20;

    /** Requests whose successful responses have a body or state that they have none. */
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
     * The body, once its first byte or its end has arrived. The client below takes a connection's end for the end of
     * the headers: the body of a response that was cut there has no length and is empty. A body that ends before its
     * first byte is an error here. The SDK's parser would not report it as an error of the connection.
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
            throw new IOException("the connection ended in the middle of the response's headers");
        }
        return body;
    }

    /**
     * Whether the SDK passes the body on unread: that of an object, for which each GET has a range, or of a page of a
     * listing, which {@link ListingInterceptor} limits.
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

        /** @param limit in bytes; a longer body is an error */
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

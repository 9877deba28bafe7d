package io.penstock.objectstore;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import software.amazon.awssdk.http.AbortableInputStream;
import software.amazon.awssdk.http.ExecutableHttpRequest;
import software.amazon.awssdk.http.HttpExecuteRequest;
import software.amazon.awssdk.http.HttpExecuteResponse;
import software.amazon.awssdk.http.SdkHttpClient;

/**
 * An HTTP client that closes an unfinished body at once by breaking its connection. The client below it would read the
 * rest first, which takes until the read timeout when the body stalls. The SDK closes a body when its thread is
 * interrupted. A document is broken off too if it is longer than any of S3: the SDK would read all of it into memory.
 * It asks for objects {@linkplain DirectRequests#AS_STORED as they are stored}, here because the SDK has signed by now.
 */
final class AbortingHttpClient implements SdkHttpClient {
    /** Bytes of a document. What S3 says of 1,000 deleted keys of 1,024 bytes, all of them encoded, takes half of it. */
    private static final int LONGEST_DOCUMENT = 16 << 20;

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
                long limit = isHandedOn(request, response) ? Long.MAX_VALUE : LONGEST_DOCUMENT;
                return HttpExecuteResponse.builder()
                        .response(response.httpResponse())
                        .responseBody(response.responseBody()
                                .map(body -> AbortableInputStream.create(new Body(body, limit), body))
                                .orElse(null))
                        .build();
            }

            @Override
            public void abort() {
                prepared.abort();
            }
        };
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
        private final AbortableInputStream body;
        private long left;
        private boolean ended;

        /** @param limit in bytes: a longer body is an error */
        Body(AbortableInputStream body, long limit) {
            super((InputStream) body);
            this.body = body;
            this.left = limit;
        }

        @Override
        public int read() throws IOException {
            int read = body.read();
            noted(read < 0 ? -1 : 1);
            return read;
        }

        @Override
        public int read(byte[] target, int offset, int length) throws IOException {
            int read = body.read(target, offset, length);
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
                body.close();
            } else {
                body.abort();
            }
        }
    }
}

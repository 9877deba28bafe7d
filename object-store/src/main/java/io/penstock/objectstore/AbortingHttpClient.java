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
 * interrupted.
 */
final class AbortingHttpClient implements SdkHttpClient {
    private final SdkHttpClient client;

    AbortingHttpClient(SdkHttpClient client) {
        this.client = client;
    }

    @Override
    public ExecutableHttpRequest prepareRequest(HttpExecuteRequest request) {
        ExecutableHttpRequest prepared = client.prepareRequest(request);
        return new ExecutableHttpRequest() {
            @Override
            public HttpExecuteResponse call() throws IOException {
                HttpExecuteResponse response = prepared.call();
                return HttpExecuteResponse.builder()
                        .response(response.httpResponse())
                        .responseBody(response.responseBody()
                                .map(body -> AbortableInputStream.create(new Body(body), body))
                                .orElse(null))
                        .build();
            }

            @Override
            public void abort() {
                prepared.abort();
            }
        };
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
        private boolean ended;

        Body(AbortableInputStream body) {
            super((InputStream) body);
            this.body = body;
        }

        @Override
        public int read() throws IOException {
            return noted(body.read());
        }

        @Override
        public int read(byte[] target, int offset, int length) throws IOException {
            return noted(body.read(target, offset, length));
        }

        private int noted(int read) {
            ended |= read < 0;
            return read;
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

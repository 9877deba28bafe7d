package io.penstock.objectstore.s3;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.objectstore.s3.S3Config.Limits;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.URI;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import software.amazon.awssdk.http.HttpExecuteRequest;
import software.amazon.awssdk.http.SdkHttpClient;
import software.amazon.awssdk.http.SdkHttpMethod;
import software.amazon.awssdk.http.SdkHttpRequest;

/** Bodies that never end. The SDK would read them until the heap is exhausted. */
@Timeout(60)
final class AbortingHttpClientTest {
    private static final int LONG = (16 << 20) + 1;

    private final SdkHttpClient client =
            HttpClients.create(Limits.DEFAULT, TestConfigs.at(URI.create("http://127.0.0.1")), null);
    private ScriptedServer server;

    @BeforeEach
    void start() throws IOException {
        server = new ScriptedServer();
    }

    @AfterEach
    void stop() throws IOException {
        client.close();
        server.close();
    }

    private InputStream body(SdkHttpMethod method, String path, int status, boolean isRange) throws IOException {
        server.answers("HTTP/1.1 " + status + " X\r\nContent-Length: " + LONG + "\r\n\r\n" + "x".repeat(LONG));
        SdkHttpRequest.Builder request = SdkHttpRequest.builder().method(method).uri(server.uri(path));
        if (isRange) {
            request.putHeader("Range", "bytes=0-" + (LONG - 1));
        }
        return client.prepareRequest(
                        HttpExecuteRequest.builder().request(request.build()).build())
                .call()
                .responseBody()
                .orElseThrow();
    }

    @ParameterizedTest
    @CsvSource({"GET, /b/k, 403, true", "GET, /b?list-type=2, 500, false", "POST, /b/k?uploads, 200, false"})
    void read_documentThatIsTooLong_fails(SdkHttpMethod method, String path, int status, boolean isRange)
            throws Exception {
        try (InputStream body = body(method, path, status, isRange)) {
            assertThatThrownBy(() -> body.transferTo(OutputStream.nullOutputStream()))
                    .isInstanceOf(IOException.class)
                    .hasMessage("the response has more than 16 MiB");
        }
    }

    @Test
    void read_object_isOfAnyLength() throws Exception {
        try (InputStream body = body(SdkHttpMethod.GET, "/b/k", 206, true)) {
            assertThat(body.transferTo(OutputStream.nullOutputStream())).isEqualTo(LONG);
        }
    }
}

package io.penstock.embeddeds3;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.Arrays;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SyntheticS3Test {
    private static final long NUMBER = 1_234;

    private final SyntheticObjects objects = new SyntheticObjects(5_000, 1_000);
    private final HttpClient client = HttpClient.newHttpClient();
    private SyntheticS3 server;

    @BeforeEach
    void start() throws IOException {
        server = new SyntheticS3(Map.of("made-up", objects), Duration.ZERO);
    }

    @AfterEach
    void close() {
        client.close();
        server.close();
    }

    private HttpResponse<byte[]> ask(String method, String path, String... headers) throws Exception {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(server.endpoint() + path))
                .method(method, HttpRequest.BodyPublishers.noBody());
        if (headers.length > 0) {
            request.headers(headers);
        }
        return client.send(request.build(), HttpResponse.BodyHandlers.ofByteArray());
    }

    private String object() {
        return "/made-up/" + objects.key(NUMBER);
    }

    @Test
    void list_oneFolder_hasItsKeys() throws Exception {
        ReceivedPage page = ReceivedPage.parse(ask("GET", "/made-up?list-type=2&prefix=imgs%2F00003%2F&delimiter=%2F")
                .body());
        assertThat(page.texts("Key"))
                .hasSize(1_000)
                .startsWith("imgs/00003/000003000.jpg")
                .endsWith("imgs/00003/000003999.jpg");
        assertThat(page.nextToken()).isNull();
    }

    @Test
    void get_aWholeObject_hasItsBytes() throws Exception {
        HttpResponse<byte[]> answer = ask("GET", object());
        assertThat(answer.statusCode()).isEqualTo(200);
        assertThat(answer.body()).isEqualTo(objects.content(NUMBER, 0, objects.size(NUMBER)));
        assertThat(answer.headers().firstValue("ETag")).contains(objects.etag(NUMBER));
    }

    @ParameterizedTest
    @CsvSource({"0-0, 0, 1", "5-104, 5, 100", "19990-, 19990, -1", "-7, -7, -1", "3-9999999, 3, -1"})
    void get_aRange_hasTheBytesOfIt(String range, int from, int length) throws Exception {
        int size = objects.size(NUMBER);
        int first = from < 0 ? size + from : from;
        int end = length < 0 ? size : first + length;
        HttpResponse<byte[]> answer = ask("GET", object(), "Range", "bytes=" + range);
        assertThat(answer.statusCode()).isEqualTo(206);
        assertThat(answer.headers().firstValue("Content-Range"))
                .contains("bytes %d-%d/%d".formatted(first, end - 1, size));
        assertThat(answer.body()).isEqualTo(Arrays.copyOfRange(objects.content(NUMBER, 0, size), first, end));
    }

    @Test
    void head_anObject_isAsItIsListed() throws Exception {
        HttpResponse<byte[]> answer = ask("HEAD", object());
        assertThat(answer.statusCode()).isEqualTo(200);
        assertThat(answer.headers().firstValueAsLong("Content-Length")).hasValue(objects.size(NUMBER));
        assertThat(answer.headers().firstValue("ETag")).contains(objects.etag(NUMBER));
        assertThat(answer.headers().firstValue("Last-Modified"))
                .hasValueSatisfying(time -> assertThat(ZonedDateTime.parse(time, DateTimeFormatter.RFC_1123_DATE_TIME)
                                .toInstant())
                        .isEqualTo(objects.lastModified(NUMBER)));
    }

    @Test
    void get_ofAnotherVersion_isRefused() throws Exception {
        assertThat(ask("GET", object(), "If-Match", objects.etag(NUMBER)).statusCode())
                .isEqualTo(200);
        assertRefused(ask("GET", object(), "If-Match", objects.etag(NUMBER + 1)), 412, "PreconditionFailed");
    }

    @ParameterizedTest
    @CsvSource({
        "GET, /made-up/imgs/00000/none.jpg, 404, NoSuchKey",
        "GET, /other?list-type=2, 404, NoSuchBucket",
        "GET, /, 501, NotImplemented",
        "GET, /made-up, 501, NotImplemented",
        "GET, /made-up?location, 501, NotImplemented",
        "GET, /made-up?list-type=2&max-keys=x, 400, InvalidArgument",
        "GET, /made-up/imgs/00000/000000000.jpg?tagging, 501, NotImplemented",
        "PUT, /made-up/imgs/00000/000000000.jpg, 403, AccessDenied",
        "DELETE, /made-up/imgs/00000/000000000.jpg, 403, AccessDenied",
        "POST, /made-up?delete, 403, AccessDenied",
        "HEAD, /other, 404, ",
        "HEAD, /made-up/none, 404, "
    })
    void request_thatCannotBeAnswered_isRefusedAsS3Does(String method, String path, int status, String code)
            throws Exception {
        assertRefused(ask(method, path), status, code);
    }

    private static void assertRefused(HttpResponse<byte[]> answer, int status, @Nullable String code) {
        assertThat(answer.statusCode()).isEqualTo(status);
        String document = new String(answer.body(), StandardCharsets.UTF_8);
        if (code != null) {
            assertThat(document).contains("<Error><Code>" + code + "</Code>");
        }
    }

    @Test
    void get_behindTheEnd_isRefused() throws Exception {
        assertRefused(ask("GET", object(), "Range", "bytes=9999999-"), 416, "InvalidRange");
    }

    @Test
    void headBucket_namesTheRegion() throws Exception {
        HttpResponse<byte[]> answer = ask("HEAD", "/made-up");
        assertThat(answer.statusCode()).isEqualTo(200);
        assertThat(answer.headers().firstValue("x-amz-bucket-region")).contains("us-east-1");
    }

    @Test
    void requests_areCounted() throws Exception {
        ask("GET", "/made-up?list-type=2");
        ask("GET", "/made-up?list-type=2&max-keys=1");
        ask("HEAD", object());
        ask("GET", object());
        ask("DELETE", object());
        assertThat(server.requests()).isEqualTo(new SyntheticS3.Requests(2, 1, 1, 1));
        assertThat(server.requests().total()).isEqualTo(5);
    }

    @Test
    void list_withALatency_takesIt() throws Exception {
        Duration latency = Duration.ofMillis(200);
        try (SyntheticS3 slow = new SyntheticS3(Map.of("made-up", objects), latency)) {
            long asked = System.nanoTime();
            client.send(
                    HttpRequest.newBuilder(URI.create(slow.endpoint() + "/made-up?list-type=2"))
                            .build(),
                    HttpResponse.BodyHandlers.discarding());
            assertThat(Duration.ofNanos(System.nanoTime() - asked)).isGreaterThanOrEqualTo(latency);
        }
    }
}

package io.penstock.objectstore.s3;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.objectstore.s3.RequestCounters.Kind;
import java.net.URI;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import software.amazon.awssdk.http.SdkHttpMethod;
import software.amazon.awssdk.http.SdkHttpRequest;

final class RequestCountersTest {
    @ParameterizedTest
    @CsvSource({
        "GET, /b/k, GET",
        "HEAD, /b/k, HEAD",
        "HEAD, /b, HEAD",
        "GET, /b?list-type=2&prefix=a, LIST",
        "GET, /b?uploads, LIST",
        "GET, /b/k?uploadId=1, LIST",
        "PUT, /b/k, PUT",
        "PUT, /b/k?partNumber=1&uploadId=1, PUT",
        "POST, /b/k?uploads, PUT",
        "POST, /b/k?uploadId=1, PUT",
        "POST, /b?delete, DELETE",
        "DELETE, /b/k, DELETE",
        "DELETE, /b/k?uploadId=1, DELETE",
    })
    void of_aRequest_isWhatTheStoreChargesItAs(SdkHttpMethod method, String path, Kind kind) {
        SdkHttpRequest request = SdkHttpRequest.builder()
                .method(method)
                .uri(URI.create("http://h" + path))
                .build();

        assertThat(Kind.of(request)).isEqualTo(kind);
    }

    @Test
    void snapshot_afterRequests_hasEachOnce() {
        RequestCounters counters = new RequestCounters();
        int times = 0;
        for (Kind kind : List.of(Kind.GET, Kind.HEAD, Kind.LIST, Kind.PUT, Kind.DELETE)) {
            times++;
            for (int i = 0; i < times; i++) {
                counters.sent(kind);
            }
        }
        counters.retried();
        counters.responded(200);
        counters.responded(503);
        counters.responded(429);

        assertThat(counters.snapshot()).isEqualTo(new RequestStatistics(1, 2, 3, 4, 5, 1, 2));
    }
}

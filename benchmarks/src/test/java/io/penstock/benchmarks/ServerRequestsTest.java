package io.penstock.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ServerRequestsTest {
    @Test
    void parse_ofMetrics_addsTheTotalsOfAllKinds() {
        String metrics = """
            # HELP minio_api_requests_4xx_errors_total Total number of requests with 4xx errors
            # TYPE minio_api_requests_4xx_errors_total counter
            minio_api_requests_4xx_errors_total{name="HeadObject",server="127.0.0.1:9000",type="s3"} 7
            # TYPE minio_api_requests_total counter
            minio_api_requests_total{name="HeadObject",server="127.0.0.1:9000",type="s3"} 30
            minio_api_requests_total{name="PutObject",server="127.0.0.1:9000",type="s3"} 1.000002e+06
            minio_api_requests_traffic_sent_bytes{server="127.0.0.1:9000",type="s3"} 309
            """;
        assertThat(ServerRequests.parse(metrics)).isEqualTo(1_000_032);
    }

    @Test
    void parse_beforeTheFirstRequest_isNone() {
        assertThat(ServerRequests.parse("# no lines yet\n")).isZero();
    }

    @Test
    void count_ofAServerWithoutAnAddress_isUnknown() throws Exception {
        try (ServerRequests requests = new ServerRequests(new S3Target("AWS", null, null, false, null, null, false))) {
            assertThat(requests.count()).isEmpty();
        }
    }
}

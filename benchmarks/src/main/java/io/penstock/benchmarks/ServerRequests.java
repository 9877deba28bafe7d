package io.penstock.benchmarks;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.OptionalLong;
import java.util.regex.Pattern;

/** The number of S3 requests to a MinIO server, from its public metrics. One thread. */
final class ServerRequests implements AutoCloseable {
    private static final String METRICS = "/minio/metrics/v3/api/requests";
    private static final Pattern TOTAL =
            Pattern.compile("^minio_api_requests_total\\{[^}]*\\} (\\S+)$", Pattern.MULTILINE);
    private static final int OK = 200;

    private final S3Target server;
    private final HttpClient http = HttpClient.newHttpClient();

    ServerRequests(S3Target server) {
        this.server = server;
    }

    /** The served requests; empty if the server is not MinIO, or does not publish its metrics. */
    OptionalLong count() throws IOException, InterruptedException {
        URI endpoint = server.endpoint();
        if (endpoint == null) {
            return OptionalLong.empty();
        }
        HttpResponse<String> response = http.send(
                HttpRequest.newBuilder(endpoint.resolve(METRICS)).build(), HttpResponse.BodyHandlers.ofString());
        return response.statusCode() == OK ? OptionalLong.of(parse(response.body())) : OptionalLong.empty();
    }

    /** @param metrics in Prometheus's text format */
    static long parse(String metrics) {
        return TOTAL.matcher(metrics)
                .results()
                .mapToLong(line -> (long) Double.parseDouble(line.group(1)))
                .sum();
    }

    @Override
    public void close() {
        http.close();
    }
}

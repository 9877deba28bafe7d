package io.penstock.benchmarks;

import static java.util.Objects.requireNonNull;

import io.penstock.tools.measure.Measurement;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;

/** A ceiling over TLS without Penstock's code: range GETs by curl and OpenSSL, from the benchmark's own server. */
final class CurlGets {
    private final S3Target server;
    private final String bucket;
    private final Path folder;

    /** @param folder for request lists */
    CurlGets(S3Target server, String bucket, Path folder) {
        this.server = server;
        this.bucket = bucket;
        this.folder = folder;
    }

    /** Makes all requests in order, this many at a time, and discards the bytes; times only the whole run. */
    Measurement run(List<RawGets.Request> requests, int concurrency) throws Exception {
        URI endpoint = requireNonNull(server.endpoint());
        S3Target.Keys keys = requireNonNull(server.keys());
        String list = requests.stream()
                .map(request -> "url = \"" + endpoint + "/" + bucket + "/"
                        + request.version().key() + "\"\nrange = \""
                        + request.range().toHttpRange().substring("bytes=".length())
                        + "\"\noutput = \"/dev/null\"\n")
                .collect(Collectors.joining());
        StringBuilder options = new StringBuilder("fail\nparallel\nparallel-immediate\nhttp1.1\n");
        options.append("parallel-max = ").append(concurrency).append('\n');
        options.append("cacert = \"").append(requireNonNull(server.caFile())).append("\"\n");
        options.append("aws-sigv4 = \"aws:amz:").append(server.region()).append(":s3\"\n");
        options.append("user = \"")
                .append(keys.accessKeyId())
                .append(':')
                .append(keys.secretAccessKey())
                .append("\"\n");
        Path config = Files.writeString(folder.resolve("curl"), options + list);
        long start = System.nanoTime();
        String printed = Programs.run(List.of("curl", "--no-progress-meter", "--config", config.toString()));
        long nanos = System.nanoTime() - start;
        if (!printed.isEmpty()) {
            throw new BenchException("curl: " + printed.strip());
        }
        long bytes =
                requests.stream().mapToLong(request -> request.range().length()).sum();
        return new Measurement(bytes, requests.size(), nanos, 0, 0);
    }
}

package io.penstock.benchmarks;

import io.penstock.embeddeds3.SyntheticObjects;
import io.penstock.embeddeds3.SyntheticS3;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Serves synthetic buckets, in a separate JVM that {@link #close} ends. Its first line of output is its address. For each
 * line of input it prints the requests so far: listings, HEADs, GETs and others. One thread.
 */
final class ListServer implements AutoCloseable {
    private final Process process;
    private final BufferedReader said;
    private final PrintStream ask;
    private final S3Target server;

    private ListServer(Process process, Duration latency) throws IOException, BenchException {
        this.process = process;
        this.said = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.US_ASCII));
        this.ask = new PrintStream(process.getOutputStream(), true, StandardCharsets.US_ASCII);
        this.server = new S3Target(
                "a server that generates names (" + latency.toMillis() + " ms a page)",
                URI.create(readLine()),
                "us-east-1",
                true,
                new S3Target.Keys("bench", "bench-secret"),
                null,
                true);
    }

    /**
     * Starts it and waits until it listens.
     *
     * @param latency the minimum for each page of a listing
     */
    static ListServer start(Map<String, SyntheticObjects> buckets, Duration latency)
            throws IOException, BenchException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseSerialGC",
                "-Xmx512m",
                "-cp",
                System.getProperty("java.class.path"),
                ListServer.class.getName(),
                Long.toString(latency.toMillis())));
        buckets.forEach((name, objects) ->
                command.addAll(List.of(name, Long.toString(objects.count()), Integer.toString(objects.perFolder()))));
        Process process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try {
            return new ListServer(process, latency);
        } catch (IOException | BenchException e) {
            process.destroyForcibly();
            throw e;
        }
    }

    S3Target server() {
        return server;
    }

    long pid() {
        return process.pid();
    }

    /** The number of requests so far, of all kinds. */
    long requests() throws IOException, BenchException {
        ask.println();
        return Arrays.stream(readLine().split(" ", -1))
                .mapToLong(Long::parseLong)
                .sum();
    }

    private String readLine() throws IOException, BenchException {
        String line = said.readLine();
        if (line == null) {
            throw new BenchException("the server of names ended; its reason is above");
        }
        return line;
    }

    @Override
    public void close() {
        Mounts.end(process);
    }

    /** @param args minimum milliseconds per listing; then name, objects and objects per folder, for each bucket */
    public static void main(String[] args) throws Exception {
        Map<String, SyntheticObjects> buckets = new HashMap<>();
        for (int i = 1; i < args.length; i += 3) {
            buckets.put(args[i], new SyntheticObjects(Long.parseLong(args[i + 1]), Integer.parseInt(args[i + 2])));
        }
        try (SyntheticS3 server = new SyntheticS3(buckets, Duration.ofMillis(Long.parseLong(args[0])))) {
            System.out.println(server.endpoint());
            BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
            while (input.readLine() != null) {
                SyntheticS3.Requests requests = server.requests();
                System.out.println(
                        requests.listings() + " " + requests.heads() + " " + requests.gets() + " " + requests.others());
            }
        }
    }
}

package io.penstock.benchmarks;

import io.penstock.embeddeds3.SyntheticObjects;
import io.penstock.embeddeds3.SyntheticS3;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

/**
 * Serves synthetic buckets, in a separate JVM. Its first line of output is its address. For each line of input it
 * prints the requests so far: listings, HEADs, GETs and others. It exits at the end of its input.
 */
final class ListServer {
    private ListServer() {}

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

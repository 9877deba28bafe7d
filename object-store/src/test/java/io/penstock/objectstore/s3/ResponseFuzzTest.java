package io.penstock.objectstore.s3;

import static io.penstock.objectstore.s3.TestConfigs.at;
import static io.penstock.objectstore.s3.TestConfigs.config;
import static io.penstock.objectstore.s3.TestConfigs.readTimeout;
import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.RetryPolicy;
import io.penstock.objectstore.http.ResponseHead;
import io.penstock.objectstore.http.TlsEngine;
import io.penstock.objectstore.s3.S3Config.Server;
import io.penstock.testing.Seeded;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;

/**
 * Responses with one or more random changes. A response yields exactly the bytes that it carries, or an error, or
 * nothing. It never yields bytes of another response, and never takes more memory than a head may. The oracle finds the
 * body of a response by searching for the empty line, not with a parser.
 */
@Timeout(300)
final class ResponseFuzzTest {
    private static final int RESPONSES = Integer.getInteger("penstock.responses", 1_500);

    /** A handshake takes about as long as ten exchanges. */
    private static final int RESPONSES_OVER_TLS = Math.ceilDiv(RESPONSES, 6);

    private static final int LONGEST_BODY = 40_000;
    private static final int ENDLESS = 16 << 20;

    /** Heap for one exchange: the head as bytes, text and map, and a handshake. */
    private static final long MOST_MEMORY = 4 << 20;

    private static final String ODD_CHARACTERS = "\r\n\r\n::  \t\0\"-/,;059\u007f\u00e4";
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private final AtomicLong nanoTime = new AtomicLong();
    private boolean warm;

    @Test
    void responses_mutated_giveTheirOwnBytesOrNone() throws Exception {
        try (ScriptedServer server = new ScriptedServer()) {
            int taken = run(server, at(server.uri("")), RESPONSES);
            assertThat(taken).as("responses that were taken").isPositive();
        }
    }

    @ParameterizedTest
    @EnumSource
    void responses_mutatedUnderTls_giveTheirOwnBytesOrNone(TlsEngine engine, @TempDir Path folder) throws Exception {
        TestCertificate certificate = new TestCertificate(folder, "ip:127.0.0.1");
        try (ScriptedServer server = new ScriptedServer(certificate)) {
            int taken = run(server, at(server.uri(""), certificate.pem(), engine), RESPONSES_OVER_TLS);
            assertThat(taken).as("responses that were taken").isPositive();
        }
    }

    /** @return the number of accepted responses */
    private int run(ScriptedServer server, Server reached, int responses) throws Exception {
        S3Config config = config("bucket", reached, readTimeout(Duration.ofMillis(300)), RetryPolicy.DEFAULT);
        var signer = StaticCredentialsProvider.create(AwsBasicCredentials.create("id", "secret"));
        AtomicInteger taken = new AtomicInteger();
        try (DirectRequests direct = new DirectRequests(
                config,
                server.uri("/bucket/"),
                "us-east-1",
                signer,
                TrustedCertificates.context(config.server()),
                new RequestCounters(),
                nanoTime::get)) {
            get(Seeded.random(0), false, server, direct);
            Seeded.check(responses, random -> {
                boolean reads = random.nextInt(4) > 0;
                taken.addAndGet(reads ? getTwice(random, server, direct) : put(random, server, direct));
            });
        }
        return taken.get();
    }

    /** A mutated response and then an intact one, perhaps over the same connection. */
    private int getTwice(RandomGenerator random, ScriptedServer server, DirectRequests direct) throws Exception {
        return get(random, true, server, direct) + get(random, false, server, direct);
    }

    private int get(RandomGenerator random, boolean mutates, ScriptedServer server, DirectRequests direct)
            throws Exception {
        String body = body(random);
        String etag = etag(random);
        ByteRange range = new ByteRange(random.nextInt(1000), body.length());
        long size = range.end() + 1 + random.nextInt(1000);
        String intact = "HTTP/1.1 206 Partial Content\r\nServer: x\r\nETag: " + etag + "\r\nContent-Length: "
                + body.length() + "\r\nContent-Range: bytes " + range.offset() + "-" + (range.end() - 1) + "/" + size
                + "\r\nDate: Mon, 23 Nov 2026 09:00:00 GMT\r\n\r\n" + body;
        String response = mutates ? mutate(intact, random) : intact;
        String carried = carried(response, body.length());
        say(response, carried == null || random.nextInt(4) == 0, server);
        String received = measured(() -> receive(direct, new ObjectVersion("key", etag, size, Instant.EPOCH), range));
        server.forgetAnswers();
        if (received == null) {
            return 0;
        }
        assertThat(received).as("bytes of this response").isEqualTo(carried);
        return 1;
    }

    private int put(RandomGenerator random, ScriptedServer server, DirectRequests direct) throws Exception {
        String response = "HTTP/1.1 200 OK\r\nServer: x\r\nETag: " + etag(random) + "\r\nContent-Length: 0\r\n\r\n";
        String mutated = mutate(response, random);
        String tag = tagOf(mutated);
        byte[] body = body(random).getBytes(ISO_8859_1);
        say(mutated, true, server);
        ResponseHead head = measured(() -> direct.put(
                new RetryState(),
                "key",
                Map.of(),
                Map.of(),
                (offset, target) -> target.put(body, (int) offset, target.remaining()),
                body.length));
        server.forgetAnswers();
        if (head == null) {
            return 0;
        }
        assertThat(head.status()).isEqualTo(200);
        assertThat(head.header("ETag")).as("entity tag of this response").isEqualTo(tag);
        return 1;
    }

    private void say(String response, boolean hangsUp, ScriptedServer server) {
        nanoTime.addAndGet(Duration.ofSeconds(11).toNanos()); // the effect of the last failure is over
        if (hangsUp) {
            server.answersAndHangsUp(response);
        } else {
            server.answers(response);
        }
    }

    /** The bytes; null for an error, or if they are left to the SDK. */
    private static @Nullable String receive(DirectRequests direct, ObjectVersion version, ByteRange range)
            throws InterruptedException {
        ObjectBody body = direct.get(version, range, false);
        if (body == null) {
            return null;
        }
        ByteBuffer target = ByteBuffer.allocate(LONGEST_BODY);
        try {
            while (target.position() < range.length()) {
                if (body.read(target, (int) range.length() - target.position()) < 0) {
                    return null;
                }
            }
            return body.finish() ? new String(target.array(), 0, target.position(), ISO_8859_1) : null;
        } catch (IOException _) {
            return null;
        } finally {
            body.abort();
        }
    }

    private <T> @Nullable T measured(Exchange<T> exchange) throws InterruptedException {
        long before = THREADS.getCurrentThreadAllocatedBytes();
        T result = exchange.make();
        if (warm) {
            assertThat(THREADS.getCurrentThreadAllocatedBytes() - before)
                    .as("allocated bytes")
                    .isLessThan(MOST_MEMORY);
        }
        warm = true; // class loading takes memory too
        return result;
    }

    private interface Exchange<T> {
        @Nullable
        T make() throws InterruptedException;
    }

    /** This many bytes after the final head; null if there are fewer. */
    private static @Nullable String carried(String response, int length) {
        int start = endOfFinalHead(response);
        return start < 0 || response.length() - start < length ? null : response.substring(start, start + length);
    }

    /** The only entity tag of the final head; null if there is none or more than one. */
    private static @Nullable String tagOf(String response) {
        int end = endOfFinalHead(response);
        if (end < 0) {
            return null;
        }
        String before = response.substring(0, end - 4);
        String head = before.substring(before.lastIndexOf("\r\n\r\n") + 1);
        List<String> tags = head.lines()
                .filter(line -> line.toLowerCase(Locale.ROOT).startsWith("etag:"))
                .map(line -> line.substring("etag:".length()).strip())
                .toList();
        return tags.size() == 1 ? tags.getFirst() : null;
    }

    private static int endOfFinalHead(String response) {
        int start = 0;
        int end = response.indexOf("\r\n\r\n");
        while (end >= 0 && response.substring(start, end).matches("(?s)HTTP/1\\.[01] 1(?!01).*")) {
            start = end + 4;
            end = response.indexOf("\r\n\r\n", start);
        }
        return end < 0 ? -1 : end + 4;
    }

    private static String mutate(String response, RandomGenerator random) {
        String mutated = response;
        for (int left = random.nextInt(4); left > 0; left--) { // some stay unchanged
            mutated = mutateOnce(mutated, random);
        }
        return mutated;
    }

    private static String mutateOnce(String response, RandomGenerator random) {
        int end = Math.max(0, response.indexOf("\r\n\r\n"));
        int at = random.nextInt(end + 1);
        String odd = String.valueOf(ODD_CHARACTERS.charAt(random.nextInt(ODD_CHARACTERS.length())));
        String head = response.substring(0, end);
        String rest = response.substring(end);
        List<String> lines = new ArrayList<>(List.of(head.split("\r\n")));
        int line = random.nextInt(lines.size());
        switch (random.nextInt(16)) {
            case 0 -> head = head.substring(0, at) + odd + head.substring(Math.min(end, at + 1));
            case 1 -> head = head.substring(0, at) + head.substring(Math.min(end, at + 1));
            case 2 -> head = head.substring(0, at) + odd + head.substring(at);
            case 3 -> head = head.substring(0, at) + (char) random.nextInt(256) + head.substring(at);
            case 4 -> head = changed(lines, list -> list.add(random.nextInt(list.size() + 1), list.get(line)));
            case 5 -> head = changed(lines, list -> list.remove(line));
            case 6 -> head = changed(lines, list -> list.add(list.remove(line)));
            case 7 ->
                head = changed(lines, list -> list.set(line, list.get(line).toUpperCase(Locale.ROOT)));
            case 8 ->
                head = head.replaceFirst("(?<=[ -])[0-9]+(?=\r\n|/|-|$)", Integer.toString(random.nextInt(50_000)));
            case 9 -> head = head.replaceFirst(" [0-9]{3} ", " " + (100 + random.nextInt(500)) + " ");
            case 10 -> head += "\r\n" + pick(random, "Transfer-Encoding: chunked", "Connection: close", "ETag: \"z\"");
            case 11 -> head = "HTTP/1.1 100 Continue\r\n\r\n".repeat(1 + random.nextInt(10)) + head;
            case 12 -> head += "\r\nX-Long: " + "x".repeat(random.nextInt(20) == 0 ? ENDLESS : random.nextInt(40_000));
            case 13 -> rest += body(random);
            case 14 -> rest += "HTTP/1.1 206 Partial Content\r\nETag: \"z\"\r\nContent-Length: 9\r\n\r\nsmuggled!";
            default -> rest = rest.substring(0, random.nextInt(rest.length() + 1));
        }
        return head + rest;
    }

    private static String changed(List<String> lines, Consumer<List<String>> change) {
        change.accept(lines);
        return String.join("\r\n", lines);
    }

    private static String pick(RandomGenerator random, String... choices) {
        return choices[random.nextInt(choices.length)];
    }

    private static String etag(RandomGenerator random) {
        return "\"" + Long.toHexString(random.nextLong()) + "\"";
    }

    /** Half of the bodies fit the buffer of heads. */
    private static String body(RandomGenerator random) {
        byte[] bytes = new byte[1 + random.nextInt(random.nextBoolean() ? 1000 : LONGEST_BODY)];
        random.nextBytes(bytes);
        return new String(bytes, ISO_8859_1);
    }
}

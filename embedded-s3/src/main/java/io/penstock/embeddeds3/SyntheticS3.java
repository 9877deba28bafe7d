package io.penstock.embeddeds3;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Duration;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.LongAdder;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * An S3 server in this process whose buckets contain {@link SyntheticObjects}: nothing is stored, so there can be very
 * many objects. Path style, on a free port of the loopback interface; it ignores signatures and accepts no writes.
 * Thread-safe.
 *
 * <p>It supports ListObjectsV2, HeadBucket, HeadObject and GetObject, with one range and If-Match.
 */
public final class SyntheticS3 implements AutoCloseable {
    private static final String REGION = "us-east-1";
    private static final Pattern RANGE = Pattern.compile("bytes=([0-9]{0,18})-([0-9]{0,18})");

    /** The JDK's format omits the leading zero of a day (RFC 9110, 5.6.7). */
    private static final DateTimeFormatter HTTP_DATE = DateTimeFormatter.ofPattern(
                    "EEE, dd MMM yyyy HH:mm:ss 'GMT'", Locale.US)
            .withZone(ZoneOffset.UTC);

    /** {@code x-id} names the operation in requests of SDKs. */
    private static final Set<String> PARAMETERS_OF_OBJECTS = Set.of("x-id");

    private static final int NOTHING = -1;

    private final Map<String, SyntheticObjects> buckets;
    private final Duration listLatency;
    private final HttpServer server;
    private final ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor();
    private final LongAdder listings = new LongAdder();
    private final LongAdder heads = new LongAdder();
    private final LongAdder gets = new LongAdder();
    private final LongAdder others = new LongAdder();

    static {
        // Otherwise the end of a response would wait up to 40 ms for the acknowledgement of the bytes before it.
        if (System.getProperty("sun.net.httpserver.nodelay") == null) {
            System.setProperty("sun.net.httpserver.nodelay", "true");
        }
    }

    /**
     * Requests since the start.
     *
     * @param others refused requests of any kind
     */
    public record Requests(long listings, long heads, long gets, long others) {
        public long total() {
            return listings + heads + gets + others;
        }
    }

    /**
     * Starts the server.
     *
     * @param buckets by name
     * @param listLatency minimum time of each page of a listing
     */
    public SyntheticS3(Map<String, SyntheticObjects> buckets, Duration listLatency) throws IOException {
        this.buckets = Map.copyOf(buckets);
        this.listLatency = listLatency;
        this.server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", this::answer);
        server.setExecutor(executor);
        server.start();
    }

    /** The address on which the server listens. */
    public URI endpoint() {
        return URI.create("http://127.0.0.1:" + server.getAddress().getPort());
    }

    public Requests requests() {
        return new Requests(listings.sum(), heads.sum(), gets.sum(), others.sum());
    }

    /** Stops the server; requests in flight fail. */
    @Override
    public void close() {
        server.stop(0);
        executor.shutdownNow();
    }

    private void answer(HttpExchange exchange) throws IOException {
        try (exchange) {
            exchange.getResponseHeaders().set("x-amz-request-id", "1"); // shows that the response is not a proxy's
            try {
                answer(exchange, Query.of(exchange.getRequestURI()));
            } catch (Refusal refusal) {
                byte[] document = refusal.document(String.valueOf(exchange.getRequestURI()))
                        .getBytes(UTF_8);
                exchange.getResponseHeaders().set("Content-Type", "application/xml");
                send(exchange, refusal.status(), document);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt(); // the server is closed, and with it the connection
            }
        }
    }

    private void answer(HttpExchange exchange, Query query) throws Refusal, IOException, InterruptedException {
        String method = exchange.getRequestMethod();
        boolean isGet = method.equals("GET");
        boolean isHead = method.equals("HEAD");
        (isHead ? heads : !isGet ? others : query.key().isEmpty() ? listings : gets).increment();
        if (!isGet && !isHead) {
            throw new Refusal(403, "AccessDenied", "The objects of this server are synthetic: it accepts no writes.");
        }
        SyntheticObjects objects = buckets.get(query.bucket());
        if (query.bucket().isEmpty()) {
            throw Refusal.notImplemented("Buckets are not listed: there are " + buckets.keySet() + ".");
        } else if (objects == null) {
            throw new Refusal(404, "NoSuchBucket", "There is no such bucket, but " + buckets.keySet() + ".");
        } else if (!query.key().isEmpty()) {
            object(exchange, objects, query);
        } else if (isHead) {
            exchange.getResponseHeaders().set("x-amz-bucket-region", REGION);
            exchange.sendResponseHeaders(200, NOTHING);
        } else {
            list(exchange, new SyntheticListing(objects, query));
        }
    }

    private void list(HttpExchange exchange, SyntheticListing listing) throws IOException, InterruptedException {
        Thread.sleep(listLatency);
        exchange.getResponseHeaders().set("Content-Type", "application/xml");
        send(exchange, 200, listing.document());
    }

    private static void object(HttpExchange exchange, SyntheticObjects objects, Query query)
            throws Refusal, IOException {
        String unknown = query.other(PARAMETERS_OF_OBJECTS);
        if (unknown != null) {
            throw Refusal.notImplemented("Of an object that is made up there is no '" + unknown + "'.");
        }
        long number = objects.number(query.key());
        if (number < 0) {
            throw new Refusal(404, "NoSuchKey", "There is no such key.");
        }
        String wanted = exchange.getRequestHeaders().getFirst("If-Match");
        if (wanted != null && !wanted.equals("*") && !wanted.equals(objects.etag(number))) {
            throw new Refusal(
                    412, "PreconditionFailed", "The ETag is " + objects.etag(number) + ", not " + wanted + ".");
        }
        int size = objects.size(number);
        Part part = part(exchange.getRequestHeaders().getFirst("Range"), size);
        var headers = exchange.getResponseHeaders();
        headers.set("ETag", objects.etag(number));
        headers.set("Last-Modified", HTTP_DATE.format(objects.lastModified(number)));
        headers.set("Content-Type", "image/jpeg");
        headers.set("Accept-Ranges", "bytes");
        if (part != null) {
            headers.set("Content-Range", "bytes " + part.from() + '-' + (part.from() + part.length() - 1) + '/' + size);
        }
        int from = part == null ? 0 : part.from();
        int length = part == null ? size : part.length();
        if (exchange.getRequestMethod().equals("HEAD")) {
            headers.set("Content-Length", Integer.toString(length));
            exchange.sendResponseHeaders(part == null ? 200 : 206, NOTHING);
        } else {
            send(exchange, part == null ? 200 : 206, objects.content(number, from, length));
        }
    }

    /** @param length 1 or more */
    private record Part(int from, int length) {}

    /** The requested part; null for the whole object, and also if the header is not a single range. */
    private static @Nullable Part part(@Nullable String range, int size) throws Refusal {
        Matcher bounds = RANGE.matcher(range == null ? "" : range);
        if (!bounds.matches() || bounds.group().equals("bytes=-")) {
            return null;
        }
        String first = bounds.group(1);
        String last = bounds.group(2);
        long from = first.isEmpty() ? Math.max(0, size - Long.parseLong(last)) : Long.parseLong(first);
        long to = first.isEmpty() || last.isEmpty() ? size - 1 : Math.min(size - 1, Long.parseLong(last));
        if (from >= size || (first.isEmpty() && Long.parseLong(last) == 0)) {
            throw new Refusal(416, "InvalidRange", "The object has " + size + " bytes: there is no " + range + ".");
        }
        return to < from ? null : new Part((int) from, (int) (to - from + 1));
    }

    /** @param pieces of the body, which is not empty */
    private static void send(HttpExchange exchange, int status, byte[]... pieces) throws IOException {
        if (exchange.getRequestMethod().equals("HEAD")) {
            exchange.sendResponseHeaders(status, NOTHING);
            return;
        }
        long length = 0;
        for (byte[] piece : pieces) {
            length += piece.length;
        }
        exchange.sendResponseHeaders(status, length);
        try (OutputStream body = exchange.getResponseBody()) {
            for (byte[] piece : pieces) {
                body.write(piece);
            }
        }
    }
}

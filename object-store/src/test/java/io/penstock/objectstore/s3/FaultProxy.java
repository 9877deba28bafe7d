package io.penstock.objectstore.s3;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.URI;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A TCP proxy in front of an HTTP server that breaks responses at a given point. Faults count bytes of responses,
 * headers included, over all connections from the moment they are set.
 */
public final class FaultProxy implements AutoCloseable {
    private static final int BUFFER = 16 << 10;
    private static final Pattern HEAD = Pattern.compile("(GET|HEAD|PUT|POST|DELETE) \\S+ HTTP/1.1\r\n");

    /** How a response breaks. */
    public enum Break {
        /** The connection is reset. */
        RESET,
        /** The connection ends cleanly, with bytes missing. */
        END,
        /** No more bytes come, but the connection stays open. */
        STALL
    }

    private final ServerSocket listener;
    private final String scheme;
    private final URI server;
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();

    // Guarded by this.
    private Breaker ofAnswers = new Breaker(0, 0, Break.RESET);
    private Breaker ofRequests = new Breaker(0, 0, Break.RESET);
    private int answersLeft;
    private String answer = "";
    private int requests;
    private Predicate<String> refused = _ -> false;
    private int refusals;
    private CountDownLatch struck = new CountDownLatch(0);

    public FaultProxy(URI server) throws IOException {
        this(server, new ServerSocket(0, 50, InetAddress.getLoopbackAddress()), "http");
    }

    /** A proxy whose clients use TLS. Faults count bytes before encryption. */
    FaultProxy(URI server, TestCertificate certificate) throws IOException {
        this(server, certificate.listen(), "https");
    }

    private FaultProxy(URI server, ServerSocket listener, String scheme) {
        this.server = server;
        this.listener = listener;
        this.scheme = scheme;
        start(this::accept);
    }

    /** The address on which it listens. */
    public URI endpoint() {
        return URI.create(scheme + "://127.0.0.1:" + listener.getLocalPort());
    }

    /** The next {@code times} responses break, each after this many more bytes. */
    public synchronized void breakAfter(long bytes, int times, Break how) {
        ofAnswers = new Breaker(bytes, times, how);
        struck = new CountDownLatch(1);
    }

    /** The same for requests. */
    public synchronized void breakRequestsAfter(long bytes, int times, Break how) {
        ofRequests = new Breaker(bytes, times, how);
        struck = new CountDownLatch(1);
    }

    /** The proxy itself responds to the next {@code times} requests with this status and an error in S3's form. */
    public void answer(int times, int status, String code) {
        String body = "<Error><Code>" + code + "</Code><Message>said the proxy</Message></Error>";
        answer(times, status, "application/xml\r\nx-amz-request-id: 1", body);
    }

    /** The same with a page that no S3 server sends. */
    public void answerPage(int times, int status, String page) {
        answer(times, status, "text/plain; charset=utf-8", page);
    }

    private synchronized void answer(int times, int status, String type, String body) {
        answersLeft = times;
        answer = "HTTP/1.1 " + status
                + " Fault\r\nContent-Type: " + type + "\r\nConnection: close\r\nContent-Length: " + body.length()
                + "\r\n\r\n" + body;
    }

    /**
     * Refuses all later requests whose head matches, like a store that does not implement them.
     *
     * @param which gets the head in lower case
     */
    public synchronized void refuse(Predicate<String> which, int status, String code) {
        answer(0, status, code);
        refused = which;
        refusals = 0;
    }

    /** The number of refused requests. */
    public synchronized int refusals() {
        return refusals;
    }

    /** Waits until something has broken. */
    public void awaitBreak() throws InterruptedException {
        CountDownLatch latch;
        synchronized (this) {
            latch = struck;
        }
        latch.await();
    }

    /** The number of requests since the last call. */
    public synchronized int takeRequests() {
        int taken = requests;
        requests = 0;
        return taken;
    }

    /** Resets every connection. */
    public void resetAll() throws IOException {
        for (Socket socket : sockets) {
            try (socket) {
                socket.setSoLinger(true, 0);
            } catch (SocketException e) {
                assert socket.isClosed() : e; // closed by the thread that serves it
            }
        }
        sockets.clear();
    }

    @Override
    public void close() throws IOException {
        listener.close();
        for (Socket socket : sockets) {
            socket.close();
        }
        threads.shutdownNow();
        threads.close();
    }

    private void start(Task task) {
        threads.execute(() -> {
            try {
                task.run();
            } catch (IOException | InterruptedException _) {
                // One of the two sides closed its connection, or the test is over.
            }
        });
    }

    private void accept() throws IOException {
        while (true) {
            Socket client = listener.accept();
            Socket upstream = new Socket(server.getHost(), server.getPort());
            client.setTcpNoDelay(true);
            upstream.setTcpNoDelay(true);
            sockets.add(client);
            sockets.add(upstream);
            start(() -> forwardRequests(client, upstream));
            start(() -> forwardAnswers(upstream, client));
        }
    }

    /**
     * A request's head fits one read, because it is sent at once. The client's side is closed first: the server
     * responds to half a body as soon as its side ends, and the client of a broken connection must not receive that.
     */
    private void forwardRequests(Socket client, Socket upstream) throws IOException, InterruptedException {
        try (upstream;
                client) {
            InputStream in = client.getInputStream();
            OutputStream out = upstream.getOutputStream();
            byte[] buffer = new byte[BUFFER];
            for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
                String own = ownAnswer(new String(buffer, 0, n, ISO_8859_1));
                if (own != null) {
                    client.getOutputStream().write(own.getBytes(US_ASCII));
                    client.shutdownOutput();
                    while (in.read(buffer) >= 0) {
                        // a reset would discard the response for a client that is still sending
                    }
                    return;
                }
                if (breaks(client, out, buffer, n, true)) {
                    return;
                }
            }
        }
    }

    private void forwardAnswers(Socket upstream, Socket client) throws IOException, InterruptedException {
        InputStream in = upstream.getInputStream();
        OutputStream out = client.getOutputStream();
        byte[] buffer = new byte[BUFFER];
        for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
            if (breaks(client, out, buffer, n, false)) {
                break;
            }
        }
        client.close();
        upstream.close();
    }

    /** Forwards the bytes before the next fault. */
    private boolean breaks(Socket client, OutputStream out, byte[] buffer, int n, boolean request)
            throws IOException, InterruptedException {
        int allowed;
        Break how = null;
        synchronized (this) {
            Breaker breaker = request ? ofRequests : ofAnswers;
            allowed = breaker.allowed(n);
            if (allowed < n) {
                how = breaker.strike();
                struck.countDown();
            }
        }
        out.write(buffer, 0, allowed);
        if (how == Break.STALL) {
            Thread.sleep(Long.MAX_VALUE);
        } else if (how != null) {
            client.setSoLinger(how == Break.RESET, 0);
        }
        return how != null;
    }

    private synchronized @Nullable String ownAnswer(String received) {
        requests++;
        if (HEAD.matcher(received).lookingAt() && refused.test(received.toLowerCase(Locale.ROOT))) {
            refusals++;
            return answer;
        }
        return answersLeft-- > 0 ? answer : null;
    }

    /** Counts one direction's bytes up to a fault. Guarded by the proxy. */
    private static final class Breaker {
        private final long every;
        private final Break how;
        private int left;
        private long until;

        Breaker(long every, int times, Break how) {
            this.every = every;
            this.how = how;
            this.left = times;
            this.until = every;
        }

        int allowed(int n) {
            if (left == 0) {
                return n;
            }
            int allowed = (int) Math.min(n, until);
            until -= allowed;
            return allowed;
        }

        Break strike() {
            until = every;
            left--;
            return how;
        }
    }

    private interface Task {
        void run() throws IOException, InterruptedException;
    }
}

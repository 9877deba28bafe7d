package io.penstock.it;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A proxy between a mount and its server that makes the network and the server misbehave request by request. It records
 * the requests, slows uploads down, responds in place of the server, cuts connections and drops responses. It needs no
 * program other than the server. Safe for use by any number of threads.
 */
final class S3Front implements AutoCloseable {
    private static final String END_OF_HEADERS = "\r\n\r\n";
    private static final int BUFFER = 16 << 10;

    private final S3Server server;
    private final ServerSocket listener = new ServerSocket(0, 128, InetAddress.getLoopbackAddress());
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
    private final Queue<Request> requests = new ConcurrentLinkedQueue<>();
    private final LongAdder sentByServer = new LongAdder();
    private volatile Function<Request, Treatment> rule = request -> Treatment.PASS;

    // Guarded by this.
    private long bytesPerSecond;
    private long freeAt;

    S3Front(S3Server server) throws IOException {
        this.server = server;
        threads.execute(this::accept);
    }

    /** How a request is handled. */
    sealed interface Treatment {
        Treatment PASS = new Pass();

        /** The server executes the request, but its response is lost: the connection ends instead. */
        Treatment LOSE_ANSWER = new LoseAnswer();

        /** The connection ends in the middle of the body. */
        Treatment CUT = new Cut();

        /** The request does not reach the server, and is never answered. */
        Treatment KEEP_SILENT = new KeepSilent();

        /** An error in S3's form; the request does not reach the server. */
        static Treatment answer(int status, String code) {
            return new Answer(status, code);
        }

        record Pass() implements Treatment {}

        record LoseAnswer() implements Treatment {}

        record Cut() implements Treatment {}

        record KeepSilent() implements Treatment {}

        record Answer(int status, String code) implements Treatment {}
    }

    /** @param target path and query */
    record Request(String method, String target, long length) {
        boolean isUpload() {
            return method.equals("PUT") && length > 0;
        }

        /** Whether it reads an object or a part of it, and is not a listing. */
        boolean isRead() {
            return method.equals("GET") && !target.contains("?");
        }

        boolean isPart() {
            return method.equals("PUT") && target.contains("partNumber=");
        }

        boolean isComplete() {
            return method.equals("POST") && target.contains("uploadId=");
        }

        /** Whether it is a request for the object of this key, or for a part of it. */
        boolean isOf(String bucket, String key) {
            String path = "/" + bucket + "/" + key;
            return target.equals(path) || target.startsWith(path + "?");
        }

        Optional<String> uploadId() {
            return parameter("uploadId");
        }

        Optional<String> partNumber() {
            return parameter("partNumber");
        }

        private Optional<String> parameter(String name) {
            for (String parameter : target.substring(target.indexOf('?') + 1).split("&", -1)) {
                if (parameter.startsWith(name + "=")) {
                    return Optional.of(parameter.substring(name.length() + 1));
                }
            }
            return Optional.empty();
        }
    }

    /** The same server, behind this proxy. */
    S3Server fronted() {
        URI here = URI.create("http://127.0.0.1:" + listener.getLocalPort());
        return new S3Server(server.name(), here, server.accessKey(), server.secretKey());
    }

    /** Called for each request once its head has arrived. */
    void treat(Function<Request, Treatment> how) {
        rule = how;
    }

    void passAll() {
        rule = request -> Treatment.PASS;
    }

    /** From now on all requests together send no more than this; 0 means no limit. */
    synchronized void limit(long bytesPerSecondSent) {
        bytesPerSecond = bytesPerSecondSent;
        freeAt = System.nanoTime();
    }

    /** The requests since the last call, passed on or not. */
    List<Request> drainRequests() {
        List<Request> drained = new ArrayList<>();
        for (Request next = requests.poll(); next != null; next = requests.poll()) {
            drained.add(next);
        }
        return drained;
    }

    /** The bytes of the server's responses since the last call, including their heads. */
    long drainBytes() {
        return sentByServer.sumThenReset();
    }

    /**
     * Waits until the server has responded to all requests of clients that have ended: a running request may still take
     * effect. MinIO lists a key that is being created or deleted as a folder for some milliseconds.
     */
    void awaitEndOfConnections() throws InterruptedException {
        while (!sockets.isEmpty()) {
            Thread.sleep(1);
        }
    }

    private void accept() {
        while (true) {
            try {
                Socket client = listener.accept();
                Socket upstream = new Socket(
                        server.endpoint().getHost(), server.endpoint().getPort());
                new Connection(client, upstream).start();
            } catch (IOException closed) {
                return;
            }
        }
    }

    private void pace(int bytes) {
        long wait;
        synchronized (this) {
            if (bytesPerSecond == 0) {
                return;
            }
            long now = System.nanoTime();
            freeAt = Math.max(freeAt, now) + bytes * 1_000_000_000L / bytesPerSecond;
            wait = freeAt - now;
        }
        LockSupport.parkNanos(wait);
    }

    @Override
    public void close() throws IOException {
        listener.close();
        for (Socket socket : sockets) {
            socket.close();
        }
        threads.shutdownNow();
    }

    /** The connection of one client. The end of either side ends the other. */
    private final class Connection {
        private final Socket client;
        private final Socket upstream;
        private volatile boolean losing;

        /** Whether the server has a request to which it has not begun to respond. Guarded by this. */
        private boolean owed;

        Connection(Socket client, Socket upstream) throws IOException {
            this.client = client;
            this.upstream = upstream;
            client.setTcpNoDelay(true);
            upstream.setTcpNoDelay(true);
        }

        void start() {
            sockets.add(client);
            sockets.add(upstream);
            threads.execute(() -> run(this::forwardRequests));
            threads.execute(() -> run(this::forwardAnswers));
        }

        private interface Forwarding {
            void run() throws IOException;
        }

        /** Ends the client's side first, so that the client does not receive the server's response to half a body. */
        private void run(Forwarding forwarding) {
            try (upstream;
                    client) {
                forwarding.run();
            } catch (IOException closed) {
                // One of the sides closed its connection, or the test is over.
            } finally {
                setOwed(false);
                sockets.remove(client);
                sockets.remove(upstream);
            }
        }

        private void forwardRequests() throws IOException {
            InputStream in = new BufferedInputStream(client.getInputStream(), BUFFER);
            OutputStream out = upstream.getOutputStream();
            for (String head = readHead(in); head != null; head = readHead(in)) {
                Request request = parse(head);
                requests.add(request);
                long length = request.length();
                switch (rule.apply(request)) {
                    case Treatment.Pass() -> {}
                    case Treatment.LoseAnswer() -> losing = true;
                    case Treatment.Cut() -> length /= 2;
                    case Treatment.KeepSilent() -> {
                        in.transferTo(OutputStream.nullOutputStream()); // until the client gives up
                        return;
                    }
                    case Treatment.Answer answer -> {
                        if (!head.toLowerCase(Locale.ROOT).contains("\r\nexpect: 100-continue")) {
                            forward(in, OutputStream.nullOutputStream(), length); // it would not read it earlier
                        }
                        client.getOutputStream().write(print(answer));
                        return;
                    }
                }
                setOwed(true);
                out.write(head.getBytes(ISO_8859_1));
                forward(in, out, length);
                if (length < request.length()) {
                    return;
                }
            }
            awaitAnswer();
        }

        private synchronized void setOwed(boolean now) {
            owed = now;
            notifyAll();
        }

        private synchronized void awaitAnswer() throws IOException {
            try {
                while (owed) {
                    wait();
                }
            } catch (InterruptedException e) {
                throw new InterruptedIOException("the test is over");
            }
        }

        private void forward(InputStream in, OutputStream out, long length) throws IOException {
            byte[] buffer = new byte[BUFFER];
            for (long left = length; left > 0; ) {
                int read = in.read(buffer, 0, (int) Math.min(buffer.length, left));
                if (read < 0) {
                    throw new IOException("ended in a body");
                }
                pace(read);
                out.write(buffer, 0, read);
                left -= read;
            }
        }

        private void forwardAnswers() throws IOException {
            InputStream in = upstream.getInputStream();
            OutputStream out = client.getOutputStream();
            byte[] buffer = new byte[BUFFER];
            for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
                if (!isContinue(buffer, read)) {
                    setOwed(false);
                    if (losing) {
                        return;
                    }
                }
                out.write(buffer, 0, read);
                sentByServer.add(read);
            }
        }

        /** Only invites the client to send the body. */
        private static boolean isContinue(byte[] buffer, int read) {
            return new String(buffer, 0, read, ISO_8859_1).startsWith("HTTP/1.1 100");
        }
    }

    private static byte[] print(Treatment.Answer answer) {
        String body = "<?xml version=\"1.0\"?><Error><Code>%s</Code><Message>said the front</Message></Error>"
                .formatted(answer.code());
        return ("HTTP/1.1 %d Fault\r\nContent-Type: application/xml\r\nConnection: close\r\nContent-Length: %d"
                        + END_OF_HEADERS + "%s")
                .formatted(answer.status(), body.length(), body)
                .getBytes(ISO_8859_1);
    }

    /** Null at the connection's end, in whatever way the client ended it. */
    private static @Nullable String readHead(InputStream in) {
        ByteArrayOutputStream head = new ByteArrayOutputStream();
        int matched = 0;
        while (matched < END_OF_HEADERS.length()) {
            int next = readByte(in);
            if (next < 0) {
                return null;
            }
            head.write(next);
            matched = next == END_OF_HEADERS.charAt(matched) ? matched + 1 : next == '\r' ? 1 : 0;
        }
        return head.toString(ISO_8859_1);
    }

    private static int readByte(InputStream in) {
        try {
            return in.read();
        } catch (IOException reset) {
            return -1;
        }
    }

    private static Request parse(String head) {
        List<String> lines = head.lines().toList();
        String[] first = lines.getFirst().split(" ", -1);
        long length = 0;
        for (String line : lines) {
            String header = line.toLowerCase(Locale.ROOT);
            if (header.startsWith("content-length:")) {
                length = Long.parseLong(
                        header.substring("content-length:".length()).strip());
            } else if (header.startsWith("transfer-encoding:")) {
                throw new IllegalStateException("bodies of unknown length are not understood here: " + head);
            }
        }
        return new Request(first[0], first[1], length);
    }
}

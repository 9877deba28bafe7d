package io.penstock.objectstore.s3;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;

/** Sends the next scripted response to the next request, on any connection, byte by byte. */
final class ScriptedServer implements AutoCloseable {
    /** Ends the connection instead of responding. */
    static final String HANG_UP = "";

    private final ServerSocket listener;
    private final String scheme;
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final Queue<Answer> answers = new ConcurrentLinkedQueue<>();
    private final Collection<List<String>> requests = new ConcurrentLinkedQueue<>();
    private final Collection<Socket> sockets = new ConcurrentLinkedQueue<>();
    private final Semaphore hangUps = new Semaphore(0);
    private final AtomicInteger connections = new AtomicInteger();

    ScriptedServer() throws IOException {
        this("127.0.0.1", 0);
    }

    /** @param port 0 for any */
    ScriptedServer(String address, int port) throws IOException {
        this(new ServerSocket(port, 50, InetAddress.getByName(address)), "http");
    }

    /** A server that speaks TLS. */
    ScriptedServer(TestCertificate certificate) throws IOException {
        this(certificate.listen(), "https");
    }

    private ScriptedServer(ServerSocket listener, String scheme) {
        this.listener = listener;
        this.scheme = scheme;
        threads.execute(this::accept);
    }

    URI uri(String path) {
        return URI.create(scheme + "://127.0.0.1:" + listener.getLocalPort() + path);
    }

    void answers(String... next) {
        for (String text : next) {
            answers.add(new Answer(text, text.equals(HANG_UP) ? End.HANG_UP : End.GO_ON, false));
        }
    }

    /** The response is sent after a pause. */
    void answersAfter(Duration pause, String text) {
        answers.add(new Answer(text, End.GO_ON, false, pause));
    }

    /** The connection ends after the response. */
    void answersAndHangsUp(String text) {
        answers.add(new Answer(text, End.HANG_UP, false));
    }

    /** Nothing follows the response until the client closes the connection. */
    void answersAndStalls(String text) {
        answers.add(new Answer(text, End.STALL, false));
    }

    /** Responds as soon as a request's head is there; its body is never read, and the connection is reset. */
    void answersEarly(String text) {
        answers.add(new Answer(text, End.HANG_UP, true));
    }

    /** Waits until this many more connections have ended. */
    void awaitHangUps(int count) throws InterruptedException {
        hangUps.acquire(count);
    }

    /** Drops the responses that have not been sent. */
    void forgetAnswers() {
        answers.clear();
    }

    private enum End {
        GO_ON,
        HANG_UP,
        STALL
    }

    private record Answer(String text, End end, boolean early, Duration after) {
        Answer(String text, End end, boolean early) {
            this(text, end, early, Duration.ZERO);
        }
    }

    /** The lines of each request so far. */
    List<List<String>> requests() {
        return List.copyOf(requests);
    }

    int connections() {
        return connections.get();
    }

    @Override
    public void close() throws IOException {
        listener.close();
        for (Socket socket : sockets) {
            socket.close();
        }
        threads.close();
    }

    private void accept() {
        try {
            while (true) {
                Socket socket = listener.accept();
                socket.setTcpNoDelay(true);
                sockets.add(socket);
                connections.incrementAndGet();
                threads.execute(() -> serve(socket));
            }
        } catch (IOException | RejectedExecutionException _) {
            // The test is over.
        }
    }

    private void serve(Socket socket) {
        try {
            serveRequests(socket);
        } finally {
            hangUps.release();
        }
    }

    private void serveRequests(Socket socket) {
        try (socket) {
            BufferedReader in = new BufferedReader(new InputStreamReader(socket.getInputStream(), ISO_8859_1));
            while (true) {
                List<String> request = head(in);
                Answer answer = request.isEmpty() ? null : answers.poll();
                if (answer == null
                        || (!answer.early() && !readBody(in, request))
                        || (answer.text().isEmpty() && answer.end() == End.HANG_UP)) {
                    return;
                }
                requests.add(request);
                Thread.sleep(answer.after());
                socket.getOutputStream().write(answer.text().getBytes(ISO_8859_1));
                switch (answer.end()) {
                    case GO_ON -> {}
                    case HANG_UP -> {
                        return;
                    }
                    case STALL -> {
                        int _ = in.read();
                        return;
                    }
                }
            }
        } catch (IOException | InterruptedException _) {
            // The client has disconnected, or the test is over.
        }
    }

    /** The lines of a head; empty at the connection's end. */
    private static List<String> head(BufferedReader in) throws IOException {
        List<String> lines = new ArrayList<>();
        for (String line = in.readLine(); line != null && !line.isEmpty(); line = in.readLine()) {
            lines.add(line);
        }
        return lines;
    }

    /**
     * Adds a request's body, if it has one, as the last line.
     *
     * @return false if the connection ended first
     */
    private static boolean readBody(BufferedReader in, List<String> lines) throws IOException {
        int length = lines.stream()
                .filter(line -> line.startsWith("Content-Length: "))
                .mapToInt(line -> Integer.parseInt(line.substring("Content-Length: ".length())))
                .sum();
        char[] body = new char[length];
        for (int at = 0; at < length; ) {
            int n = in.read(body, at, length - at);
            if (n < 0) {
                return false;
            }
            at += n;
        }
        if (length > 0) {
            lines.add(new String(body));
        }
        return true;
    }
}

package io.penstock.objectstore;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;

/** Answers the next request, on whichever connection, with the next of the given answers, byte by byte as they are. */
final class ScriptedServer implements AutoCloseable {
    /** Ends the connection instead of answering. */
    static final String HANG_UP = "";

    private final ServerSocket listener;
    private final String scheme;
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final Queue<String> answers = new ConcurrentLinkedQueue<>();
    private final Collection<List<String>> requests = new ConcurrentLinkedQueue<>();
    private final Collection<Socket> sockets = new ConcurrentLinkedQueue<>();
    private final AtomicInteger connections = new AtomicInteger();

    ScriptedServer() throws IOException {
        this("127.0.0.1", 0);
    }

    /** @param port 0 for any */
    ScriptedServer(String address, int port) throws IOException {
        this(new ServerSocket(port, 50, InetAddress.getByName(address)), "http");
    }

    /** Speaks TLS. */
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
        answers.addAll(List.of(next));
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
                sockets.add(socket);
                connections.incrementAndGet();
                threads.execute(() -> serve(socket));
            }
        } catch (IOException | RejectedExecutionException _) {
            // The test is over.
        }
    }

    private void serve(Socket socket) {
        try (socket) {
            BufferedReader in = new BufferedReader(new InputStreamReader(socket.getInputStream(), ISO_8859_1));
            while (true) {
                List<String> request = request(in);
                String answer = request.isEmpty() ? null : answers.poll();
                if (answer == null || answer.equals(HANG_UP)) {
                    return;
                }
                requests.add(request);
                socket.getOutputStream().write(answer.getBytes(ISO_8859_1));
            }
        } catch (IOException _) {
            // The client went away.
        }
    }

    /** Empty at the connection's end. A body is the last line. */
    private static List<String> request(BufferedReader in) throws IOException {
        List<String> lines = new ArrayList<>();
        int bodyLength = 0;
        for (String line = in.readLine(); line != null && !line.isEmpty(); line = in.readLine()) {
            lines.add(line);
            if (line.startsWith("Content-Length: ")) {
                bodyLength = Integer.parseInt(line.substring("Content-Length: ".length()));
            }
        }
        char[] body = new char[bodyLength];
        for (int at = 0; at < bodyLength; ) {
            int n = in.read(body, at, bodyLength - at);
            if (n < 0) {
                return List.of();
            }
            at += n;
        }
        if (bodyLength > 0) {
            lines.add(new String(body));
        }
        return lines;
    }
}

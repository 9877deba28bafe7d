package io.penstock.it;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.LongAdder;

/**
 * A proxy between a mount and its server that records the requests, and counts the bytes that the server sends: a
 * mount's traffic, seen from outside. It understands only requests without a body; a reading mount sends no others.
 */
final class WireTap implements AutoCloseable {
    private static final String END_OF_HEADERS = "\r\n\r\n";

    private final S3Server server;
    private final ServerSocket listener;
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final List<String> requests = new CopyOnWriteArrayList<>();
    private final LongAdder sent = new LongAdder();

    WireTap(S3Server server) throws IOException {
        this(server, InetAddress.getLoopbackAddress());
    }

    /** @param address of this machine, where the mounts reach it */
    WireTap(S3Server server, InetAddress address) throws IOException {
        this.server = server;
        listener = new ServerSocket(0, 128, address);
        threads.execute(this::accept);
    }

    /** The same server, seen through the tap. */
    S3Server tapped() {
        URI here = URI.create("http://" + listener.getInetAddress().getHostAddress() + ":" + listener.getLocalPort());
        return new S3Server(server.name(), here, server.accessKey(), server.secretKey());
    }

    /** The GETs of objects (not of listings) since the last call. */
    List<String> drainObjectGets(String bucket) {
        List<String> gets = requests.stream()
                .filter(line -> line.startsWith("GET /" + bucket + "/") && !line.contains("list-type="))
                .toList();
        requests.clear();
        return gets;
    }

    /** The bytes of responses, including their heads, since the last call. */
    long drainSentBytes() {
        return sent.sumThenReset();
    }

    private void accept() {
        while (true) {
            try {
                Socket client = listener.accept();
                Socket upstream = new Socket(
                        server.endpoint().getHost(), server.endpoint().getPort());
                threads.execute(() -> pump(client, upstream, true));
                threads.execute(() -> pump(upstream, client, false));
            } catch (IOException closed) {
                return;
            }
        }
    }

    private void pump(Socket from, Socket to, boolean note) {
        try (from;
                to) {
            InputStream in = from.getInputStream();
            OutputStream out = to.getOutputStream();
            ByteArrayOutputStream header = new ByteArrayOutputStream();
            byte[] buffer = new byte[1 << 16];
            for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
                if (note) {
                    header.write(buffer, 0, n);
                    noteRequests(header);
                } else {
                    sent.add(n);
                }
                out.write(buffer, 0, n);
            }
        } catch (IOException closed) {
            // One side closed its connection: the other side is also closed.
        }
    }

    private void noteRequests(ByteArrayOutputStream header) {
        String text = header.toString(StandardCharsets.ISO_8859_1);
        int end = text.lastIndexOf(END_OF_HEADERS);
        if (end < 0) {
            return;
        }
        for (String request : text.substring(0, end).split(END_OF_HEADERS, -1)) {
            requests.add(request.lines().findFirst().orElse(""));
        }
        byte[] rest = text.substring(end + END_OF_HEADERS.length()).getBytes(StandardCharsets.ISO_8859_1);
        header.reset();
        header.writeBytes(rest);
    }

    @Override
    public void close() throws IOException {
        listener.close();
        threads.shutdownNow();
    }
}

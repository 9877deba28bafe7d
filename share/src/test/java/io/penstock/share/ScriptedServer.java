package io.penstock.share;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.US_ASCII;

import io.penstock.core.ByteRange;
import io.penstock.core.Crc32c;
import io.penstock.core.ObjectVersion;
import io.penstock.testing.TestData;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/** A node that answers requests as a test scripts them. */
final class ScriptedServer implements AutoCloseable {
    private final ServerSocket listening;
    private final Set<Socket> open = ConcurrentHashMap.newKeySet();
    final AtomicInteger requests = new AtomicInteger();
    volatile Script script;

    /** Answers a request. */
    @FunctionalInterface
    interface Script {
        /** The connection is closed after an exception. */
        void answer(PeerRequest request, OutputStream to) throws IOException;
    }

    ScriptedServer(Script script) throws IOException {
        this.script = script;
        listening = new ServerSocket(0, 50, InetAddress.ofLiteral("127.0.0.1"));
        Thread.ofVirtual().start(this::accept);
    }

    InetSocketAddress address() {
        return new InetSocketAddress(listening.getInetAddress(), listening.getLocalPort());
    }

    private void accept() {
        try {
            while (true) {
                Socket socket = listening.accept();
                open.add(socket);
                Thread.ofVirtual().start(() -> serve(socket));
            }
        } catch (IOException closed) {
            // closed by the test
        }
    }

    private void serve(Socket socket) {
        try (socket) {
            while (true) {
                ByteArrayOutputStream head = new ByteArrayOutputStream();
                while (!head.toString(ISO_8859_1).endsWith("\r\n\r\n")) {
                    int next = socket.getInputStream().read();
                    if (next < 0) {
                        return;
                    }
                    head.write(next);
                }
                requests.incrementAndGet();
                String target = head.toString(US_ASCII).split(" ", -1)[1];
                PeerRequest request = PeerRequest.parse(target.substring(target.indexOf('?') + 1));
                script.answer(request, socket.getOutputStream());
                socket.getOutputStream().flush();
            }
        } catch (IOException end) {
            // the script or the other side ended it
        } finally {
            open.remove(socket);
        }
    }

    int connections() {
        return open.size();
    }

    /** The response of a node that has no room. */
    static byte[] busy() {
        return "HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n".getBytes(US_ASCII);
    }

    /** The right response. */
    static byte[] right(PeerRequest request) {
        return response(request, request.version());
    }

    /** A response whose bytes have right checksums, of an object of this version. */
    static byte[] response(PeerRequest request, ObjectVersion version) {
        ByteRange range = request.range();
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        String head = "HTTP/1.1 206 Partial Content\r\nContent-Length: "
                + Chunks.bodyLength(range.offset(), range.end()) + "\r\nContent-Range: bytes " + range.offset() + "-"
                + (range.end() - 1) + "/" + version.size() + "\r\n" + PeerRequest.IDENTITY + ": "
                + PeerRequest.encode(version.identity()) + "\r\n\r\n";
        all.writeBytes(head.getBytes(US_ASCII));
        TestData data = TestData.of(version.key(), version.size());
        for (long at = range.offset(); at < range.end(); ) {
            int length = Chunks.length(at, range.end());
            byte[] bytes = data.bytes(at, length);
            all.writeBytes(bytes);
            all.writeBytes(ByteBuffer.allocate(4)
                    .putInt(Crc32c.of(ByteBuffer.wrap(bytes)))
                    .array());
            at += length;
        }
        return all.toByteArray();
    }

    @Override
    public void close() {
        try {
            listening.close();
            for (Socket socket : open) {
                socket.close();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
